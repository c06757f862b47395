// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Keys for all that the pointer can do with the window and the switches.
import { measures } from "./data";
import type { scene } from "./scene";
import type { store } from "./state";
import { pan, zoom } from "./time_plot";
import { type toolbar, toggle_help } from "./toolbar";
import { element } from "./dom";

const keys: [string, string][] = [
  ["\u2190 \u2192", "move the window"],
  ["+ \u2212", "zoom in and out, also Ctrl and wheel"],
  ["n p", "next and previous peak"],
  [", .", "previous and next event"],
  ["e w", "event index, wall clock"],
  ["a d", "absolute, delta"],
  ["1 2 3", "allocated, active, reserved on or off"],
  ["/", "find a site; Esc leaves"],
  ["0", "reset: the whole trace, no search, no selection"],
  ["t", "dark or light"],
  ["?", "this list"],
];

export function help_dialog(): HTMLElement {
  const close = element("button", { type: "button" }, "Close");
  const dialog = element(
    "dialog",
    { id: "keys", "aria-label": "Keys" },
    element("h2", {}, "Keys"),
    element(
      "dl",
      {},
      ...keys.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)]),
    ),
    element(
      "p",
      {},
      "Drag over a chart zooms all charts; Shift and wheel moves the window; " +
        "a click chooses the moment of flame graph and table.",
    ),
    close,
  );
  close.onclick = () => dialog.close();
  return dialog;
}

export function listen_to_keys(store: store, bar: toolbar, scene: () => scene): void {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => pan(store, scene(), -0.2),
    ArrowRight: () => pan(store, scene(), 0.2),
    "+": () => zoom(store, scene(), 0.5, zoom_centre(scene())),
    "=": () => zoom(store, scene(), 0.5, zoom_centre(scene())),
    "-": () => zoom(store, scene(), 2, zoom_centre(scene())),
    n: () => next_peak(store, scene(), 1),
    p: () => next_peak(store, scene(), -1),
    ",": () => move_event(store, scene(), -1),
    ".": () => move_event(store, scene(), 1),
    e: () => store.set({ axis: "event" }),
    w: () => scene().device.seconds !== null && store.set({ axis: "time" }),
    a: () => store.set({ delta: false }),
    d: () => store.set({ delta: true }),
    "0": () => bar.reset(),
    t: () => bar.toggle_theme(),
    "?": () => toggle_help(),
    "/": () => bar.search.focus(),
  };
  measures.forEach((measure, index) => {
    actions[String(index + 1)] = () => bar.toggle_measure(measure);
  });
  document.addEventListener("keydown", (key) => {
    if (key.ctrlKey || key.metaKey || key.altKey) return;
    const { target } = key;
    if (target === bar.search) {
      if (key.key === "Escape") {
        store.set({ query: "" });
        bar.search.blur();
      }
      return;
    }
    if (target instanceof Element && target.matches("select, input, textarea")) return;
    const action = actions[key.key];
    if (action === undefined) return;
    key.preventDefault();
    action();
  });
}

/** The chosen moment where it can be seen, else the middle. */
function zoom_centre(scene: scene): number {
  const x = scene.axis.x_of(scene.event);
  return x >= scene.from && x <= scene.to ? x : (scene.from + scene.to) / 2;
}

function next_peak(store: store, scene: scene, way: 1 | -1): void {
  const events = scene.device.peaks.map(({ event }) => event).sort((a, b) => way * (a - b));
  const next = events.find((event) => way * (event - scene.event) > 0) ?? events[0];
  if (next !== undefined) choose_event(store, scene, next);
}

function move_event(store: store, scene: scene, way: 1 | -1): void {
  const last = Math.max(0, scene.device.events - 1);
  choose_event(store, scene, Math.max(0, Math.min(last, scene.event + way)));
}

/** The window follows the moment. */
function choose_event(store: store, scene: scene, event: number): void {
  const { window } = scene.state;
  const is_seen = window === null || (event >= window[0] && event <= window[1]);
  const half = window === null ? 0 : (window[1] - window[0]) / 2;
  store.set({
    event,
    window: is_seen
      ? window
      : [Math.max(0, event - half), Math.min(scene.device.events, event + half)],
  });
}
