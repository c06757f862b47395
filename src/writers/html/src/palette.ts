// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Colours, told apart by colour-blind eyes too: Okabe and Ito's, and Paul Tol's schemes.
import type { measure, run } from "./data";

export type theme = "light" | "dark";

const site_colours: Record<theme, string[]> = {
  light: [
    "#0077bb",
    "#ee7733",
    "#44aa99",
    "#cc6677",
    "#332288",
    "#ddcc77",
    "#117733",
    "#88ccee",
    "#882255",
    "#999933",
    "#aa4499",
    "#ee8866",
    "#99ddff",
    "#44bb99",
    "#ffaabb",
    "#bbcc33",
    "#cc3311",
    "#77aadd",
    "#eedd88",
    "#aaaa00",
  ],
  dark: [
    "#3399dd",
    "#ee7733",
    "#44aa99",
    "#cc6677",
    "#7766dd",
    "#ddcc77",
    "#339955",
    "#88ccee",
    "#bb4488",
    "#999933",
    "#bb66aa",
    "#ee8866",
    "#99ddff",
    "#44bb99",
    "#ffaabb",
    "#bbcc33",
    "#dd5533",
    "#77aadd",
    "#eedd88",
    "#aaaa00",
  ],
};

/** Of sites beyond the largest: greys with a tint. */
const other_sites: Record<theme, string[]> = {
  light: ["#8c94a6", "#9aa59a", "#a6998c", "#a38fa3", "#8fa3a3"],
  dark: ["#6f7889", "#7b867b", "#897c6f", "#867386", "#738686"],
};

export const plain: Record<
  theme,
  {
    background: string;
    text: string;
    faint: string;
    grid: string;
    rest: string;
    carried: string;
    frame: string;
    free: string;
    pending: string;
    mixed: string;
    accent: string;
    alarm: string;
    band: string;
  }
> = {
  light: {
    background: "#ffffff",
    text: "#1c2330",
    faint: "#5d6677",
    grid: "#e4e7ec",
    rest: "#d3d7df",
    carried: "#aeb4c0",
    frame: "#e6e9ee",
    free: "#e3e6ec",
    pending: "#c9a227",
    mixed: "#b9a7c9",
    accent: "#1c2330",
    alarm: "#b3261e",
    band: "#f4f5f8",
  },
  dark: {
    background: "#14181f",
    text: "#e6e9ef",
    faint: "#9aa3b2",
    grid: "#2a303b",
    rest: "#3a414e",
    carried: "#5a6272",
    frame: "#8790a0",
    free: "#262d38",
    pending: "#b8922a",
    mixed: "#73628a",
    accent: "#f4f6fa",
    alarm: "#ff7b72",
    band: "#191e26",
  },
};

const line_colours: Record<theme, string[]> = {
  light: ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#806000", "#3d4a66"],
  dark: ["#56b4e9", "#f0803c", "#2fc095", "#d070b8", "#d8b030", "#a8b4cc"],
};
const measure_order: measure[] = ["allocated", "active", "reserved"];
const dashes: Record<measure, number[]> = { allocated: [], active: [6, 3], reserved: [2, 2] };

/** One run: a colour a measure. Several: a colour a run, and dashes tell the measures apart. */
export function line_style(
  theme: theme,
  runs: number,
  run: number,
  measure: measure,
): {
  stroke: string;
  dash: number[];
} {
  const colours = line_colours[theme];
  const index = runs > 1 ? run : measure_order.indexOf(measure);
  return { stroke: colours[index % colours.length], dash: dashes[measure] };
}

/** Their memory has no line of code to blame, so they are grey. */
const nameless_sites = ["before the trace", "<no frames>"];

/** The colour of a site is its text's, in every view, device and run. */
export class site_palette {
  #rank = new Map<string, number>();

  constructor(runs: run[]) {
    for (const run of runs) {
      for (const sites of run.area_sites) {
        for (const site of sites) this.#add(run.sites[site].site);
      }
      for (const site of run.sites) this.#add(site.site);
    }
  }

  #add(site: string): void {
    if (!this.#rank.has(site) && !nameless_sites.includes(site))
      this.#rank.set(site, this.#rank.size);
  }

  of(run: run, site: number, theme: theme): string {
    const text = run.sites[site]?.site;
    const rank = text === undefined ? undefined : this.#rank.get(text);
    if (rank === undefined) return plain[theme].carried;
    const own = site_colours[theme];
    const others = other_sites[theme];
    return own[rank] ?? others[rank % others.length];
  }
}

/** `#rrggbb` as a pixel of ImageData seen as Uint32Array, mixed with another by `part`. */
export function pixel(colour: string, mixed_with = colour, part = 0): number {
  const channel = (hex: string, at: number) => parseInt(hex.slice(at, at + 2), 16);
  const mix = (at: number) =>
    Math.round(channel(colour, at) * (1 - part) + channel(mixed_with, at) * part);
  return ((255 << 24) | (mix(5) << 16) | (mix(3) << 8) | mix(1)) >>> 0;
}

export function css(pixel: number): string {
  return `rgb(${pixel & 255},${(pixel >> 8) & 255},${(pixel >> 16) & 255})`;
}

/** How far a site that is not asked for goes into the background. */
export const dimmed = 0.82;
