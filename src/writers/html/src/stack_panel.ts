// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What was clicked: the numbers to the last digit, and the whole stack with links.
import { byte_text, count_text, digits_text, many } from "./bytes";
import { frames_of, site_of } from "./data";
import { element, foreign, link_or_text, panel } from "./dom";
import { lifetime_facts } from "./lifetime_view";
import { live_set_at, nearest_moment } from "./live_set";
import type { scene } from "./scene";

export interface detail {
  site: number;
  /** -1: no stack is known. */
  stack: number;
  facts: [string, string][];
}

export class stack_panel {
  readonly #body: HTMLElement;
  readonly #note: HTMLElement;

  constructor(parent: HTMLElement) {
    const { root, body, note } = panel("selection", "Selection");
    body.setAttribute("tabindex", "0");
    this.#body = body;
    this.#note = note;
    parent.append(root);
  }

  update(scene: scene): void {
    const { lifetime, site } = scene.state;
    const { lifetimes } = scene.device;
    if (lifetime !== null && lifetime < lifetimes.birth.length) {
      const stack = lifetimes.stack[lifetime];
      this.show(scene, {
        site: site_of(scene.run, stack),
        stack,
        facts: [
          ...lifetime_facts(scene, lifetime).facts,
          ["exactly", digits_text(lifetimes.bytes[lifetime])],
        ],
      });
    } else if (site !== null && site < scene.run.sites.length) {
      this.show(scene, site_detail(scene, site));
    } else {
      this.#note.textContent = "";
      this.#body.replaceChildren(
        element(
          "p",
          { class: "hint" },
          "Click a shape, a row or a frame: its numbers and its whole stack come here. " +
            "Drag over a chart to zoom all of them, double-click to see the whole trace.",
        ),
      );
    }
  }

  show(scene: scene, { site, stack, facts }: detail): void {
    const chosen = scene.run.sites[site];
    const swatch = element("i", { class: "swatch" });
    swatch.style.background = scene.colour(site);
    const name = chosen === undefined ? "unknown stack" : chosen.site;
    const head = element("p", { class: "site" }, swatch, link_or_text(name, chosen?.link ?? ""));
    if (chosen !== undefined && chosen.label !== "") head.append(" ", foreign(chosen.label));
    const list = element(
      "dl",
      {},
      ...facts.flatMap(([key, value]) => [
        element("dt", {}, key),
        element("dd", {}, foreign(value)),
      ]),
    );
    const frames = stack < 0 ? [] : frames_of(scene.run, stack);
    const rows = frames.map((frame) => {
      const is_site = frame.file === chosen?.file && frame.line === chosen.line;
      const place = frame.line > 0 ? `${frame.file}:${frame.line}` : frame.file;
      const row = element("li", {}, foreign(frame.function), " ", link_or_text(place, frame.link));
      row.classList.toggle("blamed", is_site);
      return row;
    });
    this.#note.textContent =
      frames.length === 0 ? "" : `${many(frames.length, "frame")}, innermost first`;
    this.#body.replaceChildren(head, list, element("ol", { class: "stack" }, ...rows));
    this.#body.scrollTop = 0;
  }
}

/** What a site holds at the chosen moment, and its largest stack there. */
function site_detail(scene: scene, site: number): detail {
  const live = live_set_at(scene.device, nearest_moment(scene.device, scene.event));
  const rows = (live?.rows ?? [])
    .filter(({ stack }) => site_of(scene.run, stack) === site)
    .sort((a, b) => b.bytes - a.bytes);
  if (live === null || rows.length === 0) {
    return { site, stack: -1, facts: [["live", "nothing at this moment"]] };
  }
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const tensors = rows.reduce((sum, row) => sum + row.tensors, 0);
  const largest = rows.length === 1 ? [] : [["largest stack", byte_text(rows[0].bytes)]];
  return {
    site,
    stack: rows[0].stack,
    facts: [
      ["live", `${byte_text(bytes)} \u00b7 ${scene.moment_text(live.event)}`],
      ["exactly", digits_text(bytes)],
      ["tensors", count_text(tensors)],
      ["stacks", count_text(rows.length)],
      ...(largest as [string, string][]),
    ],
  };
}
