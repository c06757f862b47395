// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What the file is, what was found in it, and what is missing from it.
import { byte_text, count_text, exactness_text, seconds_text } from "./bytes";
import type { audit_row, finding } from "./data";
import { element, foreign, panel } from "./dom";
import type { scene } from "./scene";

export class facts_panel {
  readonly #body: HTMLElement;

  constructor(parent: HTMLElement) {
    const { root, body } = panel("facts", "About this trace");
    this.#body = body;
    parent.append(root);
  }

  update({ run, device }: scene): void {
    const measured = device.curves[run.measure];
    const facts: [string, string][] = [
      ["file", run.file],
      ["device", String(device.device)],
      ["events", count_text(device.events)],
      [
        "span",
        device.span_seconds === null
          ? "no clock in the file"
          : seconds_text(device.span_seconds, 1e-3),
      ],
      ["measure", `${run.measure}, ${run.sizes} sizes, carried in: ${run.carried_in}`],
      ["peak", exactness_text(device.exactness)],
      ["max_memory_allocated", exactness_text(device.max_memory_allocated)],
      ["at the start", byte_text(measured.start_bytes)],
      ["at the end", byte_text(measured.end_bytes)],
      ["reserved peak", byte_text(device.curves.reserved.peak_bytes)],
    ];
    this.#body.replaceChildren(
      element(
        "dl",
        {},
        ...facts.flatMap(([key, value]) => [
          element("dt", {}, key),
          element("dd", {}, foreign(value)),
        ]),
      ),
      ...list("Findings", device.findings.map(finding_row)),
      ...list("Audit", [...run.audit, ...device.audit].map(audit_item)),
    );
  }
}

function finding_row({ text }: finding): HTMLElement {
  return element("li", {}, foreign(text));
}

function audit_item({ level, message, advice }: audit_row): HTMLElement {
  return element(
    "li",
    { class: `audit ${level === "error" ? "error" : ""}` },
    element("b", {}, foreign(level)),
    " ",
    foreign(message),
    ...(advice === "" ? [] : [" ", element("em", {}, foreign(advice))]),
  );
}

function list(title: string, rows: HTMLElement[]): HTMLElement[] {
  return rows.length === 0
    ? []
    : [element("div", {}, element("h3", {}, title), element("ul", {}, ...rows))];
}
