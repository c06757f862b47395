// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The horizontal axis: event index or seconds, and the way between them.
import { count_text, seconds_text } from "./bytes";
import { type device, none_u32 } from "./data";

export type axis_kind = "event" | "time";

const increments = (first_power: number, last_power: number) =>
  Array.from({ length: last_power - first_power }, (_, i) => first_power + i).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  );
const event_increments = increments(0, 10);
const second_increments = increments(-6, 7);

/** First index whose value is not below x; the values ascend. */
export function lower_bound(values: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First index whose value is above x. */
export function upper_bound(values: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Places events on the axis. An event's value holds from its place to that of the next event. The
 * clock is known where buckets begin; between these, events lie evenly.
 */
export class time_axis {
  readonly kind: axis_kind;
  readonly first_event: Uint32Array;
  /** Where each bucket begins, and where the last one ends. */
  readonly starts: ArrayLike<number>;

  constructor(device: device, kind: axis_kind) {
    this.kind = device.seconds === null ? "event" : kind;
    this.first_event = device.first_event;
    this.starts = this.kind === "time" ? device.seconds! : device.first_event;
  }

  get begin(): number {
    return this.starts[0];
  }

  get end(): number {
    return this.starts[this.starts.length - 1];
  }

  x_of(event: number): number {
    if (event === none_u32 || event < 0) return this.begin;
    if (this.kind === "event") return event;
    const bucket = this.bucket_of(event);
    const first = this.first_event[bucket];
    const width = this.first_event[bucket + 1] - first;
    const part = width > 0 ? Math.min(1, (event - first) / width) : 0;
    const start = this.starts[bucket];
    return start + part * (this.starts[bucket + 1] - start);
  }

  /** With a fraction, so that a window can end between two events. */
  event_at(x: number): number {
    if (this.kind === "event") return Math.max(0, Math.min(x, this.end));
    const bucket = Math.max(0, Math.min(upper_bound(this.starts, x), this.starts.length - 1) - 1);
    const start = this.starts[bucket];
    const width = this.starts[bucket + 1] - start;
    const part = width > 0 ? Math.max(0, Math.min(1, (x - start) / width)) : 0;
    const first = this.first_event[bucket];
    return first + part * (this.first_event[bucket + 1] - first);
  }

  bucket_of(event: number): number {
    const buckets = this.first_event.length - 1;
    const found = upper_bound(this.first_event, Math.max(0, event)) - 1;
    return Math.max(0, Math.min(found, buckets - 1));
  }

  /** The buckets of which a part lies in [from, to); one at least. */
  buckets_between(from: number, to: number): [number, number] {
    const buckets = this.starts.length - 1;
    let first = lower_bound(this.starts, from);
    if (first > buckets || this.starts[first] > from) --first;
    first = Math.max(0, Math.min(first, buckets - 1));
    const last = Math.min(buckets, Math.max(first + 1, lower_bound(this.starts, to)));
    return [first, last];
  }

  /** Steps between ticks: events are whole. */
  get increments(): number[] {
    return this.kind === "event" ? event_increments : second_increments;
  }

  text(x: number, step: number): string {
    if (this.kind === "time") return seconds_text(x, step);
    return count_text(Math.round(x));
  }
}
