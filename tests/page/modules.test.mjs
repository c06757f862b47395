// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The modules below the views: texts of numbers, the axis, the curve at every zoom, the hash.
import assert from "node:assert/strict";
import { test } from "node:test";
import { page_module } from "./browser.mjs";
import { small_page } from "./page_data.mjs";

const bytes = await page_module("bytes");
const data = await page_module("data");
const axis = await page_module("axis");
const pyramids = await page_module("pyramid");
const states = await page_module("state");
const dom = await page_module("dom");

const page = data.decode_page(JSON.stringify(small_page()));
const device = page.runs[0].device(0);

test("bytes read as the program writes them", () => {
  // The expected texts are those of tests/base/byte_text_test.cpp and of fmt.
  const expected = [
    [0, "0 B"],
    [512, "512 B"],
    [1023, "1023 B"],
    [1024, "1.00 KiB"],
    [1152, "1.12 KiB"],
    [1408, "1.38 KiB"],
    [2688, "2.62 KiB"],
    [1048575, "1.00 MiB"],
    [817065984, "779.21 MiB"],
    [12354473452, "11.506 GiB"],
    [-3355443, "-3.20 MiB"],
    [2 ** 40, "1.000 TiB"],
  ];
  for (const [value, text] of expected) assert.equal(bytes.byte_text(value), text);
  assert.equal(bytes.signed_byte_text(2 ** 30), "+1.000 GiB");
  assert.equal(bytes.signed_byte_text(0), "0 B");
  assert.equal(bytes.byte_range_text(2 ** 30, 2 ** 30), "1.000 GiB");
  assert.equal(bytes.byte_range_text(12337293565, 12369505812), "11.49-11.52 GiB");
  assert.equal(bytes.byte_range_text(2 ** 30, 2 ** 30 + 1), "1.000000000-1.000000001 GiB");
  assert.equal(bytes.byte_range_text(2 ** 20, 2 ** 30), "1.00 MiB - 1.000 GiB");
  assert.equal(bytes.digits_text(1234567), "1,234,567 bytes");
  assert.equal(
    bytes.exactness_text({ exact: false, low: 2 ** 30, high: 2 ** 30, reason: "cut" }),
    "about 1.000 GiB (cut)",
  );
});

test("ticks carry one unit and no more digits than they need", () => {
  assert.equal(bytes.tick_text(0, 2 ** 30, 2 ** 32), "0");
  assert.equal(bytes.tick_text(3 * 2 ** 30, 2 ** 30, 2 ** 32), "3 GiB");
  assert.equal(bytes.tick_text(2 ** 29, 2 ** 29, 2 ** 32), "0.5 GiB");
  assert.equal(bytes.tick_text(-(2 ** 29), 2 ** 29, 2 ** 32), "-0.5 GiB");
});

test("an event's place and the event at that place agree on both axes", () => {
  for (const kind of ["event", "time"]) {
    const on = new axis.time_axis(device, kind);
    assert.equal(on.kind, kind);
    for (const event of [0, 1, 7, 480, 1599]) {
      assert.ok(Math.abs(on.event_at(on.x_of(event)) - event) < 1e-6, `${kind} ${event}`);
    }
    assert.equal(on.x_of(0xffffffff), on.begin);
    assert.equal(on.event_at(on.end), device.events);
  }
});

test("a trace without times has one axis", () => {
  const clockless = data
    .decode_page(JSON.stringify(small_page({ has_times: false })))
    .runs[0].device(0);
  assert.equal(new axis.time_axis(clockless, "time").kind, "event");
});

test("buckets of equal time lie in one column, and none is lost", () => {
  const frozen = {
    first_event: Uint32Array.of(0, 1, 2, 3, 4),
    seconds: Float64Array.of(0, 1, 1, 1, 2),
  };
  const on = new axis.time_axis(frozen, "time");
  assert.deepEqual(on.buckets_between(0.5, 1), [0, 1]);
  assert.deepEqual(on.buckets_between(1, 1.5), [1, 4]);
});

test("the curve is exact at every zoom", () => {
  const curve = device.curves.allocated;
  const pyramid = new pyramids.pyramid(curve);
  const on = new axis.time_axis(device, "event");
  for (const [first, last] of [
    [0, 1600],
    [3, 4],
    [7, 9],
    [1, 1599],
    [511, 513],
    [64, 128],
  ]) {
    const { low, high } = pyramid.between(first, last);
    assert.equal(
      low,
      Math.min(...curve.low.subarray(first, last), ...(first ? [] : [curve.start_bytes])),
    );
    assert.equal(high, Math.max(...curve.high.subarray(first, last)));
  }
  for (const kind of ["event", "time"]) {
    const over = new axis.time_axis(device, kind);
    for (const columns of [1, 2, 3, 7, 100, 641, 1600, 5000]) {
      const { low, high } = pyramids.sample(pyramid, over, over.begin, over.end, columns);
      assert.equal(Math.max(...high), curve.peak_bytes, `${kind}, ${columns} columns`);
      assert.equal(Math.min(...low), Math.min(curve.start_bytes, ...curve.low));
    }
  }
  const { high } = pyramids.sample(pyramid, on, 100, 200, 100);
  assert.deepEqual(high, Array.from(curve.high.subarray(100, 200)));
});

test("a peak before the first event is on the curve", () => {
  const curve = { start_bytes: 100, low: Float64Array.of(10, 20), high: Float64Array.of(15, 25) };
  const on = new axis.time_axis({ first_event: Uint32Array.of(0, 1, 2), seconds: null }, "event");
  const { high } = pyramids.sample(new pyramids.pyramid(curve), on, 0, 2, 4);
  assert.deepEqual(high, [100, 100, 25, 25]);
});

test("an empty trace has no columns, and nothing breaks", () => {
  const curve = { start_bytes: 5, low: new Float64Array(), high: new Float64Array() };
  const on = new axis.time_axis({ first_event: Uint32Array.of(0), seconds: null }, "event");
  const { high } = pyramids.sample(new pyramids.pyramid(curve), on, 0, 1, 3);
  assert.deepEqual(
    high.filter((bytes) => bytes !== null && Number.isFinite(bytes)),
    [],
  );
});

const initial = {
  run: 0,
  device: 0,
  axis: "event",
  delta: false,
  shown: ["allocated"],
  window: null,
  event: null,
  query: "",
  site: null,
  lifetime: null,
  theme: null,
};
const limits = { runs: 2, devices: () => 2 };

test("the hash keeps the whole state", () => {
  const state = {
    run: 1,
    device: 1,
    axis: "time",
    delta: true,
    shown: ["active", "reserved"],
    window: [10.25, 99],
    event: 42,
    query: "a b&c=</script>",
    site: 3,
    lifetime: 7,
    theme: "dark",
  };
  assert.deepEqual(states.from_hash(`#${states.to_hash(state, initial)}`, initial, limits), state);
  assert.equal(states.to_hash(initial, initial), "");
});

test("a hash that does not fit is left out", () => {
  const odd = "#run=9&device=-1&x=<b>&zoom=9-3&event=1e9&site=x&theme=javascript:&show=";
  const state = states.from_hash(odd, initial, limits);
  assert.deepEqual({ ...state, shown: initial.shown }, initial);
});

test("letters that steer others are shown", () => {
  assert.equal(
    dom.visible("a\u202eb\u0000\n"),
    "a\u27e8U+202E\u27e9b\u27e8U+0000\u27e9\u27e8U+000A\u27e9",
  );
  assert.equal(dom.visible("\u05e9\u05dc\u05d5\u05dd \u00e9"), "\u05e9\u05dc\u05d5\u05dd \u00e9");
});
