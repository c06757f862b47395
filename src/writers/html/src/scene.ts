// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What the views draw: the state joined with the data it chooses.
import { type axis_kind, time_axis } from "./axis";
import { type device, type measure, type page_data, type run, none_u32 } from "./data";
import { type theme, dimmed, pixel, plain, site_palette } from "./palette";
import { type bounds, type columns, pyramid, sample } from "./pyramid";
import type { view_state } from "./state";

/** A device with what is made from it once. */
export class device_model {
  readonly #axes = new Map<axis_kind, time_axis>();
  readonly #pyramids = new Map<measure, pyramid>();
  #known_bytes: Map<number, number> | null = null;

  constructor(
    readonly device: device,
    readonly measured: measure,
  ) {}

  axis(kind: axis_kind): time_axis {
    if (!this.#axes.has(kind)) this.#axes.set(kind, new time_axis(this.device, kind));
    return this.#axes.get(kind)!;
  }

  pyramid(measure: measure): pyramid {
    if (!this.#pyramids.has(measure)) {
      this.#pyramids.set(measure, new pyramid(this.device.curves[measure]));
    }
    return this.#pyramids.get(measure)!;
  }

  /** One number where the program tells it of this event, else the bounds of the event's bucket. */
  bytes_at(measure: measure, event: number): bounds {
    const { start_bytes, peak_bytes, peak_event, low, high } = this.device.curves[measure];
    const known = this.#known(measure).get(event);
    const exact = event < 0 ? start_bytes : event === peak_event ? peak_bytes : known;
    if (exact !== undefined) return { low: exact, high: exact };
    const bucket = this.axis("event").bucket_of(event);
    return { low: low[bucket], high: high[bucket] };
  }

  /** The measured bytes at the peaks and at the moments of the areas. */
  #known(measure: measure): Map<number, number> {
    if (measure !== this.measured) return new Map();
    if (this.#known_bytes === null) {
      const { peaks, areas } = this.device;
      const moments = areas.event.length;
      this.#known_bytes = new Map(peaks.map(({ event, bytes }) => [event, bytes]));
      areas.event.forEach((event, moment) => {
        let bytes = 0;
        for (let at = moment; at < areas.bytes.length; at += moments) bytes += areas.bytes[at];
        this.#known_bytes!.set(event, bytes);
      });
    }
    return this.#known_bytes;
  }
}

/** A run beside the chosen one, with its own events on the common axis. */
export interface companion {
  index: number;
  run: run;
  model: device_model;
  axis: time_axis;
}

export class scene {
  readonly run: run;
  readonly model: device_model;
  readonly device: device;
  readonly axis: time_axis;
  /** The window on the axis. */
  readonly from: number;
  readonly to: number;
  readonly theme: theme;
  readonly companions: companion[];
  /** Bytes that the axis calls zero. */
  readonly base: number;
  readonly #found: Uint8Array | null;

  constructor(
    readonly state: view_state,
    readonly models: models,
    theme: theme,
  ) {
    this.theme = theme;
    this.run = models.page.runs[state.run];
    this.model = models.model(state.run, state.device);
    this.device = this.model.device;
    this.axis = this.model.axis(state.axis);
    this.companions = models.page.runs.map((run, index) => {
      const model = index === state.run ? this.model : models.like(index, this.device.device);
      return { index, run, model, axis: model.axis(this.axis.kind) };
    });
    const ends = this.companions.map(({ axis }) => axis.end);
    [this.from, this.to] =
      state.window === null
        ? [this.axis.begin, Math.max(...ends)]
        : [this.place(state.window[0]), this.place(state.window[1])];
    if (!(this.to > this.from)) this.to = this.from + (this.axis.kind === "event" ? 1 : 1e-6);
    this.base = this.base_of(this.device.curves[this.run.measure].start_bytes);
    this.#found = models.found(this.run, state.query);
  }

  base_of(start_bytes: number): number {
    return this.state.delta ? start_bytes : 0;
  }

  /** The place of an event, also behind the end, where a longer run goes on. */
  place(event: number): number {
    const over = event - this.device.events;
    if (over <= 0) return this.axis.x_of(event);
    const span = this.axis.end - this.axis.begin;
    return this.axis.end + (over / Math.max(1, this.device.events)) * span;
  }

  /** The way back of `place`. */
  event_at(x: number): number {
    const over = x - this.axis.end;
    if (over <= 0) return this.axis.event_at(x);
    const span = this.axis.end - this.axis.begin;
    return this.device.events * (1 + over / Math.max(span, 1e-9));
  }

  /** The moment of the flame graph and the table. */
  get event(): number {
    return this.state.event ?? this.default_event;
  }

  get default_event(): number {
    const peak = this.device.peaks.find(({ global }) => global) ?? this.device.peaks[0];
    return peak?.event ?? this.device.curves[this.run.measure].peak_event;
  }

  /** Whether the reader looks for certain sites. */
  get searching(): boolean {
    return this.state.site !== null || this.#found !== null;
  }

  /** A chosen site goes before the search. */
  is_asked_for(site: number): boolean {
    return this.state.site !== null ? site === this.state.site : this.is_found(site);
  }

  is_found(site: number): boolean {
    return this.#found === null || (site >= 0 && this.#found[site] === 1);
  }

  colour(site: number): string {
    return this.models.palette.of(this.run, site, this.theme);
  }

  site_pixel(site: number, darker = 0): number {
    return this.pixel_of(this.colour(site), this.is_asked_for(site), darker);
  }

  pixel_of(colour: string, is_asked_for: boolean, darker = 0): number {
    if (!is_asked_for) return pixel(colour, plain[this.theme].background, dimmed);
    return pixel(colour, this.theme === "light" ? "#000000" : "#ffffff", darker);
  }

  sample(who: companion, measure: measure, count: number): columns {
    return sample(who.model.pyramid(measure), who.axis, this.from, this.to, count);
  }

  /** Of the measured curve, in the window, as the axis of the areas and the map shows it. */
  measured_range(): [number, number] {
    const [first, last] = this.axis.buckets_between(this.from, this.to);
    return this.byte_range([this.model.pyramid(this.run.measure).between(first, last)], this.base);
  }

  /** With a little air above; from zero, unless the change is asked for. */
  byte_range(parts: bounds[], base: number): [number, number] {
    const low = this.state.delta ? Math.min(...parts.map((part) => part.low)) - base : 0;
    const high = Math.max(...parts.map((part) => part.high)) - base;
    const air = Math.max(1, 0.06 * (high - low));
    return [this.state.delta ? low - air : 0, high + air];
  }

  /** What a step or an annotation says about an event. */
  within(event: number): string {
    const inside = <T extends { first_event: number; last_event: number; name: string }>(
      rows: T[],
    ) => rows.filter((row) => row.first_event <= event && event <= row.last_event);
    const steps = inside(this.device.steps).map(({ name, number }) => name || `step ${number}`);
    const names = inside(this.device.annotations)
      .sort((a, b) => b.first_event - a.first_event)
      .slice(0, 2)
      .map(({ name }) => name);
    return [...new Set([...steps, ...names])].join(" \u203a ");
  }

  moment_text(event: number): string {
    const x = this.axis.x_of(event);
    const clock = this.model.axis("time");
    const place =
      event < 0 || event === none_u32
        ? "before the first event"
        : `event ${this.model.axis("event").text(event, 1)}`;
    if (clock.kind !== "time") return place;
    const seconds = this.axis.kind === "time" ? x : clock.x_of(event);
    return `${place} \u00b7 ${clock.text(seconds, 1e-4)}`;
  }
}

/** All runs of the page, and what does not depend on the state. */
export class models {
  readonly palette: site_palette;
  readonly #models: device_model[][];
  readonly #words: (string[] | undefined)[] = [];

  constructor(readonly page: page_data) {
    this.palette = new site_palette(page.runs);
    this.#models = page.runs.map(() => []);
  }

  model(run: number, device: number): device_model {
    return (this.#models[run][device] ??= new device_model(
      this.page.runs[run].device(device),
      this.page.runs[run].measure,
    ));
  }

  /** The device with this number in another run, or its first one. */
  like(run: number, number: number): device_model {
    return this.model(run, Math.max(0, this.page.runs[run].device_numbers.indexOf(number)));
  }

  /** One flag a site, or null where nothing is looked for. */
  found(run: run, query: string): Uint8Array | null {
    const wanted = query.trim().toLowerCase();
    if (wanted === "") return null;
    return Uint8Array.from(this.#words_of(run), (text) => Number(text.includes(wanted)));
  }

  /** What a search looks at. */
  #words_of(run: run): string[] {
    const index = this.page.runs.indexOf(run);
    return (this.#words[index] ??= run.sites.map(({ site, label, file }) =>
      `${site}\n${label}\n${file}`.toLowerCase(),
    ));
  }
}
