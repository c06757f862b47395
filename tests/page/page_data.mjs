// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Data of pages by docs/page-data.md, made from a simulated trace, so that all numbers agree.

const column = (key, array) => ({
  [key]: Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64"),
});
export const f64 = (values) => column("f64", Float64Array.from(values));
export const u32 = (values) =>
  column(
    "u32",
    Uint32Array.from(values, (value) => value >>> 0),
  );
export const u8 = (values) => column("u8", Uint8Array.from(values));
export const MIB = 2 ** 20;
const most_buckets = 32768;
const before = 0xffffffff;

/** The same numbers for the same seed, everywhere. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const hostile = [
  "</script><script>window.hurt = 1</script>",
  "\"'><img src=x onerror='window.hurt = 1'>",
  "\u202egnirts\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
  "<!--<script>",
  "&lt;b&gt; ${window.hurt = 1} \u2028 \u0000 \\u003c/script>",
];

/** Sites, with the stacks that lead to them; some names are hostile. */
function names(odd) {
  const path = (index) =>
    odd && index < hostile.length ? `/src/${hostile[index]}.py` : "/src/model.py";
  const sites = Array.from({ length: 8 }, (_, i) => ({
    file: path(i),
    line: 10 + 7 * i,
    site: `${path(i).slice(5)}:${10 + 7 * i} ${["forward", "attention", "mlp", "loss"][i % 4]}`,
    label: `Block${i}.forward`,
    link: odd && i === 0 ? "javascript:window.hurt=1" : `vscode://file${path(i)}:${10 + 7 * i}`,
  }));
  const place = (f, file, line) => ({
    function: f,
    file,
    line,
    link: `vscode://file${file}:${line}`,
  });
  const frames = [
    place("main", "/src/train.py", 90),
    place("train_step", "/src/train.py", 57),
    place("_call_impl", "/lib/torch/module.py", 1501),
    place("optimizer_step", "/src/train.py", 61),
  ];
  const stacks = [];
  sites.forEach((site, i) => {
    const own =
      frames.push({
        ...place(odd ? hostile[i % hostile.length] : "forward", site.file, site.line),
        link: site.link,
      }) - 1;
    const deep = frames.push(place("at::native::empty_cuda(...)", "??", 0)) - 1;
    frames[deep].link = "";
    stacks.push(
      { frames: [deep, own, 2, 1, 0], site: i },
      { frames: [own, i % 2 ? 3 : 1, 0], site: i },
    );
  });
  sites.push({ site: "before the trace", label: "", file: "", line: 0, link: "" });
  stacks.push({ frames: [], site: sites.length - 1 });
  return { sites, frames, stacks };
}

/** Lifetimes on stacks, by order of birth; frees come at their ends. */
function simulate(events, stack_count, seed) {
  const next = random(seed);
  const lifetimes = [];
  for (let i = 0; i < 6; ++i) {
    lifetimes.push({
      birth: -1,
      end: i === 0 ? Math.floor(events / 3) : events,
      bytes: 150 * MIB,
      stack: stack_count - 1,
    });
  }
  const open = [];
  const steps = 5;
  for (let event = 0; event < events; ++event) {
    const part = ((event * steps) / events) % 1;
    const grows = next() < (part < 0.5 ? 0.8 : 0.25);
    if (grows || open.length === 0) {
      const lifetime = {
        birth: event,
        end: events,
        stack: Math.floor(next() ** 2 * (stack_count - 1)),
        bytes: 512 * Math.ceil(next() ** 4 * 200000),
      };
      lifetimes.push(lifetime);
      open.push(lifetime);
    } else {
      const at = next() < 0.8 ? open.length - 1 : Math.floor(next() * open.length);
      open.splice(at, 1)[0].end = event;
    }
  }
  return lifetimes;
}

function curve_of(lifetimes, events, late) {
  const change = new Float64Array(events);
  let start = 0;
  for (const { birth, end, bytes } of lifetimes) {
    if (birth < 0) start += bytes;
    else change[birth] += bytes;
    const freed = end + late;
    if (freed < events) change[freed] -= bytes;
  }
  let bytes = start;
  return { start, values: change.map((delta) => (bytes += delta)) };
}

function reserved_of({ start, values }) {
  let held = Math.ceil(start / (20 * MIB)) * 20 * MIB;
  return {
    start: held,
    values: values.map(
      (bytes) => (held = Math.max(held, Math.ceil((bytes * 1.05) / (20 * MIB)) * 20 * MIB)),
    ),
  };
}

function pack_curve({ start, values }, first_event) {
  const buckets = first_event.length - 1;
  const low = new Float64Array(buckets).fill(Infinity);
  const high = new Float64Array(buckets).fill(-Infinity);
  let peak = start;
  let peak_event = -1;
  for (let bucket = 0; bucket < buckets; ++bucket) {
    for (let event = first_event[bucket]; event < first_event[bucket + 1]; ++event) {
      low[bucket] = Math.min(low[bucket], values[event]);
      high[bucket] = Math.max(high[bucket], values[event]);
      if (values[event] > peak) [peak, peak_event] = [values[event], event];
    }
  }
  return {
    start_bytes: start,
    peak_bytes: peak,
    peak_event,
    low: f64(low),
    high: f64(high),
    end_bytes: values.at(-1) ?? start,
  };
}

/** Lower edges: in order of birth, falling when one below ends. At most `most` vertices. */
function stack_up(lifetimes, most) {
  const by_birth = [...lifetimes].sort((a, b) => a.birth - b.birth);
  const moves = by_birth
    .flatMap((lifetime) => [
      [lifetime.birth, 1, lifetime],
      [lifetime.end, 0, lifetime],
    ])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const open = [];
  const edges = new Map(by_birth.map((lifetime) => [lifetime, []]));
  let top = 0;
  let count = 0;
  for (const [event, is_birth, lifetime] of moves) {
    if (is_birth) {
      edges.get(lifetime).push([event, top]);
      ++count;
      open.push(lifetime);
      top += lifetime.bytes;
    } else {
      const at = open.indexOf(lifetime);
      open.splice(at, 1);
      top -= lifetime.bytes;
      for (const above of open.slice(at)) {
        if (count >= most) break;
        const own = edges.get(above);
        own.push([event, own.at(-1)[1] - lifetime.bytes]);
        ++count;
      }
    }
  }
  const first = [0];
  for (const lifetime of by_birth) first.push(first.at(-1) + edges.get(lifetime).length);
  const vertices = by_birth.flatMap((lifetime) => edges.get(lifetime));
  return {
    birth: u32(by_birth.map(({ birth }) => birth)),
    end: u32(by_birth.map(({ end }) => end)),
    bytes: f64(by_birth.map(({ bytes }) => bytes)),
    stack: u32(by_birth.map(({ stack }) => stack)),
    first_vertex: u32(first),
    vertex_event: u32(vertices.map(([event]) => event)),
    vertex_bytes: f64(vertices.map(([, bytes]) => bytes)),
  };
}

const live_at = (lifetimes, event) =>
  lifetimes.filter(({ birth, end }) => birth <= event && end > event);

function areas_of(lifetimes, values, stacks, moments, seconds_at) {
  const events = values.length;
  const parts = Math.min(moments, events);
  const event = Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * events) / parts);
    const to = Math.floor(((part + 1) * events) / parts);
    let best = from;
    for (let e = from; e < to; ++e) if (values[e] > values[best]) best = e;
    return best;
  });
  const sites = [0, 1, 2, 3, 4, 5];
  const rows = sites.length + 2;
  const bytes = new Float64Array(rows * parts);
  event.forEach((at, m) => {
    for (const lifetime of live_at(lifetimes, at)) {
      const row = lifetime.birth < 0 ? rows - 1 : sites.indexOf(stacks[lifetime.stack].site);
      bytes[(row < 0 ? rows - 2 : row) * parts + m] += lifetime.bytes;
    }
  });
  return {
    event,
    packed: {
      event: u32(event),
      seconds: f64(event.map(seconds_at)),
      sites: u32(sites),
      bytes: f64(bytes),
    },
  };
}

function flames_of(lifetimes, events, most_rows) {
  const first = [0];
  const rows = [];
  const rest = [];
  for (const event of events) {
    const sums = new Map();
    for (const { stack, bytes } of live_at(lifetimes, event)) {
      const [sum, count] = sums.get(stack) ?? [0, 0];
      sums.set(stack, [sum + bytes, count + 1]);
    }
    const sorted = [...sums].sort((a, b) => b[1][0] - a[1][0]);
    rows.push(...sorted.slice(0, most_rows));
    first.push(rows.length);
    const others = sorted.slice(most_rows);
    rest.push([
      others.reduce((sum, row) => sum + row[1][0], 0),
      others.reduce((sum, row) => sum + row[1][1], 0),
    ]);
  }
  return {
    event: u32(events),
    first_row: u32(first),
    stack: u32(rows.map(([stack]) => stack)),
    bytes: f64(rows.map(([, [bytes]]) => bytes)),
    tensors: u32(rows.map(([, [, count]]) => count)),
    rest_bytes: f64(rest.map(([bytes]) => bytes)),
    rest_tensors: f64(rest.map(([, count]) => count)),
  };
}

function map_of(lifetimes, event, seconds, seed, most_blocks) {
  const next = random(seed);
  const segments = [];
  const block = { offset: [], bytes: [], requested: [], state: [], stack: [] };
  const live = live_at(lifetimes, event).slice(0, most_blocks);
  let at = 0;
  const add = (offset, bytes, requested, state, stack) => {
    block.offset.push(offset);
    block.bytes.push(bytes);
    block.requested.push(requested);
    block.state.push(state);
    block.stack.push(stack);
    return offset + bytes;
  };
  while (at < live.length) {
    const first_block = block.offset.length;
    let offset = 0;
    const blocks = 1 + Math.floor(next() * 40);
    for (let i = 0; i < blocks && at < live.length; ++i, ++at) {
      offset = add(offset, live[at].bytes, live[at].bytes - 100, 1, live[at].stack);
      if (next() < 0.3)
        offset = add(offset, 512 * Math.ceil(next() * 9000), 0, next() < 0.2 ? 2 : 0, before);
    }
    const small = segments.length % 5 === 4;
    segments.push({
      address: `0x7f${(segments.length * 0x4000000).toString(16).padStart(10, "0")}`,
      bytes: offset,
      stream: segments.length % 3 === 2 ? 7 : 0,
      pool: [0, segments.length % 4 === 3 ? 1 : 0],
      small,
      expandable: segments.length === 0,
      first_block,
      blocks: block.offset.length - first_block,
    });
  }
  return {
    event,
    seconds,
    is_oom: event > 0,
    exact: true,
    reason: "",
    unplaced_bytes: 0,
    segments,
    block_offset: f64(block.offset),
    block_bytes: f64(block.bytes),
    block_requested: f64(block.requested),
    block_state: u8(block.state),
    block_stack: u32(block.stack),
  };
}

function buckets_of(events) {
  const buckets = Math.min(events, most_buckets);
  return Array.from({ length: buckets + 1 }, (_, i) => Math.floor((i * events) / buckets));
}

function make_device(
  index,
  { events, seed, stacks, most_vertices, moments, most_blocks, has_times },
) {
  const lifetimes = simulate(events, stacks.length, seed);
  const allocated = curve_of(lifetimes, events, 0);
  const active = curve_of(lifetimes, events, 2);
  const first_event = buckets_of(events);
  // The clock runs fast at first, and slower later.
  const seconds_at = (event) => (event < 0 ? 0 : 12 * (event / events) ** 1.5);
  const packed = pack_curve(allocated, first_event);
  const peak = packed.peak_event;
  const areas = areas_of(lifetimes, allocated.values, stacks, moments, seconds_at);
  const oom = Math.floor(events * 0.9);
  const peaks = [peak, Math.floor(events * 0.28), Math.floor(events * 0.7)].map((event, i) => ({
    bytes: allocated.values[event],
    event,
    seconds: has_times ? seconds_at(event) : null,
    within: "",
    global: i === 0,
  }));
  const step_at = (i) => Math.floor((i * events) / 5);
  const flame_events = [
    ...new Set([
      ...peaks.map(({ event }) => event),
      ...areas.event.filter((_, i) => i % Math.ceil(areas.event.length / 64) === 0),
    ]),
  ].sort((a, b) => a - b);
  const end_event = index === 0 ? oom : events - 1;
  return {
    device: index,
    events,
    span_seconds: has_times ? seconds_at(events) : null,
    has_times,
    exactness: { exact: true, bytes: packed.peak_bytes },
    max_memory_allocated: {
      exact: false,
      low: packed.peak_bytes,
      high: packed.peak_bytes + 3 * MIB,
      reason: "block sizes estimated",
    },
    curves: {
      first_event: u32(first_event),
      seconds: has_times ? f64(first_event.map(seconds_at)) : null,
      allocated: packed,
      active: pack_curve(active, first_event),
      reserved: pack_curve(reserved_of(active), first_event),
    },
    peaks,
    ooms:
      index === 0
        ? [
            {
              event: oom,
              seconds: has_times ? seconds_at(oom) : null,
              requested_bytes: 2 * 1024 * MIB,
              device_free_bytes: 900 * MIB,
              site: "model.py:10 forward",
              within: "ProfilerStep#4",
            },
          ]
        : [],
    steps: Array.from({ length: 5 }, (_, i) => ({
      number: i,
      name: `ProfilerStep#${i}`,
      first_event: step_at(i),
      last_event: step_at(i + 1) - 1,
      complete: i < 4,
    })),
    annotations: Array.from({ length: 5 }, (_, i) => ({
      name: "Optimizer.step#AdamW.step",
      first_event: Math.floor(((i + 0.7) * events) / 5),
      last_event: Math.floor(((i + 0.95) * events) / 5),
    })),
    findings: [
      { kind: "top_site", text: "model.py:10 forward holds 31 % of the peak", bytes: MIB },
    ],
    audit: [
      {
        level: "warning",
        message: "the ring buffer lost the first events",
        advice: "record with a larger max_entries",
      },
    ],
    areas: areas.packed,
    lifetimes: stack_up(lifetimes, most_vertices),
    flames: flames_of(lifetimes, flame_events, 400),
    map: map_of(lifetimes, end_event, has_times ? seconds_at(end_event) : null, seed, most_blocks),
  };
}

function make_run(label, options) {
  const { sites, frames, stacks } = names(options.odd ?? false);
  const first = [0];
  for (const stack of stacks) first.push(first.at(-1) + stack.frames.length);
  const devices = Array.from({ length: options.devices ?? 1 }, (_, i) =>
    make_device(i, {
      ...options,
      seed: (options.seed ?? 1) + i,
      stacks,
      events: options.events - 200 * i,
    }),
  );
  return {
    label,
    file: `/runs/${label}.pickle`,
    measure: "allocated",
    sizes: "requested",
    carried_in: "include",
    project_root: "/src",
    devices,
    audit: [],
    frames,
    stacks: { first: u32(first), frame: u32(stacks.flatMap(({ frames }) => frames)) },
    stack_site: u32(stacks.map(({ site }) => site)),
    sites,
  };
}

const usual = {
  events: 1600,
  devices: 2,
  moments: 256,
  most_vertices: 200000,
  most_blocks: 20000,
  has_times: true,
};

/** Some hundred lifetimes, 8 sites, 2 devices, steps, peaks, an OOM. */
export function small_page(options = {}) {
  return page([make_run("base", { ...usual, ...options })]);
}

export function two_runs() {
  return page([
    make_run("base", usual),
    make_run("longer batch", { ...usual, events: 1900, seed: 5 }),
  ]);
}

function page(runs) {
  return { schema: "memreplay.timeline/1", program: "memreplay 0.1.0", runs };
}

/** As large as the format allows: what a snapshot of 20 million events gives. */
export function large_page() {
  const events = 20000000;
  const buckets = most_buckets;
  const data = page([make_run("large", { ...usual, devices: 1, events: 20000, moments: 1024 })]);
  const [device] = data.runs[0].devices;
  const next = random(3);
  const first_event = Array.from({ length: buckets + 1 }, (_, i) =>
    Math.floor((i * events) / buckets),
  );
  const curve = (lift) => {
    const low = new Float64Array(buckets);
    const high = new Float64Array(buckets);
    let level = 20000 * MIB;
    for (let i = 0; i < buckets; ++i) {
      level = Math.max(9000 * MIB, level + (next() - 0.5) * 900 * MIB);
      low[i] = Math.floor(level) + lift;
      high[i] = low[i] + Math.floor(next() * 1500 * MIB);
    }
    const peak = high.reduce((a, b) => Math.max(a, b));
    const bucket = high.indexOf(peak);
    return {
      start_bytes: low[0],
      peak_bytes: peak,
      peak_event: first_event[bucket],
      end_bytes: low[buckets - 1],
      low: f64(low),
      high: f64(high),
    };
  };
  device.events = events;
  device.curves = {
    first_event: u32(first_event),
    seconds: f64(first_event.map((e) => e / 40000)),
    allocated: curve(0),
    active: curve(50 * MIB),
    reserved: curve(9000 * MIB),
  };
  device.exactness = { exact: true, bytes: device.curves.allocated.peak_bytes };
  device.span_seconds = events / 40000;
  const peak = device.curves.allocated;
  device.peaks = [
    {
      bytes: peak.peak_bytes,
      event: peak.peak_event,
      seconds: peak.peak_event / 40000,
      within: "",
      global: true,
    },
  ];
  device.ooms = [];
  device.steps = Array.from({ length: 40 }, (_, i) => ({
    number: i,
    name: `ProfilerStep#${i}`,
    first_event: i * 500000,
    last_event: (i + 1) * 500000 - 1,
    complete: true,
  }));
  device.annotations = Array.from({ length: 2000 }, (_, i) => ({
    name: `annotation ${i}`,
    first_event: i * 10000,
    last_event: i * 10000 + 8000,
  }));
  const count = 5000;
  const lifetimes = Array.from({ length: count }, () => {
    const birth = Math.floor(next() * events * 0.98);
    const long = next() < 0.3;
    return {
      birth,
      end: Math.min(events, birth + Math.ceil(next() * (long ? events : events / 100))),
      bytes: Math.ceil(next() ** 3 * 90 * MIB),
      stack: Math.floor(next() * 16),
    };
  });
  device.lifetimes = stack_up(lifetimes, 200000);
  const moments = 1024;
  const sites = 20;
  const high = new Float64Array(
    Uint8Array.from(Buffer.from(device.curves.allocated.high.f64, "base64")).buffer,
  );
  const at = Array.from({ length: moments }, (_, m) => Math.floor(((m + 0.5) * events) / moments));
  data.runs[0].sites = Array.from({ length: 300 }, (_, i) => ({
    site: `model.py:${i} forward`,
    label: "",
    file: "/src/model.py",
    line: i,
    link: "",
  }));
  device.areas = {
    event: u32(at),
    seconds: f64(at.map((e) => e / 40000)),
    sites: u32(Array.from({ length: sites }, (_, i) => i)),
    bytes: f64(
      Array.from({ length: (sites + 2) * moments }, (_, i) =>
        Math.floor(high[Math.floor((((i % moments) + 0.5) * buckets) / moments)] / (sites + 2)),
      ),
    ),
  };
  // 400 stacks of 40 frames at 70 moments.
  const run = data.runs[0];
  const place = (i) => ({
    function: `function_${i}`,
    file: `/src/file_${i % 50}.py`,
    line: i,
    link: "",
  });
  run.frames = Array.from({ length: 4000 }, (_, i) => place(i));
  const depth = 40;
  run.stacks = {
    first: u32(Array.from({ length: 2001 }, (_, i) => i * depth)),
    frame: u32(
      Array.from({ length: 2000 * depth }, (_, i) => {
        const up = depth - 1 - (i % depth);
        return up < 12
          ? up
          : (Math.floor(i / depth / 2 ** Math.max(0, 12 - up / 3)) * 17 + up) % 4000;
      }),
    ),
  };
  run.stack_site = u32(Array.from({ length: 2000 }, (_, i) => i % 300));
  const shown = 70;
  const flame_at = Array.from({ length: shown }, (_, m) =>
    Math.floor(((m + 0.5) * events) / shown),
  );
  device.flames = {
    event: u32(flame_at),
    first_row: u32(Array.from({ length: shown + 1 }, (_, i) => i * 400)),
    stack: u32(Array.from({ length: shown * 400 }, (_, i) => (i * 5) % 2000)),
    bytes: f64(Array.from({ length: shown * 400 }, () => Math.ceil(next() ** 4 * 900) * MIB)),
    tensors: u32(Array.from({ length: shown * 400 }, () => 3)),
    rest_bytes: f64(Array.from({ length: shown }, () => 100 * MIB)),
    rest_tensors: u32(Array.from({ length: shown }, () => 50)),
  };
  const blocks = 20000;
  const per_segment = 50;
  device.map = {
    event: events - 1,
    seconds: null,
    is_oom: false,
    exact: true,
    reason: "",
    unplaced_bytes: 0,
    segments: Array.from({ length: blocks / per_segment }, (_, i) => ({
      address: `0x7f${(i * 0x8000000).toString(16).padStart(10, "0")}`,
      bytes: per_segment * MIB,
      stream: 0,
      pool: [0, 0],
      small: false,
      expandable: false,
      first_block: i * per_segment,
      blocks: per_segment,
    })),
    block_offset: f64(Array.from({ length: blocks }, (_, i) => (i % per_segment) * MIB)),
    block_bytes: f64(Array.from({ length: blocks }, () => MIB)),
    block_requested: f64(Array.from({ length: blocks }, () => MIB - 100)),
    block_state: u8(Array.from({ length: blocks }, (_, i) => i % 4)),
    block_stack: u32(Array.from({ length: blocks }, (_, i) => i % 2000)),
  };
  return data;
}

/** The JSON text as the program writes it into the page. */
export function page_text(template, data) {
  const json = JSON.stringify(data)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  return template.replace("@PAGE_DATA@", () => json);
}
