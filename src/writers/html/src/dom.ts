// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Small helpers for elements. Text enters the page here, and only as text.

type child = Node | string;
type attributes = Record<string, string | boolean>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: attributes = {},
  ...children: child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Text of the snapshot: isolated, so that right-to-left letters turn nothing around them. */
export function foreign(text: string): HTMLElement {
  const made = element("bdi");
  made.textContent = visible(text);
  return made;
}

/** Letters that only steer others (direction, line ends, nothing at all) are shown, not obeyed. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (letter) => `\u27e8U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`,
  );
}

const safe_schemes = ["http:", "https:", "file:", "vscode:", "cursor:"];

/** A link that opens an editor or a web page; anything else stays text. */
export function link_or_text(text: string, link: string): HTMLElement {
  let scheme = "";
  try {
    scheme = new URL(link).protocol;
  } catch {
    // Not an address: text.
  }
  if (!safe_schemes.includes(scheme)) return foreign(text);
  return element("a", { href: link, rel: "noreferrer", target: "_blank" }, foreign(text));
}

export function panel(
  name: string,
  title: string,
): {
  root: HTMLElement;
  head: HTMLElement;
  body: HTMLElement;
  note: HTMLElement;
} {
  const note = element("span", { class: "note" });
  const head = element("header", {}, element("h2", {}, title), note);
  const body = element("div", { class: "body" });
  const root = element("section", { class: `panel ${name}`, "aria-label": title }, head, body);
  return { root, head, body, note };
}
