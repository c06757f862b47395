// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What ctest runs: `run_tests.mjs` with MEMREPLAY_PAGE_BUILD. Exits 77, aloud, without a browser.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium_path, has_browser } from "./browser.mjs";

const skipped = 77;
if (!has_browser()) {
  console.log(`Skipped: no browser at ${chromium_path}; MEMREPLAY_CHROMIUM names another one`);
  process.exit(skipped);
}
const here = dirname(fileURLToPath(import.meta.url));
const files = ["modules", "page", "program", "speed"].map((name) => join(here, `${name}.test.mjs`));
// One after the other: the times of the last file are measured.
const { status } = spawnSync(
  process.execPath,
  ["--test", "--test-concurrency=1", "--test-reporter=spec", ...files],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
