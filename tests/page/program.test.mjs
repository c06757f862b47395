// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The page as the program writes it: the numbers on it are those of `memreplay report --json`.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { close_browser, legend, open_tab, page_module } from "./browser.mjs";

const program = process.env.MEMREPLAY_PROGRAM ?? "";
const has_command =
  program !== "" && spawnSync(program, ["timeline", "--help"], { stdio: "ignore" }).status === 0;
const skip = has_command ? false : "the program has no command `timeline`";
const maker = fileURLToPath(new URL("../../tools/make_snapshot.py", import.meta.url));
const python = process.env.MEMREPLAY_PYTHON ?? "python3";
const folder = mkdtempSync(join(tmpdir(), "memreplay-program-page-"));
const { byte_text } = await page_module("bytes");

after(async () => {
  await close_browser();
  rmSync(folder, { recursive: true, force: true });
});

function make_snapshot(name, ...options) {
  const path = join(folder, `${name}.pickle`);
  execFileSync(python, [maker, "-o", path, ...options], { stdio: "ignore" });
  return path;
}

const report_of = (snapshot, ...options) =>
  JSON.parse(
    execFileSync(program, ["report", snapshot, "--json", "--out", "-", ...options], {
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );

async function open_timeline(snapshots, ...options) {
  const out = join(folder, `page-${snapshots.length}-${options.length}.html`);
  execFileSync(program, ["timeline", ...snapshots, "-o", out, "--force", ...options], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return open_tab(pathToFileURL(out).href);
}

test("the peak on the page is the report's", { skip, timeout: 120000 }, async () => {
  const snapshot = make_snapshot("one", "--events", "30000");
  const [device] = report_of(snapshot).devices;
  const { page, check } = await open_timeline([snapshot]);
  assert.equal(await legend(page, "allocated"), byte_text(device.peak_bytes));
  assert.ok((await page.locator(".summary").innerText()).includes(byte_text(device.peak_bytes)));
  const [{ site, bytes }] = device.peaks[0].sites;
  const row = page.locator(".tabulator-row").first();
  assert.ok((await row.innerText()).includes(byte_text(bytes)), site);
  check();
  await page.close();
});

test("two runs lie over each other", { skip, timeout: 120000 }, async () => {
  const snapshots = [
    make_snapshot("a", "--events", "20000"),
    make_snapshot("b", "--events", "26000"),
  ];
  const { page, check } = await open_timeline(snapshots);
  assert.equal(await page.locator(".difference .uplot").count(), 1);
  assert.equal(await page.locator(".curves .entry[data-run]").count(), 2);
  check();
  await page.close();
});
