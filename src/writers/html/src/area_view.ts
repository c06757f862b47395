// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The same bytes as stacked areas by site, with the measured curve as outline.
import { byte_text, share_text, signed_byte_text } from "./bytes";
import { lower_bound } from "./axis";
import type { areas } from "./data";
import { element, panel } from "./dom";
import { plain } from "./palette";
import { raster } from "./raster";
import type { scene } from "./scene";
import type { store } from "./state";
import { outline, outline_series } from "./outline";
import { type pointer, time_plot } from "./time_plot";
import { hide_tooltip, show_tooltip } from "./tooltip";

/** A layer, from the ground up. */
interface layer {
  row: number;
  site: number;
  name: string;
}

export class area_view {
  readonly #plot: time_plot;
  readonly #note: HTMLElement;
  #raster = new raster(1, 1);
  #scene: scene | null = null;
  #layers: layer[] = [];
  #totals = new Float64Array();

  constructor(
    parent: HTMLElement,
    readonly store: store,
  ) {
    const { root, body, note } = panel("areas", "By site");
    this.#note = note;
    parent.append(root);
    const chart = element("div", {
      class: "chart",
      role: "img",
      "aria-label": "Bytes by site, stacked",
    });
    body.append(chart);
    this.#plot = new time_plot(chart, store, {
      shows_x: false,
      series: outline_series(() => this.#scene),
      between: (plot) => this.#raster.draw(plot.ctx, plot.bbox.left, plot.bbox.top),
      on_point: (at) => this.#point(at),
      on_click: (at) => this.#click(at),
    });
    this.#plot.on_resize = () => this.#draw();
  }

  update(scene: scene): void {
    if (this.#scene?.device !== scene.device) this.#prepare(scene);
    this.#scene = scene;
    this.#draw();
  }

  #prepare({ device: { areas }, run }: scene): void {
    const moments = areas.event.length;
    const sites = areas.sites.length;
    this.#layers = [
      { row: sites + 1, site: -1, name: "carried in" },
      ...Array.from(areas.sites, (site, row) => ({ row, site, name: run.sites[site].site })),
      { row: sites, site: -1, name: "all other sites" },
    ];
    this.#totals = new Float64Array(moments);
    for (let row = 0; row < sites + 2; ++row) {
      for (let m = 0; m < moments; ++m) this.#totals[m] += areas.bytes[row * moments + m];
    }
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === null) return;
    this.#plot.fit();
    const range = scene.measured_range();
    this.#paint(scene, range);
    this.#plot.show(scene, range, outline(scene, this.#plot.columns));
    const { event } = scene.device.areas;
    const seen = event.filter((e) => {
      const x = scene.axis.x_of(e);
      return x >= scene.from && x <= scene.to;
    }).length;
    this.#note.textContent =
      event.length === 0
        ? "the trace has no events"
        : `${seen} of ${event.length} moments, each the highest of its part`;
  }

  /** A column shows the greatest moment in it, else the last one before it. */
  #moment_of(scene: scene, areas: areas, from: number, to: number): number {
    const first = lower_bound(areas.event, Math.ceil(scene.event_at(from) - 1e-6));
    const last = lower_bound(areas.event, scene.event_at(to));
    let best = Math.max(0, Math.min(first, areas.event.length) - (first < last ? 0 : 1));
    for (let m = first; m < last; ++m) if (this.#totals[m] > this.#totals[best]) best = m;
    return best;
  }

  #paint(scene: scene, [low, high]: [number, number]): void {
    const { width, height } = this.#plot.plot.bbox;
    if (this.#raster.width !== Math.round(width) || this.#raster.height !== Math.round(height)) {
      this.#raster = new raster(width, height);
    }
    const target = this.#raster;
    target.clear();
    const { areas } = scene.device;
    const moments = areas.event.length;
    if (moments === 0) return;
    const colours = plain[scene.theme];
    const pixels = this.#layers.map(({ site, name }) =>
      site >= 0
        ? scene.site_pixel(site)
        : scene.pixel_of(name === "carried in" ? colours.carried : colours.rest, !scene.searching),
    );
    const scale = target.height / (high - low);
    const step = (scene.to - scene.from) / target.width;
    const end = scene.axis.end;
    for (let column = 0; column < target.width;) {
      const from = scene.from + column * step;
      if (from > end) break;
      const moment = this.#moment_of(scene, areas, from, from + step);
      // Columns without a moment of their own look like this one.
      const next_event = areas.event[moment + 1];
      const next =
        next_event === undefined
          ? target.width
          : Math.ceil((scene.axis.x_of(next_event) - scene.from) / step) - 1;
      const until = Math.min(Math.max(column + 1, next), Math.ceil((end - scene.from) / step));
      let below = -scene.base;
      let bottom = Math.round(target.height - (below - low) * scale);
      this.#layers.forEach(({ row }, layer) => {
        below += areas.bytes[row * moments + moment];
        const top = Math.round(target.height - (below - low) * scale);
        target.fill(
          column,
          until,
          top,
          bottom,
          pixels[layer],
          moment * this.#layers.length + layer,
        );
        bottom = top;
      });
      column = Math.max(column + 1, until);
    }
  }

  #under(at: pointer): { layer: layer; moment: number } | null {
    const owner = this.#raster.owner_at(at.left, at.top);
    if (owner < 0) return null;
    const count = this.#layers.length;
    return { layer: this.#layers[owner % count], moment: Math.floor(owner / count) };
  }

  #point(at: pointer): void {
    const scene = this.#scene!;
    const found = this.#under(at);
    if (found === null) return hide_tooltip();
    const { layer, moment } = found;
    const { areas } = scene.device;
    const moments = areas.event.length;
    const bytes = areas.bytes[layer.row * moments + moment];
    const site = layer.site < 0 ? undefined : scene.run.sites[layer.site];
    const start = areas.bytes[layer.row * moments];
    const colour = layer.site < 0 ? undefined : scene.colour(layer.site);
    show_tooltip(
      at.mouse,
      layer.name,
      [
        site?.label ?? "",
        `${byte_text(bytes)}, ${share_text(bytes, this.#totals[moment])} of ` +
          byte_text(this.#totals[moment]),
        scene.state.delta ? `${signed_byte_text(bytes - start)} since the first moment` : "",
        scene.moment_text(areas.event[moment]),
      ],
      colour,
    );
  }

  #click(at: pointer): void {
    const found = this.#under(at);
    const site = found === null || found.layer.site < 0 ? null : found.layer.site;
    this.store.set({ site: site === this.store.state.site ? null : site, lifetime: null });
  }
}
