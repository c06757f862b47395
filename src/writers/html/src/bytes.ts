// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The one place that turns numbers into text; bytes as src/base/byte_text.cpp writes them.
import type { exactness } from "./data";

interface unit {
  name: string;
  bytes: number;
  digits: number;
}

const units: unit[] = [
  { name: "B", bytes: 1, digits: 0 },
  { name: "KiB", bytes: 2 ** 10, digits: 2 },
  { name: "MiB", bytes: 2 ** 20, digits: 2 },
  { name: "GiB", bytes: 2 ** 30, digits: 3 },
  { name: "TiB", bytes: 2 ** 40, digits: 3 },
  { name: "PiB", bytes: 2 ** 50, digits: 3 },
];
const most_digits = 9;

/** Ties go to the even digit, as in C++; toFixed would round them up. */
function fixed(value: number, digits: number): string {
  const scaled = Math.abs(value) * 10 ** digits;
  let whole = Math.floor(scaled);
  const rest = scaled - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) ++whole;
  const text = String(whole).padStart(digits + 1, "0");
  const point = text.length - digits;
  const sign = value < 0 ? "-" : "";
  return sign + text.slice(0, point) + (digits > 0 ? "." + text.slice(point) : "");
}

/** The largest unit of which one is full after rounding. */
function unit_for(bytes: number): unit {
  const magnitude = Math.abs(bytes);
  const half_step = (in_unit: unit) => (in_unit.digits === 0 ? 0 : 0.5 / 10 ** in_unit.digits);
  const found = units.find((u) => magnitude / u.bytes < 1024 - half_step(u));
  return found ?? units[units.length - 1];
}

/** `512 B`, `1.50 KiB`, `779.21 MiB`, `11.506 GiB`. */
export function byte_text(bytes: number): string {
  const unit = unit_for(bytes);
  return `${fixed(bytes / unit.bytes, unit.digits)} ${unit.name}`;
}

export function signed_byte_text(bytes: number): string {
  return (bytes > 0 ? "+" : "") + byte_text(bytes);
}

/** `11.49-11.52 GiB`, or both in full where their units differ. */
export function byte_range_text(low: number, high: number): string {
  if (low === high) return byte_text(low);
  const unit = unit_for(high);
  if (unit_for(low) !== unit || low < 0) return `${byte_text(low)} - ${byte_text(high)}`;
  const text = (bytes: number, digits: number) => fixed(bytes / unit.bytes, digits);
  let digits = unit.digits === 0 ? 0 : 2;
  while (text(low, digits) === text(high, digits) && digits < most_digits) ++digits;
  return `${text(low, digits)}-${text(high, digits)} ${unit.name}`;
}

export function exactness_text(value: exactness): string {
  if (value.exact) return byte_text(value.bytes);
  const about = value.low === value.high ? "about " : "";
  const reason = value.reason === "" ? "" : ` (${value.reason})`;
  return about + byte_range_text(value.low, value.high) + reason;
}

/** `12,345,678 bytes`: to the last digit. */
export function digits_text(bytes: number): string {
  return many(bytes, "byte");
}

/** `1 site`, `1,204 sites`. */
export function many(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count_text(count)} ${noun}s`;
}

export function count_text(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function share_text(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "";
}

/** Seconds since the trace began; `precision` in seconds says how many digits mean something. */
export function seconds_text(seconds: number, precision = 1e-6): string {
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(precision) - 1e-9)));
  return `${seconds.toFixed(digits)} s`;
}

/** Steps of a byte axis: powers of two, so that ticks are round numbers of their unit. */
export const byte_increments = Array.from({ length: 54 }, (_, power) => 2 ** power);

/** A tick: the unit of the largest tick, no more digits than the step between ticks needs. */
export function tick_text(bytes: number, step: number, largest: number): string {
  if (bytes === 0) return "0";
  const unit = [...units].reverse().find((u) => Math.abs(largest) >= u.bytes) ?? units[0];
  const digits = Math.min(4, Math.max(0, Math.ceil(Math.log2(unit.bytes / step))));
  return `${Number((bytes / unit.bytes).toFixed(digits))} ${unit.name}`;
}
