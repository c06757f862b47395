// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A curve at every zoom: least and greatest bytes of any run of buckets, through coarser levels.
import type { time_axis } from "./axis";
import type { curve } from "./data";

interface level {
  low: Float64Array;
  high: Float64Array;
}
export interface bounds {
  low: number;
  high: number;
}

/** Buckets of one level that make one of the next. */
const fan = 8;

function coarser(fine: level): level {
  const size = Math.ceil(fine.low.length / fan);
  const low = new Float64Array(size);
  const high = new Float64Array(size);
  for (let i = 0; i < size; ++i) {
    low[i] = Math.min(...fine.low.subarray(i * fan, (i + 1) * fan));
    high[i] = Math.max(...fine.high.subarray(i * fan, (i + 1) * fan));
  }
  return { low, high };
}

export class pyramid {
  readonly levels: level[];

  /** What is there before the first event belongs to the first bucket. */
  constructor(curve: curve) {
    const ground: level = { low: curve.low.slice(), high: curve.high.slice() };
    if (ground.low.length > 0) {
      ground.low[0] = Math.min(ground.low[0], curve.start_bytes);
      ground.high[0] = Math.max(ground.high[0], curve.start_bytes);
    }
    this.levels = [ground];
    for (let top = ground; top.low.length > fan;) {
      top = coarser(top);
      this.levels.push(top);
    }
  }

  /** Over the buckets [first, last). */
  between(first: number, last: number): bounds {
    let low = Infinity;
    let high = -Infinity;
    const take = (from: level, index: number) => {
      low = Math.min(low, from.low[index]);
      high = Math.max(high, from.high[index]);
    };
    for (const here of this.levels) {
      const is_top = here === this.levels[this.levels.length - 1];
      while (first < last && (is_top || first % fan !== 0)) take(here, first++);
      while (first < last && last % fan !== 0) take(here, --last);
      first /= fan;
      last /= fan;
    }
    return { low, high };
  }
}

/** The curve in `count` columns of equal width; null where the run has no events. */
export interface columns {
  low: (number | null)[];
  high: (number | null)[];
}

export function sample(
  source: pyramid,
  axis: time_axis,
  from: number,
  to: number,
  count: number,
): columns {
  const low = new Array<number | null>(count).fill(null);
  const high = new Array<number | null>(count).fill(null);
  const width = (to - from) / count;
  for (let i = 0; i < count; ++i) {
    const begin = from + i * width;
    const end = i + 1 === count ? to : begin + width;
    if (end <= axis.begin && axis.end > axis.begin) continue;
    if (begin > axis.end) break;
    // The last column keeps what lies on its right border: nothing comes after it.
    const [first, last] = axis.buckets_between(begin, end >= axis.end ? Infinity : end);
    const bounds = source.between(first, last);
    low[i] = bounds.low;
    high[i] = bounds.high;
  }
  return { low, high };
}
