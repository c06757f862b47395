// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A real browser for the tests of the page: Debian's Chromium through playwright-core.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { page_text } from "./page_data.mjs";

/** The folder in which CMake built the page, with its packages. */
export const page_build = process.env.MEMREPLAY_PAGE_BUILD ?? "";
export const chromium_path = process.env.MEMREPLAY_CHROMIUM ?? "/usr/bin/chromium";

export const has_browser = () => existsSync(chromium_path);
export const package_of = (name) => createRequire(join(page_build, "package.json"))(name);

const folder = mkdtempSync(join(tmpdir(), "memreplay-page-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let browser = null;
let files = 0;

export async function close_browser() {
  await browser?.close();
  browser = null;
}

/** Writes the page with these data, as the program does, and returns its address. */
export function write_page(data) {
  const template = readFileSync(join(page_build, "page.html"), "utf8");
  const path = join(folder, `page-${++files}.html`);
  writeFileSync(path, page_text(template, data));
  return pathToFileURL(path).href;
}

/** A tab of 1280 x 800 that fails the test on any complaint and any request but for the page. */
export async function open_tab(url, hash = "") {
  const sandbox = process.getuid() === 0 ? ["--no-sandbox"] : [];
  browser ??= await package_of("playwright-core").chromium.launch({
    executablePath: chromium_path,
    args: sandbox,
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) complaints.push(`request of ${request.url()}`);
  });
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  await page.goto(url + hash);
  await settle(page);
  return { page, check: () => assert.deepEqual(complaints, []) };
}

/** All that a change starts has been drawn. */
export async function settle(page) {
  await page.evaluate(
    () =>
      new Promise((done) => {
        let frames = 3;
        const next = () => (--frames > 0 ? requestAnimationFrame(next) : setTimeout(done, 20));
        requestAnimationFrame(next);
      }),
  );
}

export async function hash_of(page) {
  await page.waitForTimeout(280);
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}

/** The plotting area of a chart. */
export const plot_box = (page, panel) => page.locator(`.${panel} .u-over`).first().boundingBox();

/** Moves the pointer to a place of a chart, as parts of its width and height. */
export async function point_at(page, panel, x, y = 0.5) {
  const box = await plot_box(page, panel);
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
  await settle(page);
}

export async function click_at(page, panel, x, y = 0.5) {
  const box = await plot_box(page, panel);
  await page.mouse.click(box.x + x * box.width, box.y + y * box.height);
  await settle(page);
}

export async function drag(page, panel, from, to) {
  const box = await plot_box(page, panel);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
  await page.mouse.up();
  await settle(page);
}

export const tooltip_text = async (page) => {
  const tip = page.locator("#tooltip");
  return (await tip.isVisible()) ? tip.innerText() : "";
};

/** The value beside a measure. */
export const legend = (page, measure, run = 0) =>
  page.locator(`.curves .entry[data-run="${run}"][data-measure="${measure}"] b`).innerText();

/** The modules of the page, for tests without a browser. */
export async function page_module(name) {
  const { build } = package_of("esbuild");
  const result = await build({
    entryPoints: [join(page_build, "src", `${name}.ts`)],
    bundle: true,
    format: "esm",
    write: false,
  });
  const text = Buffer.from(result.outputFiles[0].text).toString("base64");
  return import(`data:text/javascript;base64,${text}`);
}
