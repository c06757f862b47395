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
// One after the other: the times of the last file are measured.
const results = ["modules", "page", "program", "speed"].map(
  (name) =>
    spawnSync(
      process.execPath,
      ["--test", "--test-reporter=spec", join(here, `${name}.test.mjs`)],
      { stdio: "inherit" },
    ).status,
);
process.exit(results.every((status) => status === 0) ? 0 : 1);
