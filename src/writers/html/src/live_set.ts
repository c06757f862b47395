// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live set at the moment that is nearest to the chosen one.
import { lower_bound } from "./axis";
import { type device, type run, none_u32, site_of } from "./data";

export interface live_row {
  stack: number;
  bytes: number;
  tensors: number;
}

export interface live_set {
  event: number;
  rows: live_row[];
  rest: { bytes: number; tensors: number };
  bytes: number;
}

function event_number(event: number): number {
  return event === none_u32 ? -1 : event;
}

export function nearest_moment({ flames: { event } }: device, wanted: number): number {
  const after = lower_bound(Array.from(event, event_number), wanted);
  if (after === 0) return 0;
  if (after === event.length) return after - 1;
  const is_before_nearer = wanted - event_number(event[after - 1]) <= event[after] - wanted;
  return is_before_nearer ? after - 1 : after;
}

export function live_set_at({ flames }: device, moment: number): live_set | null {
  if (flames.event.length === 0) return null;
  const rows: live_row[] = [];
  const rest = { bytes: flames.rest_bytes[moment], tensors: flames.rest_tensors[moment] };
  let bytes = rest.bytes;
  for (let row = flames.first_row[moment]; row < flames.first_row[moment + 1]; ++row) {
    rows.push({ stack: flames.stack[row], bytes: flames.bytes[row], tensors: flames.tensors[row] });
    bytes += flames.bytes[row];
  }
  return { event: event_number(flames.event[moment]), rows, rest, bytes };
}

/** By site; what is summed up in the rest has no site. */
export function by_site(run: run, live: live_set): Map<number, { bytes: number; tensors: number }> {
  const sums = new Map<number, { bytes: number; tensors: number }>();
  for (const { stack, bytes, tensors } of live.rows) {
    const site = site_of(run, stack);
    const sum = sums.get(site) ?? { bytes: 0, tensors: 0 };
    sums.set(site, { bytes: sum.bytes + bytes, tensors: sum.tensors + tensors });
  }
  return sums;
}
