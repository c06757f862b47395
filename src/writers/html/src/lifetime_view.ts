// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The allocation map: one shape a lifetime, stacked in order of birth as in PyTorch's own viewer.
import { lower_bound } from "./axis";
import { byte_text, count_text, seconds_text } from "./bytes";
import { type lifetimes, none_u32, site_of } from "./data";
import { element, panel } from "./dom";
import { outline, outline_series } from "./outline";
import { pixel, plain } from "./palette";
import { raster } from "./raster";
import type { scene } from "./scene";
import type { store } from "./state";
import { type pointer, time_plot } from "./time_plot";
import { hide_tooltip, show_tooltip } from "./tooltip";

/** How much darker (on dark: lighter) the edge of a shape is than its face. */
const edge = 0.3;
const least_height_with_edge = 4;

export class lifetime_view {
  readonly #plot: time_plot;
  readonly #note: HTMLElement;
  #raster = new raster(1, 1);
  #scene: scene | null = null;
  /** Places of births, ends and vertices on the axis. */
  #birth_x = new Float64Array();
  #end_x = new Float64Array();
  #vertex_x = new Float64Array();

  constructor(
    parent: HTMLElement,
    readonly store: store,
  ) {
    const { root, body, note } = panel("map", "Allocation map");
    this.#note = note;
    parent.append(root);
    const chart = element("div", {
      class: "chart",
      role: "img",
      "aria-label": "The largest lifetimes, stacked",
    });
    body.append(chart);
    this.#plot = new time_plot(chart, store, {
      series: outline_series(() => this.#scene),
      between: (plot) => this.#raster.draw(plot.ctx, plot.bbox.left, plot.bbox.top),
      on_point: (at) => this.#point(at),
      on_click: (at) => this.#click(at),
    });
    this.#plot.on_resize = () => this.#draw();
  }

  update(scene: scene): void {
    if (this.#scene?.device !== scene.device || this.#scene.axis !== scene.axis) {
      const { birth, end, vertex_event } = scene.device.lifetimes;
      const places = (events: Uint32Array) =>
        Float64Array.from(events, (event) => scene.axis.x_of(event));
      const { events } = scene.device;
      this.#birth_x = places(birth);
      // What is never freed reaches the end, also where there is no event.
      this.#end_x = places(end).map((x, i) => (end[i] >= events ? scene.axis.end : x));
      this.#vertex_x = places(vertex_event);
      this.#note.textContent =
        birth.length === 1
          ? "the largest lifetime, and the rest in grey"
          : `the ${count_text(birth.length)} largest lifetimes, and the rest in grey`;
    }
    this.#scene = scene;
    this.#draw();
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === null) return;
    this.#plot.fit();
    const range = scene.measured_range();
    const values = outline(scene, this.#plot.columns);
    this.#paint(scene, range, values[0]);
    this.#plot.show(scene, range, values);
  }

  #paint(scene: scene, [low, high]: [number, number], top_of_all: (number | null)[]): void {
    const { width, height } = this.#plot.plot.bbox;
    if (this.#raster.width !== Math.round(width) || this.#raster.height !== Math.round(height)) {
      this.#raster = new raster(width, height);
    }
    const target = this.#raster;
    target.clear();
    const scale = target.height / (high - low);
    const row_of = (bytes: number) =>
      Math.round(target.height - (bytes - scene.base - low) * scale);
    const grey = pixel(plain[scene.theme].rest);
    top_of_all.forEach((bytes, column) => {
      if (bytes === null) return;
      target.fill(column, column + 1, row_of(bytes + scene.base), target.height, grey, -1);
    });
    const per_column = target.width / (scene.to - scene.from);
    const column_of = (x: number) => Math.ceil((x - scene.from) * per_column - 1e-6);
    const { lifetimes } = scene.device;
    const faces = new Map<number, [number, number]>();
    for (let i = 0; i < lifetimes.birth.length; ++i) {
      if (this.#end_x[i] < scene.from || this.#birth_x[i] > scene.to) continue;
      const site = site_of(scene.run, lifetimes.stack[i]);
      if (!faces.has(site)) faces.set(site, [scene.site_pixel(site), scene.site_pixel(site, edge)]);
      let [face, border] = faces.get(site)!;
      if (i === scene.state.lifetime) face = pixel(plain[scene.theme].accent);
      this.#paint_one(scene, i, lifetimes, row_of, column_of, face, border);
    }
  }

  #paint_one(
    scene: scene,
    i: number,
    lifetimes: lifetimes,
    row_of: (bytes: number) => number,
    column_of: (x: number) => number,
    face: number,
    border: number,
  ): void {
    const { first_vertex, vertex_bytes, bytes } = lifetimes;
    const target = this.#raster;
    const end = Math.min(target.width, column_of(this.#end_x[i]));
    const last = first_vertex[i + 1];
    // The first vertex of which something can be seen.
    const seen = this.#vertex_x.subarray(first_vertex[i], last);
    let vertex = first_vertex[i] + Math.max(0, lower_bound(seen, scene.from) - 1);
    let left = Math.max(0, column_of(this.#vertex_x[vertex]));
    const birth = column_of(this.#birth_x[i]);
    for (; vertex < last && left < end; ++vertex) {
      const right = vertex + 1 < last ? Math.min(end, column_of(this.#vertex_x[vertex + 1])) : end;
      if (right <= left) continue;
      const bottom = row_of(vertex_bytes[vertex]);
      const top = row_of(vertex_bytes[vertex] + bytes[i]);
      target.fill(left, right, top, bottom, face, i);
      if (bottom - top >= least_height_with_edge) {
        target.fill(left, right, top, top + 1, border, i);
        if (left === birth && right - left > 2) target.fill(left, left + 1, top, bottom, border, i);
      }
      left = right;
    }
  }

  #point(at: pointer): void {
    const scene = this.#scene!;
    const i = this.#raster.owner_at(at.left, at.top);
    if (i < 0) return hide_tooltip();
    const site = site_of(scene.run, scene.device.lifetimes.stack[i]);
    const { heading, facts } = lifetime_facts(scene, i);
    show_tooltip(
      at.mouse,
      heading,
      [scene.run.sites[site]?.label ?? "", ...facts.map(([name, value]) => `${name}: ${value}`)],
      scene.colour(site),
    );
  }

  #click(at: pointer): void {
    const i = this.#raster.owner_at(at.left, at.top);
    this.store.set({ lifetime: i < 0 || i === this.store.state.lifetime ? null : i });
  }
}

/** What is known of a lifetime, in words. */
export function lifetime_facts(
  scene: scene,
  i: number,
): {
  heading: string;
  facts: [string, string][];
} {
  const { birth, end, bytes, stack } = scene.device.lifetimes;
  const { events } = scene.device;
  const site = site_of(scene.run, stack[i]);
  const clock = scene.model.axis("time");
  const born =
    birth[i] === none_u32 ? "carried in, before the first event" : scene.moment_text(birth[i]);
  const freed = end[i] >= events ? "never, in this trace" : scene.moment_text(end[i]);
  const facts: [string, string][] = [
    ["size", byte_text(bytes[i])],
    ["born", born],
    ["freed", freed],
  ];
  if (clock.kind === "time" && birth[i] !== none_u32 && end[i] < events) {
    facts.push(["lived", seconds_text(clock.x_of(end[i]) - clock.x_of(birth[i]), 1e-6)]);
  }
  return { heading: scene.run.sites[site]?.site ?? "unknown stack", facts };
}
