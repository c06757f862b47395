// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What was clicked: the numbers to the last digit, and the whole stack with links.
import { digits_text } from "./bytes";
import { frames_of, site_of } from "./data";
import { element, foreign, link_or_text, panel } from "./dom";
import { lifetime_facts } from "./lifetime_view";
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
        facts: [...lifetime_facts(scene, lifetime).facts,
          ["exactly", digits_text(lifetimes.bytes[lifetime])]],
      });
    } else if (site !== null && site < scene.run.sites.length) {
      this.show(scene, { site, stack: -1, facts: [] });
    } else {
      this.#note.textContent = "";
      this.#body.replaceChildren(element("p", { class: "hint" },
        "Click a shape, a row or a frame: its numbers and its whole stack come here. "
        + "Drag over a chart to zoom all of them, double-click to see the whole trace."));
    }
  }

  show(scene: scene, { site, stack, facts }: detail): void {
    const chosen = scene.run.sites[site];
    const swatch = element("i", { class: "swatch" });
    swatch.style.background = scene.colour(site);
    const name = chosen === undefined ? "unknown stack" : chosen.site;
    const head = element("p", { class: "site" }, swatch,
      link_or_text(name, chosen?.link ?? ""));
    if (chosen !== undefined && chosen.label !== "") head.append(" ", foreign(chosen.label));
    const list = element("dl", {}, ...facts.flatMap(([key, value]) =>
      [element("dt", {}, key), element("dd", {}, foreign(value))]));
    const frames = stack < 0 ? [] : frames_of(scene.run, stack);
    const rows = frames.map((frame) => element("li", {},
      foreign(frame.function), " ",
      link_or_text(frame.line > 0 ? `${frame.file}:${frame.line}` : frame.file, frame.link)));
    this.#note.textContent = frames.length === 0 ? "" : `${frames.length} frames, innermost first`;
    this.#body.replaceChildren(head, list, element("ol", { class: "stack" }, ...rows));
    this.#body.scrollTop = 0;
  }
}
