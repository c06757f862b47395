// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How long a page of 20 million events takes to open, and a frame of it to draw.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { close_browser, open_tab, write_page } from "./browser.mjs";
import { large_page } from "./page_data.mjs";

const most_open_ms = 1500;
/** In a browser without a GPU on a shared machine; JavaScript is a tenth of it. */
const most_frame_ms = 150;
/** Other programs may be busy; the page is as fast as its best try. */
const most_tries = 8;
const url = write_page(large_page());

after(close_browser);

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test("a page of 20 million events opens in time", { timeout: 120000 }, async (context) => {
  const times = [];
  await (await open_tab("about:blank")).page.close();
  for (let i = 0; i < most_tries && !times.some((ms) => ms < most_open_ms); ++i) {
    const started = performance.now();
    const { page, check } = await open_tab(url);
    times.push(performance.now() - started);
    check();
    await page.close();
  }
  const best = Math.min(...times);
  context.diagnostic(`open: ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  assert.ok(best < most_open_ms, `${best.toFixed(0)} ms`);
});

test("its window moves and zooms smoothly", { timeout: 120000 }, async (context) => {
  const { page, check } = await open_tab(url);
  const frames = await page.evaluate(async () => {
    const times = [];
    for (const key of ["+", "+", "ArrowLeft", "ArrowLeft", "ArrowRight", "+", "-", "-"]) {
      for (let i = 0; i < 4; ++i) {
        const started = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        // The next frame, and what the browser does for it.
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        times.push(performance.now() - started);
      }
    }
    return times;
  });
  check();
  await page.close();
  context.diagnostic(
    `frame: median ${median(frames).toFixed(0)} ms, ` +
      `longest ${Math.max(...frames).toFixed(0)} ms`,
  );
  assert.ok(median(frames) < most_frame_ms, `${median(frames).toFixed(0)} ms`);
});
