// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The curves of all runs and measures, exact at every zoom, and the difference of two runs.
import type uPlot from "uplot";
import { byte_range_text, signed_byte_text } from "./bytes";
import { type measure, measures } from "./data";
import { element, foreign, panel } from "./dom";
import { draw_marks, draw_step_shades, mark_at, room_above } from "./marks";
import { css, line_style, pixel, plain } from "./palette";
import { type columns, type bounds } from "./pyramid";
import type { companion, models, scene } from "./scene";
import type { store } from "./state";
import { type pointer, stepped, time_plot } from "./time_plot";
import { hide_tooltip, show_tooltip } from "./tooltip";

interface line {
  run: number;
  measure: measure;
}

/** The event of a run at an event of the chosen one: at the same place of the axis. */
function event_of(scene: scene, who: companion, event: number): number | null {
  if (who.index === scene.state.run) return event < who.model.device.events ? event : null;
  const x = scene.place(event);
  return x <= who.axis.end ? Math.floor(who.axis.event_at(x) + 1e-6) : null;
}

/** Of a run at an event of the chosen one; null where it is over. */
function bytes_at(scene: scene, who: companion, measure: measure, event: number): bounds | null {
  const own = event_of(scene, who, event);
  return own === null ? null : who.model.bytes_at(measure, own);
}

export class curve_view {
  readonly root: HTMLElement;
  readonly #plot: time_plot;
  readonly #difference: time_plot | null;
  readonly #legend = element("div", { class: "legend", "aria-live": "off" });
  readonly #note: HTMLElement;
  readonly #lines: line[];
  #scene: scene | null = null;

  constructor(parent: HTMLElement, models: models, store: store) {
    const { root, head, body, note } = panel("curves", "Memory over the trace");
    this.root = root;
    this.#note = note;
    head.append(this.#legend);
    parent.append(root);
    const runs = models.page.runs;
    this.#lines = runs.flatMap((_, run) => measures.map((measure) => ({ run, measure })));
    const style = ({ run, measure }: line) =>
      line_style(this.#scene?.theme ?? "light", runs.length, run, measure);
    const series = this.#lines.flatMap((line): uPlot.Series[] => [
      {
        paths: stepped,
        width: 1.5,
        stroke: () => style(line).stroke,
        dash: style(line).dash,
        points: { show: false },
      },
      { paths: stepped, width: 1, stroke: () => style(line).stroke, points: { show: false } },
    ]);
    const bands = this.#lines.map((line, i): uPlot.Band => ({
      series: [2 * i + 1, 2 * i + 2],
      fill: () => `${style(line).stroke}99`,
    }));
    const devices = runs.flatMap((run, index) =>
      run.device_numbers.map((_, device) => models.model(index, device).device),
    );
    const chart = element("div", {
      class: "chart",
      tabindex: "0",
      role: "img",
      "aria-label": "Curves of bytes; drag to zoom",
    });
    body.append(chart);
    this.#plot = new time_plot(chart, store, {
      series,
      bands,
      top: room_above(devices),
      under: (plot) => this.#scene && draw_step_shades(plot, this.#scene),
      over: (plot) => this.#scene && draw_marks(plot, this.#scene),
      on_point: (at) => this.#point(at),
    });
    this.#plot.on_resize = () => this.#draw();
    this.#difference = runs.length > 1 ? this.#make_difference(body, store) : null;
  }

  #make_difference(body: HTMLElement, store: store): time_plot {
    const chart = element("div", {
      class: "difference chart",
      role: "img",
      "aria-label": "Difference of the runs",
    });
    body.append(chart);
    const plot = new time_plot(chart, store, {
      shows_x: false,
      series: [
        {
          paths: stepped,
          width: 1,
          points: { show: false },
          stroke: () => plain[this.#scene?.theme ?? "light"].accent,
          fill: () => `${plain[this.#scene?.theme ?? "light"].accent}40`,
          fillTo: 0,
        },
      ],
    });
    plot.on_resize = () => this.#draw();
    return plot;
  }

  update(scene: scene): void {
    this.#scene = scene;
    // The legend first: it takes room from the plot.
    this.point_at(null);
    this.#draw();
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === null) return;
    this.#plot.fit();
    this.#difference?.fit();
    const { state, companions } = scene;
    const count = this.#plot.columns;
    const empty = new Array<number | null>(count).fill(null);
    const parts: bounds[] = [];
    const values = this.#lines.flatMap(({ run, measure }) => {
      if (!state.shown.includes(measure)) return [empty, empty];
      const who = companions[run];
      const { low, high } = relative(
        scene.sample(who, measure, count),
        scene.base_of(who.model.device.curves[measure].start_bytes),
      );
      high.forEach((bytes, i) => {
        if (bytes !== null) parts.push({ low: low[i]!, high: bytes });
      });
      return [high, low];
    });
    const whole = parts.reduce(
      (a, b) => ({ low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }),
      parts[0] ?? { low: 0, high: 1 },
    );
    this.#plot.show(scene, scene.byte_range([whole], 0), values);
    this.#draw_difference(scene, count);
  }

  /** Of the chosen run, or the second where the first is chosen, against the first. */
  #draw_difference(scene: scene, count: number): void {
    if (this.#difference === null) return;
    const measure = scene.run.measure;
    const highs = [0, other_run(scene)].map((run) => {
      const who = scene.companions[run];
      return relative(
        scene.sample(who, measure, count),
        scene.base_of(who.model.device.curves[measure].start_bytes),
      ).high;
    });
    const change = highs[1].map((bytes, i) =>
      bytes === null || highs[0][i] === null ? null : bytes - highs[0][i]!,
    );
    const known = change.filter((bytes) => bytes !== null) as number[];
    const low = known.reduce((a, b) => Math.min(a, b), 0);
    const high = known.reduce((a, b) => Math.max(a, b), 0);
    const air = Math.max(1, 0.1 * (high - low));
    this.#difference.show(scene, [low - air, high + air], [change]);
  }

  #point(at: pointer): void {
    const scene = this.#scene!;
    const lines = mark_at(this.#plot.plot, scene, at);
    if (lines.length === 0) hide_tooltip();
    else show_tooltip(at.mouse, lines[0], lines.slice(1));
  }

  /** The event below or above the pointer, wherever among the charts over time it is. */
  event_under(mouse: MouseEvent): number | null {
    const { plot } = this.#plot;
    const { left, width } = plot.over.getBoundingClientRect();
    const x = mouse.clientX - left;
    if (this.#scene === null || x < 0 || x > width) return null;
    return Math.floor(this.#scene.event_at(plot.posToVal(x, "x")));
  }

  /** The values at an event of the chosen run; null: at the chosen moment. */
  point_at(event: number | null): void {
    const scene = this.#scene;
    if (scene === null) return;
    const shown_event = event ?? scene.event;
    const within = scene.within(shown_event);
    this.#note.replaceChildren(
      scene.moment_text(shown_event),
      within === "" ? "" : " \u00b7 ",
      foreign(within),
    );
    const entries = this.#lines
      .filter(({ measure }) => scene.state.shown.includes(measure))
      .map((line) => this.#entry(scene, line, shown_event));
    const difference = this.#difference_entry(scene, shown_event);
    this.#legend.replaceChildren(...entries, ...(difference === null ? [] : [difference]));
  }

  #entry(scene: scene, { run, measure }: line, event: number): HTMLElement {
    const who = scene.companions[run];
    const runs = scene.companions.length;
    const { stroke, dash } = line_style(scene.theme, runs, run, measure);
    const sample = element("i", { class: "line" });
    sample.style.borderTop = `3px ${dash.length === 0 ? "solid" : "dashed"} ${stroke}`;
    const bytes = bytes_at(scene, who, measure, event);
    const base = scene.base_of(who.model.device.curves[measure].start_bytes);
    const value =
      bytes === null
        ? "\u2013"
        : scene.state.delta
          ? signed_range(bytes.low - base, bytes.high - base)
          : byte_range_text(bytes.low, bytes.high);
    const name = element(
      "span",
      { class: "name" },
      ...(runs > 1 ? [foreign(who.run.label), ` ${measure}`] : [measure]),
    );
    return element(
      "span",
      { class: "entry", "data-run": String(run), "data-measure": measure },
      sample,
      name,
      element("b", {}, value),
    );
  }

  #difference_entry(scene: scene, event: number): HTMLElement | null {
    if (scene.companions.length < 2) return null;
    const [first, second] = [0, other_run(scene)].map((run) => scene.companions[run]);
    const measure = scene.run.measure;
    const [a, b] = [first, second].map((who) => {
      const bytes = bytes_at(scene, who, measure, event);
      const base = scene.base_of(who.model.device.curves[measure].start_bytes);
      return bytes === null ? null : { low: bytes.low - base, high: bytes.high - base };
    });
    const sample = element("i", { class: "swatch" });
    sample.style.background = css(
      pixel(plain[scene.theme].accent, plain[scene.theme].background, 0.7),
    );
    const text = a === null || b === null ? "\u2013" : signed_range(b.low - a.high, b.high - a.low);
    return element(
      "span",
      { class: "entry", "data-difference": true },
      sample,
      element(
        "span",
        { class: "name" },
        foreign(second.run.label),
        " \u2212 ",
        foreign(first.run.label),
      ),
      element("b", {}, text),
    );
  }
}

function other_run(scene: scene): number {
  return scene.state.run === 0 ? 1 : scene.state.run;
}

function signed_range(low: number, high: number): string {
  if (low === high) return signed_byte_text(low);
  return `${signed_byte_text(low)} \u2026 ${signed_byte_text(high)}`;
}

function relative({ low, high }: columns, base: number): columns {
  const minus = (bytes: number | null) => (bytes === null ? null : bytes - base);
  return base === 0 ? { low, high } : { low: low.map(minus), high: high.map(minus) };
}
