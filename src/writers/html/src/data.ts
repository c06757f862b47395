// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What the program wrote into the page, decoded: docs/page-data.md describes the format.

export type measure = "allocated" | "active" | "reserved";
export const measures: measure[] = ["allocated", "active", "reserved"];

export type exactness =
  { exact: true; bytes: number } | { exact: false; low: number; high: number; reason: string };

/** Events and rows are u32; this one is an event before the first, or no stack. */
export const none_u32 = 0xffffffff;

export interface frame {
  function: string;
  file: string;
  line: number;
  link: string;
}
export interface site {
  site: string;
  label: string;
  file: string;
  line: number;
  link: string;
}
export interface audit_row {
  level: string;
  message: string;
  advice: string;
}

export interface curve {
  start_bytes: number;
  peak_bytes: number;
  peak_event: number;
  end_bytes: number;
  low: Float64Array;
  high: Float64Array;
}

export interface peak {
  bytes: number;
  event: number;
  seconds: number | null;
  within: string;
  global: boolean;
}

export interface oom {
  event: number;
  seconds: number | null;
  requested_bytes: number;
  device_free_bytes: number;
  site: string;
  within: string;
}

export interface step {
  number: number;
  name: string;
  first_event: number;
  last_event: number;
  complete: boolean;
}

export interface annotation {
  name: string;
  first_event: number;
  last_event: number;
}
export interface finding {
  kind: string;
  text: string;
  bytes: number;
}

export interface areas {
  event: Uint32Array;
  sites: Uint32Array;
  bytes: Float64Array;
}

export interface lifetimes {
  birth: Uint32Array;
  end: Uint32Array;
  bytes: Float64Array;
  stack: Uint32Array;
  first_vertex: Uint32Array;
  vertex_event: Uint32Array;
  vertex_bytes: Float64Array;
}

export interface flames {
  event: Uint32Array;
  first_row: Uint32Array;
  stack: Uint32Array;
  bytes: Float64Array;
  tensors: Uint32Array;
  rest_bytes: Float64Array;
  rest_tensors: Float64Array;
}

export interface segment {
  address: string;
  bytes: number;
  stream: number;
  pool: [number, number];
  small: boolean;
  expandable: boolean;
  first_block: number;
  blocks: number;
}

export interface segment_map {
  event: number;
  seconds: number | null;
  is_oom: boolean;
  exact: boolean;
  reason: string;
  unplaced_bytes: number;
  segments: segment[];
  block_offset: Float64Array;
  block_bytes: Float64Array;
  block_requested: Float64Array;
  block_state: Uint8Array;
  block_stack: Uint32Array;
}

export interface device {
  device: number;
  events: number;
  span_seconds: number | null;
  has_times: boolean;
  exactness: exactness;
  max_memory_allocated: exactness;
  first_event: Uint32Array;
  seconds: Float64Array | null;
  curves: Record<measure, curve>;
  peaks: peak[];
  ooms: oom[];
  steps: step[];
  annotations: annotation[];
  findings: finding[];
  audit: audit_row[];
  areas: areas;
  lifetimes: lifetimes;
  flames: flames;
  map: segment_map | null;
}

export interface run {
  label: string;
  file: string;
  measure: measure;
  sizes: string;
  carried_in: string;
  project_root: string;
  audit: audit_row[];
  frames: frame[];
  first_frame: Uint32Array;
  stack_frame: Uint32Array;
  stack_site: Uint32Array;
  sites: site[];
  /** Decoded when first asked for: a page may hold eight devices and show one. */
  device(index: number): device;
  device_numbers: number[];
  /** Of each device, the sites of its areas, the largest first. */
  area_sites: Uint32Array[];
}

export interface page_data {
  program: string;
  runs: run[];
}

// What JSON.parse gives; the columns are decoded by name below.
type json = any;

function bytes_of(base64: string): ArrayBuffer {
  // Newer browsers have a function for it, several times as fast.
  const from_base64 = (Uint8Array as any).fromBase64;
  if (from_base64 !== undefined) return from_base64.call(Uint8Array, base64).buffer;
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

const f64 = (column: json) => new Float64Array(bytes_of(column.f64));
const u32 = (column: json) => new Uint32Array(bytes_of(column.u32));
const u8 = (column: json) => new Uint8Array(bytes_of(column.u8));
/** Counts come as either width. */
const numbers = (column: json): Float64Array =>
  column.f64 === undefined ? Float64Array.from(u32(column)) : f64(column);

function decode_curve(source: json): curve {
  return { ...source, low: f64(source.low), high: f64(source.high) };
}

function decode_map(source: json): segment_map {
  return {
    ...source,
    block_offset: f64(source.block_offset),
    block_bytes: f64(source.block_bytes),
    block_requested: f64(source.block_requested),
    block_state: u8(source.block_state),
    block_stack: u32(source.block_stack),
  };
}

/** Of a trace without events: what is there at the start stays. */
function still_curve(source: json): curve {
  const bytes = Float64Array.of(source.start_bytes);
  return { ...source, low: bytes, high: bytes };
}

function decode_device(source: json): device {
  const { curves, areas, lifetimes, flames } = source;
  const is_still = source.events === 0;
  const curve = is_still ? still_curve : decode_curve;
  return {
    ...source,
    first_event: is_still ? Uint32Array.of(0, 1) : u32(curves.first_event),
    seconds: is_still || curves.seconds === null ? null : f64(curves.seconds),
    curves: {
      allocated: curve(curves.allocated),
      active: curve(curves.active),
      reserved: curve(curves.reserved),
    },
    areas: { event: u32(areas.event), sites: u32(areas.sites), bytes: f64(areas.bytes) },
    lifetimes: {
      birth: u32(lifetimes.birth),
      end: u32(lifetimes.end),
      bytes: f64(lifetimes.bytes),
      stack: u32(lifetimes.stack),
      first_vertex: u32(lifetimes.first_vertex),
      vertex_event: u32(lifetimes.vertex_event),
      vertex_bytes: f64(lifetimes.vertex_bytes),
    },
    flames: {
      event: u32(flames.event),
      first_row: u32(flames.first_row),
      stack: u32(flames.stack),
      bytes: f64(flames.bytes),
      tensors: u32(flames.tensors),
      rest_bytes: f64(flames.rest_bytes),
      rest_tensors: numbers(flames.rest_tensors),
    },
    map: source.map === null ? null : decode_map(source.map),
  };
}

function decode_run(source: json): run {
  const decoded: device[] = [];
  return {
    ...source,
    first_frame: u32(source.stacks.first),
    stack_frame: u32(source.stacks.frame),
    stack_site: u32(source.stack_site),
    device_numbers: source.devices.map((device: json) => device.device),
    area_sites: source.devices.map((device: json) => u32(device.areas.sites)),
    device: (index: number) => (decoded[index] ??= decode_device(source.devices[index])),
  };
}

export function decode_page(text: string): page_data {
  const source: json = JSON.parse(text);
  const schema = String(source.schema);
  if (!schema.startsWith("memreplay.timeline/1")) throw new Error(`unknown schema ${schema}`);
  return { program: source.program, runs: source.runs.map(decode_run) };
}

/** The frames of a stack, innermost first. */
export function frames_of(run: run, stack: number): frame[] {
  if (stack >= run.stack_site.length) return [];
  const rows = run.stack_frame.subarray(run.first_frame[stack], run.first_frame[stack + 1]);
  return Array.from(rows, (row) => run.frames[row]);
}

/** The site of a stack, or -1 where the stack is unknown. */
export function site_of(run: run, stack: number): number {
  return stack < run.stack_site.length ? run.stack_site[stack] : -1;
}
