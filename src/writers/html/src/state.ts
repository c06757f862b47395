// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What the reader sees, as one value that all views watch and that the URL's hash keeps.
import type { axis_kind } from "./axis";
import { type measure, measures } from "./data";

export interface view_state {
  run: number;
  device: number;
  axis: axis_kind;
  /** Bytes since the trace began, and an axis that fits what changes, instead of all bytes. */
  delta: boolean;
  shown: measure[];
  /** The window in events of the chosen run; null: all of them. */
  window: [number, number] | null;
  /** The moment of the flame graph and the table; null: the global peak. */
  event: number | null;
  query: string;
  site: number | null;
  lifetime: number | null;
  theme: "light" | "dark" | null;
}

export type listener = (state: view_state, changed: Set<keyof view_state>) => void;

/** Listeners run once a frame, with all that changed since the last one. */
export class store {
  #state: view_state;
  #changed = new Set<keyof view_state>();
  #listeners: listener[] = [];
  #scheduled = false;

  constructor(initial: view_state) {
    this.#state = initial;
  }

  get state(): view_state {
    return this.#state;
  }

  watch(listener: listener): void {
    this.#listeners.push(listener);
  }

  set(change: Partial<view_state>): void {
    const before: any = this.#state;
    for (const [key, value] of Object.entries(change)) {
      if (JSON.stringify(before[key]) !== JSON.stringify(value)) {
        this.#changed.add(key as keyof view_state);
      }
    }
    this.#state = { ...this.#state, ...change };
    if (this.#changed.size === 0 || this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#changed.size === 0) return;
    const changed = this.#changed;
    this.#changed = new Set();
    for (const listener of this.#listeners) listener(this.#state, changed);
  }
}

const short = (name: measure) => name.slice(0, 2);

export function to_hash(state: view_state, initial: view_state): string {
  const words = new URLSearchParams();
  const put = (key: string, value: string, usual: string) => {
    if (value !== usual) words.set(key, value);
  };
  const optional = (value: number | null) => (value === null ? "" : String(value));
  put("run", String(state.run), String(initial.run));
  put("device", String(state.device), String(initial.device));
  put("x", state.axis, initial.axis);
  put("y", state.delta ? "delta" : "absolute", "absolute");
  put("show", state.shown.map(short).join("."), initial.shown.map(short).join("."));
  const place = (x: number) => String(Number(x.toPrecision(12)));
  put("zoom", state.window === null ? "" : state.window.map(place).join("-"), "");
  put("event", optional(state.event), "");
  put("find", state.query, "");
  put("site", optional(state.site), "");
  put("lifetime", optional(state.lifetime), "");
  put("theme", state.theme ?? "", "");
  return words.toString();
}

function number_in(text: string | null, low: number, high: number): number | null {
  if (text === null || !/^\d+(\.\d+)?$/.test(text)) return null;
  const value = Number(text);
  return value >= low && value < high ? value : null;
}

/** A hash is foreign text: what does not fit this page is left out. */
export function from_hash(
  hash: string,
  initial: view_state,
  limits: {
    runs: number;
    devices: (run: number) => number;
  },
): view_state {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...initial };
  const whole = (key: string, below: number) => {
    const value = number_in(words.get(key), 0, below);
    return value === null ? null : Math.floor(value);
  };
  state.run = whole("run", limits.runs) ?? initial.run;
  state.device = whole("device", limits.devices(state.run)) ?? initial.device;
  const axis = words.get("x");
  if (axis === "event" || axis === "time") state.axis = axis;
  state.delta = words.get("y") === "delta";
  const show = words.get("show");
  if (show !== null) state.shown = measures.filter((name) => show.split(".").includes(short(name)));
  const [from, to] = (words.get("zoom") ?? "").split("-", 2);
  const first = number_in(from ?? null, 0, Infinity);
  const last = number_in(to ?? null, 0, Infinity);
  state.window = first !== null && last !== null && first < last ? [first, last] : null;
  state.event = whole("event", 2 ** 32);
  state.query = (words.get("find") ?? "").slice(0, 200);
  state.site = whole("site", 2 ** 32);
  state.lifetime = whole("lifetime", 2 ** 32);
  const theme = words.get("theme");
  state.theme = theme === "light" || theme === "dark" ? theme : null;
  return state;
}
