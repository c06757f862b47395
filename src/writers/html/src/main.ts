// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The page: data in, views out, one state between them.
import "uplot/dist/uPlot.min.css";
import "tabulator-tables/dist/css/tabulator_simple.min.css";
import "./style.css";
import { area_view } from "./area_view";
import { curve_view } from "./curve_view";
import { decode_page, measures } from "./data";
import { element } from "./dom";
import { facts_panel } from "./facts_panel";
import { flame_view } from "./flame_view";
import { help_dialog, listen_to_keys } from "./keyboard";
import { lifetime_view } from "./lifetime_view";
import type { theme } from "./palette";
import { models, scene } from "./scene";
import { segment_view } from "./segment_view";
import { site_table } from "./site_table";
import { stack_panel } from "./stack_panel";
import { from_hash, store, to_hash, type view_state } from "./state";
import { toolbar } from "./toolbar";

/** The hash follows the state, but not every frame: browsers slow down pages that do that. */
const hash_delay_ms = 200;

function initial_state(data: models): view_state {
  const { runs } = data.page;
  // The device with the most events, as everywhere in the program.
  const events = runs[0].device_numbers.map((_, index) => data.model(0, index).device.events);
  const device = events.indexOf(Math.max(...events));
  const shown = measures.filter(
    (name) => name === runs[0].measure || (name === "reserved" && runs.length === 1),
  );
  return {
    run: 0,
    device,
    axis: "event",
    delta: false,
    shown,
    window: null,
    event: null,
    query: "",
    site: null,
    lifetime: null,
    theme: null,
  };
}

function start(): void {
  const text = document.getElementById("page-data")!.textContent ?? "";
  const page = decode_page(text);
  const data = new models(page);
  const initial = initial_state(data);
  const limits = {
    runs: page.runs.length,
    devices: (run: number) => page.runs[run].device_numbers.length,
  };
  const the_store = new store(from_hash(location.hash, initial, limits));
  const is_dark = matchMedia("(prefers-color-scheme: dark)");
  const printing = { now: false };
  const theme_of = (state: view_state): theme =>
    printing.now ? "light" : (state.theme ?? (is_dark.matches ? "dark" : "light"));

  const head = element("header", { class: "page" });
  const left = element("div", { class: "column" });
  const right = element("div", { class: "column" });
  const below = element("div", { class: "below" });
  const foot = element("footer", {}, `${page.program} \u00b7 this page is complete in itself`);
  const screen = element(
    "div",
    { class: "screen" },
    head,
    element("main", { class: "columns" }, left, right),
  );
  document.body.prepend(screen, below, foot, help_dialog());

  const bar = new toolbar(head, data, the_store);
  const curves = new curve_view(left, data, the_store);
  const details = new stack_panel(right);
  // The bar comes first, since its lines decide how high the others are.
  const over_time = [
    bar,
    curves,
    new area_view(left, the_store),
    new lifetime_view(left, the_store),
  ];
  const of_moment = [
    new flame_view(right, the_store, details),
    new site_table(right, the_store),
    new segment_view(below, the_store, details),
    new facts_panel(below),
  ];

  let now: scene;
  // When the page opens, the charts over time are seen before the others are made.
  let is_opening = true;
  const show = (changed: Set<keyof view_state> | null) => {
    const state = the_store.state;
    const theme = theme_of(state);
    document.documentElement.dataset.theme = theme;
    now = new scene(state, data, theme);
    for (const view of over_time) view.update(now);
    if (is_opening) setTimeout(() => of_moment.forEach((view) => view.update(now)));
    else for (const view of of_moment) view.update(now);
    is_opening = false;
    const selection: (keyof view_state)[] = ["run", "device", "event", "site", "lifetime", "theme"];
    // A clicked frame or block stays until something else is chosen.
    if (changed === null || selection.some((key) => changed.has(key))) details.update(now);
  };
  let timer = 0;
  the_store.watch((state, changed) => {
    show(changed);
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const hash = to_hash(state, initial);
      if (location.hash.slice(1) !== hash) history.replaceState(null, "", `#${hash}`);
    }, hash_delay_ms);
  });
  addEventListener("hashchange", () => the_store.set(from_hash(location.hash, initial, limits)));
  is_dark.addEventListener("change", () => show(null));
  // The charts take the paper's width now: nothing runs while the browser lays out for print.
  const print = (now: boolean) => {
    printing.now = now;
    document.documentElement.classList.toggle("printing", now);
    show(null);
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  left.addEventListener("mousemove", (mouse) => {
    const event = curves.event_under(mouse);
    if (mouse.buttons === 0) curves.point_at(event);
  });
  left.addEventListener("mouseleave", () => curves.point_at(null));
  listen_to_keys(the_store, bar, () => now);
  show(null);
}

start();
