// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A uPlot with our axes: same width, same window and same pointer in all views over time.
import uPlot from "uplot";
import { byte_increments, tick_text } from "./bytes";
import { plain } from "./palette";
import type { scene } from "./scene";
import type { store } from "./state";
import { hide_tooltip } from "./tooltip";

export interface pointer {
  event: number;
  /** On the vertical axis, so relative where the axis is. */
  bytes: number;
  /** In the plot, in pixels of its canvas. */
  left: number;
  top: number;
  mouse: MouseEvent;
}

export interface plot_options {
  series?: uPlot.Series[];
  bands?: uPlot.Band[];
  /** Room above for marks. */
  top?: number;
  shows_x?: boolean;
  /** Under the grid; between grid and curves; over the curves. */
  under?: (plot: uPlot) => void;
  between?: (plot: uPlot) => void;
  over?: (plot: uPlot) => void;
  on_point?: (at: pointer) => void;
  on_leave?: () => void;
  on_click?: (at: pointer) => void;
}

/** A value holds until the next one. */
export const stepped = uPlot.paths.stepped!({ align: 1 });

export const axis_width = 76;
/** Half a label of the horizontal axis. */
const right_margin = 34;
const x_height = 26;
const least_events = 4;
const font = "11px system-ui, sans-serif";

export class time_plot {
  readonly plot: uPlot;
  #scene: scene | null = null;
  #pressed_at = 0;

  constructor(
    readonly root: HTMLElement,
    readonly store: store,
    options: plot_options,
  ) {
    const colour = (name: "text" | "grid" | "faint") => () =>
      plain[this.#scene?.theme ?? "light"][name];
    const grid = { stroke: colour("grid"), width: 1 };
    const ticks = { stroke: colour("grid"), width: 1, size: 4 };
    this.plot = new uPlot(
      {
        width: Math.max(200, root.clientWidth),
        height: Math.max(60, root.clientHeight),
        padding: [options.top ?? 6, right_margin, options.shows_x === false ? 6 : 0, 0],
        legend: { show: false },
        series: [{}, ...(options.series ?? [])],
        bands: options.bands,
        // With limits from the start the axes have their room, so the plot has its place.
        scales: {
          x: { time: false, auto: false, min: 0, max: 1 },
          y: { auto: false, min: 0, max: 1 },
        },
        axes: [
          {
            show: options.shows_x !== false,
            size: x_height,
            gap: 3,
            font,
            grid,
            ticks,
            space: 90,
            stroke: colour("faint"),
            incrs: () => this.#scene?.axis.increments ?? [1],
            values: (_, splits, __, ___, step) =>
              splits.map((x) => this.#scene?.axis.text(x, step) ?? ""),
          },
          {
            size: axis_width,
            gap: 5,
            font,
            grid,
            ticks,
            space: 26,
            stroke: colour("faint"),
            incrs: byte_increments,
            values: (_, splits, __, ___, step) => {
              const largest = Math.max(...splits.map(Math.abs));
              return splits.map((bytes) => tick_text(bytes, step, largest));
            },
          },
        ],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          sync: {
            key: "memreplay",
            scales: ["x", null],
            setSeries: false,
            filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
          },
          bind: {
            dblclick: () => () => {
              this.#reset();
              return null;
            },
          },
        },
        hooks: {
          drawClear: [(plot) => options.under?.(plot)],
          drawAxes: [(plot) => options.between?.(plot)],
          draw: [
            (plot) => {
              this.#draw_moment();
              options.over?.(plot);
            },
          ],
          setSelect: [(plot) => this.#zoom_to_selection(plot)],
        },
      },
      [[0, 1], ...(options.series ?? []).map(() => [null, null])] as uPlot.AlignedData,
      root,
    );
    this.#listen(options);
    new ResizeObserver(() => this.#resize()).observe(root);
  }

  /** Columns of the plot: one a pixel of the canvas. */
  get columns(): number {
    return Math.max(1, Math.round(this.plot.bbox.width));
  }

  /** Sets the window and the vertical range, and draws. */
  show(scene: scene, range: [number, number], values: (number | null)[][]): void {
    this.#scene = scene;
    const { from, to } = scene;
    const count = values[0]?.length ?? 1;
    const x = Array.from({ length: count + 1 }, (_, i) =>
      i === count ? to : from + (i * (to - from)) / count,
    );
    const with_end = values.map((column) => [...column, column[count - 1]]);
    this.plot.batch(() => {
      this.plot.setData([x, ...with_end] as uPlot.AlignedData, false);
      this.plot.setScale("x", { min: from, max: to });
      this.plot.setScale("y", { min: range[0], max: range[1] });
    });
  }

  #draw_moment(): void {
    const scene = this.#scene;
    if (scene === null) return;
    const x = scene.axis.x_of(scene.event);
    if (x < scene.from || x > scene.to) return;
    const { ctx, bbox } = this.plot;
    const left = Math.round(this.plot.valToPos(x, "x", true)) + 0.5;
    ctx.save();
    ctx.strokeStyle = plain[scene.theme].accent;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }

  #pointer(mouse: MouseEvent): pointer {
    const { plot } = this;
    const { left, top } = plot.over.getBoundingClientRect();
    const x = mouse.clientX - left;
    const y = mouse.clientY - top;
    return {
      event: Math.floor(this.#scene!.event_at(plot.posToVal(x, "x"))),
      bytes: plot.posToVal(y, "y"),
      left: x * devicePixelRatio,
      top: y * devicePixelRatio,
      mouse,
    };
  }

  #listen(options: plot_options): void {
    const { over } = this.plot;
    over.addEventListener("mousedown", (mouse) => {
      this.#pressed_at = mouse.clientX;
    });
    over.addEventListener("mousemove", (mouse) => {
      if (this.#scene === null) return;
      if (mouse.buttons === 0) options.on_point?.(this.#pointer(mouse));
      else hide_tooltip();
    });
    over.addEventListener("mouseleave", () => {
      hide_tooltip();
      options.on_leave?.();
    });
    over.addEventListener("click", (mouse) => {
      if (this.#scene === null || Math.abs(mouse.clientX - this.#pressed_at) > 3) return;
      const at = this.#pointer(mouse);
      if (at.event < this.#scene.device.events) this.store.set({ event: Math.max(0, at.event) });
      options.on_click?.(at);
    });
    over.addEventListener("wheel", (wheel) => this.#wheel(wheel), { passive: false });
  }

  /** With Ctrl: zoom at the pointer. With Shift, or sideways: pan. Else the page scrolls. */
  #wheel(wheel: WheelEvent): void {
    const scene = this.#scene;
    const sideways = wheel.shiftKey ? wheel.deltaY || wheel.deltaX : wheel.deltaX;
    if (scene === null || (!wheel.ctrlKey && sideways === 0)) return;
    wheel.preventDefault();
    if (wheel.ctrlKey) {
      const centre = this.plot.posToVal(
        wheel.clientX - this.plot.over.getBoundingClientRect().left,
        "x",
      );
      zoom(this.store, scene, Math.exp(wheel.deltaY / 400), centre);
    } else {
      pan(this.store, scene, sideways / 800);
    }
  }

  #zoom_to_selection(plot: uPlot): void {
    const { left, width } = plot.select;
    if (this.#scene !== null && width > 3) {
      set_window(
        this.store,
        this.#scene,
        plot.posToVal(left, "x"),
        plot.posToVal(left + width, "x"),
      );
    }
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  #reset(): void {
    this.store.set({ window: null });
  }

  /** Takes the size of its place at once, so that `columns` are those that will be drawn. */
  fit(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width < 50 || height < 40) return;
    if (width === this.plot.width && height === this.plot.height) return;
    this.plot.batch(() => this.plot.setSize({ width, height }));
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width !== this.plot.width || height !== this.plot.height) this.on_resize?.();
  }

  on_resize?: () => void;
}

/** A window on the axis becomes events, at least a few and inside the trace. */
export function set_window(store: store, scene: scene, from: number, to: number): void {
  const ends = scene.companions.map(({ axis }) => axis.end);
  const end = scene.event_at(Math.max(...ends));
  let first = Math.max(0, scene.event_at(from));
  let last = Math.min(end, scene.event_at(to));
  const missing = Math.min(least_events, end) - (last - first);
  if (missing > 0) {
    first = Math.max(0, Math.min(first - missing / 2, end - least_events));
    last = Math.min(end, first + least_events);
  }
  store.set({ window: first <= 0 && last >= end ? null : [first, last] });
}

export function zoom(store: store, scene: scene, factor: number, centre: number): void {
  set_window(
    store,
    scene,
    centre - (centre - scene.from) * factor,
    centre + (scene.to - centre) * factor,
  );
}

export function pan(store: store, scene: scene, part: number): void {
  const ends = scene.companions.map(({ axis }) => axis.end);
  const move = part * (scene.to - scene.from);
  const kept = Math.max(
    scene.axis.begin - scene.from,
    Math.min(move, Math.max(...ends) - scene.to),
  );
  set_window(store, scene, scene.from + kept, scene.to + kept);
}
