// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One box beside the pointer that says what lies under it.
import { element, foreign } from "./dom";

const box = element("div", { id: "tooltip", role: "tooltip", hidden: true });
document.body.append(box);

/** A heading, which is the snapshot's text, and lines of ours. */
export function show_tooltip(
  at: { clientX: number; clientY: number },
  heading: string,
  lines: string[],
  colour?: string,
): void {
  const head = element("strong", {}, foreign(heading));
  if (colour !== undefined) {
    const swatch = element("i", { class: "swatch" });
    swatch.style.background = colour;
    head.prepend(swatch);
  }
  box.replaceChildren(
    head,
    ...lines.filter((line) => line !== "").map((line) => element("div", {}, foreign(line))),
  );
  box.hidden = false;
  const margin = 14;
  const { width, height } = box.getBoundingClientRect();
  const left =
    at.clientX + margin + width > innerWidth ? at.clientX - margin - width : at.clientX + margin;
  const top =
    at.clientY + margin + height > innerHeight ? at.clientY - margin - height : at.clientY + margin;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hide_tooltip(): void {
  box.hidden = true;
}
