#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Smoke tests of the benchmark scripts on tiny files. No number is judged, only that it is there.

    bench_scripts_test.py BUILD
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

root = pathlib.Path(__file__).resolve().parent.parent.parent


class BenchScriptsTest(unittest.TestCase):
    build = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, name, *arguments, status=0):
        done = subprocess.run([sys.executable, str(root / "bench" / name), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def chain(self, *arguments):
        found = self.folder / "chain.json"
        text = self.run_script("chain.py", "--build", self.build, "--runs", "1", "--snapshots",
                               str(self.folder), "--json", str(found), *arguments)
        return text, json.loads(found.read_text())

    def test_chain_measures_every_contestant_and_target(self):
        markdown = self.folder / "chain.md"
        text, found = self.chain("--events", "1500,3000", "--depth", "10", "--markdown",
                                 str(markdown))
        self.assertEqual(markdown.read_text(), text)
        self.assertEqual(found["schema"], "memreplay.bench.chain/1")
        self.assertGreaterEqual(found["machine"]["cores"], 1)
        self.assertEqual([size["events"] for size in found["sizes"]], [1500, 3000])
        for size in found["sizes"]:
            self.assertEqual(len(size["contestants"]), 8)
            for row in size["contestants"]:
                self.assertIsNone(row["skipped"], row)
                self.assertEqual(len(row["runs"]), 1)
                for value in row["median"].values():
                    self.assertGreater(value, 0, row)
        for row in found["targets"]:
            self.assertIn(row["met"], (True, False), row)
            self.assertIn(row["name"], text)
        self.assertIn("largest / smallest", text)

    def test_chain_tells_who_did_not_take_part(self):
        text, found = self.chain("--events", "1500", "--depth", "10", "--without", "pickle|Python")
        self.assertIn("pickle.load, collector on skipped: left out by --without", text)
        met = {row["name"]: row["met"] for row in found["targets"]}
        self.assertIsNone(met["parse (1 thread) faster than pickle.load, collector on; CPU"])
        self.assertIn("not measured", text)

    def test_chain_names_a_build_without_benchmarks(self):
        self.run_script("chain.py", "--build", str(self.folder), status=2)

    def test_compare_runs_the_same_benchmarks_of_both_sides(self):
        found = self.folder / "compare.json"
        text = self.run_script("compare.py", self.build, self.build, "--filter",
                               "parse/few_events/threads:1", "--runs", "2", "--min-time", "0.001",
                               "--json", str(found))
        found = json.loads(found.read_text())
        self.assertEqual(found["schema"], "memreplay.bench.compare/1")
        [row] = found["benchmarks"]
        self.assertEqual([len(row["base_seconds"]), len(row["change_seconds"])], [2, 2])
        self.assertLessEqual(row["ratio_low"], row["ratio_high"])
        self.assertIn(row["name"], text)

    def test_compare_says_when_nothing_matches(self):
        self.run_script("compare.py", self.build, self.build, "--filter", "no such benchmark",
                        status=1)


if __name__ == "__main__":
    BenchScriptsTest.build = sys.argv.pop()
    unittest.main()
