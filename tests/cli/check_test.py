#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `memreplay check`: statuses, reasons, baselines of ours and of nobody.

    MEMREPLAY_PROGRAM=PROGRAM check_test.py [unittest options]
"""

import json
import os
import pickle
import random
import unittest

import program_test
from program_test import BASE, ProgramTest, frame

program_test.PROGRAM = os.environ.get("MEMREPLAY_PROGRAM", "")


def snapshot(sites, device=0):
    """Blocks that stay live: (function, line, bytes) each, of one file."""
    trace = []
    for row, (name, line, size) in enumerate(sites):
        stack = [frame(name, "/src/model.py", line)]
        address = BASE + row * (1 << 30)
        trace.append(
            {"action": "alloc", "addr": address, "size": size, "stream": 0, "time_us": row + 1,
             "frames": stack}
        )
    return {"segments": [], "device_traces": [[]] * device + [trace]}


class Check(ProgramTest):
    def snap(self, name, *sites, device=0):
        return self.put(name, pickle.dumps(snapshot(sites, device), protocol=4))

    def check(self, *words, status=0):
        result = self.run_program("check", *words)
        self.assertEqual(result.returncode, status, result.stderr.decode() + result.stdout.decode())
        return result

    def answer(self, *words, status=0):
        return json.loads(self.check(*words, "--json", status=status).stdout)

    def baseline(self, *sites, name="base.json", device=0):
        path = str(self.folder / name)
        self.check(self.snap("base.pickle", *sites, device=device), "--write-baseline", path,
                   "--quiet")
        return path

    def test_growth_over_under_and_at_the_limit(self):
        base = self.baseline(("f", 3, 100_000))
        for size, limit, status in (
            (105_000, "5%", 0), (105_001, "5%", 1), (100_000, "0%", 0), (100_001, "0%", 1),
            (90_000, "0%", 0), (100_512, "+512", 0), (100_513, "+512", 1),
        ):
            now = self.snap("now.pickle", ("f", 3, size))
            with self.subTest(size=size, limit=limit):
                words = ("--limit", "peak=" + limit, "--max-growth", "50%")
                self.check(now, "--baseline", base, *words, status=status)
        self.check(self.snap("now.pickle", ("f", 3, 150_000)), "--baseline", base, status=1)

    def test_reasons_are_on_both_outputs(self):
        base = self.baseline(("f", 3, 100_000))
        now = self.snap("now.pickle", ("f", 3, 200_000))
        for form in ("text", "markdown"):
            words = ("--format", form, "--limit", "peak=5%", "--max-growth", "1000%")
            result = self.check(now, "--baseline", base, *words, status=1)
            self.assert_one_line(result, 1, "now.pickle", "device 0: peak", "5%")
            text = result.stdout.decode()
            self.assertIn("FAILED: 3 limits held, 1 exceeded", text)
            self.assertIn("+100.00 %", text)
        tables = [line for line in text.splitlines() if line.startswith("|")]
        self.assertGreater(len(tables), 6)

    def test_caps(self):
        now = self.snap("now.pickle", ("f", 3, 4096))
        self.check(now, "--limit", "peak=4KiB")
        self.check(now, "--limit", "peak=4095", status=1)
        self.check("--limit", "f@model.py:3=4KiB", "--limit", "reserved=1GiB", now)
        self.check(now, "--limit", "f@model.py:3=4095", status=1)
        result = self.check(now, "--limit", "f@model.py:4=4KiB", status=2)
        self.assert_one_line(result, 2, "f@model.py:4")

    def test_sites_new_gone_and_moved(self):
        base = self.baseline(("f", 3, 9000), ("g", 7, 8000))
        now = self.snap("now.pickle", ("f", 30, 9000), ("h", 9, 8500))
        self.check(now, "--baseline", base, "--max-growth", "10%")
        words = ("--baseline", base, "--max-growth", "10%", "--max-site-growth", "10%")
        made = self.answer(now, *words, status=1)
        self.assertEqual([row["name"] for row in made["devices"][0]["sites"]], ["h@model.py:9"])
        changed = made["devices"][0]["changed_sites"]
        self.assertEqual([row["growth_bytes"] for row in changed], [8500, -8000])
        self.assertEqual(sum(row["growth_bytes"] for row in changed),
                         made["devices"][0]["peak_growth_bytes"])

    def test_interval(self):
        base = self.baseline(("f", 3, 1000))
        made = json.loads((self.folder / "base.json").read_text())
        device = made["devices"][0]
        device.update(exact=False, low=900, high=1100, reason="ring truncated")
        (self.folder / "base.json").write_text(json.dumps(made))
        words = ("--baseline", base, "--limit", "max_memory_allocated=500%")
        result = self.check(self.snap("now.pickle", ("f", 3, 1000)), *words, "--max-growth", "5%")
        self.assert_one_line(result, 0, "warning", "ring truncated")
        self.assertIn(b"cannot tell", result.stdout)
        now = self.snap("now.pickle", ("f", 3, 1156))
        self.check(now, *words, "--limit", "end=+1GiB", status=1)

    def test_options_must_agree(self):
        base = self.baseline(("f", 3, 1000))
        now = str(self.folder / "base.pickle")
        for words in (("--measure", "active"), ("--sizes", "block"), ("--carried-in", "ignore"),
                      ("--frame-depth", "2"), ("--site", "project", "--project-root", "/src")):
            result = self.check(now, "--baseline", base, *words, status=2)
            self.assert_one_line(result, 2, words[0])
            self.assertEqual(result.stdout, b"")

    def test_devices(self):
        base = self.baseline(("f", 3, 1000), device=1)
        result = self.check(self.snap("now.pickle", ("f", 3, 1000)), "--baseline", base, status=1)
        self.assert_one_line(result, 1, "device 1", "not in the file")
        result = self.check(str(self.folder / "now.pickle"), "--baseline", base, "--device", "0",
                            status=2)
        self.assert_one_line(result, 2, "the baseline has no device 0")

    def test_hostile_baselines(self):
        self.baseline(("f", 3, 1000))
        now = str(self.folder / "base.pickle")
        text = (self.folder / "base.json").read_text()
        good = json.loads(text)
        hostile = [b"", b"{", b"null", b"[]", b"3", b"\xff\xfe", b"[" * 1_000_000,
                   b'{"a":' * 100_000, b'{"schema": "memreplay.report/1"}', b'{"schema": 5}',
                   b'{"schema": "memreplay.baseline/1"}', os.urandom(4096)]
        rng = random.Random(1)
        hostile += [text.encode()[: rng.randrange(len(text) - 2)] for _ in range(10)]
        for key in good:
            hostile.append(json.dumps({k: v for k, v in good.items() if k != key}).encode())
            for value in (None, [], {}, "x", 1.5, 1 << 80, -5, [1], [[]], [{}]):
                if key != "file" or value != "x":
                    hostile.append(json.dumps(good | {key: value}).encode())
        device = good["devices"][0]
        for key in device:
            for value in (None, {}, "x", 1.5, 1 << 63, 1 << 80, -(1 << 80), [1], [{}], False):
                if value is device[key] or (key == "reason" and value == "x"):
                    continue  # as good as it was
                changed = good | {"devices": [device | {key: value}]}
                hostile.append(json.dumps(changed).encode())
        for key in device["sites"][0]:
            for value in (None, 1.5, 1 << 63, [], True):
                sites = [device["sites"][0] | {key: value}]
                changed = good | {"devices": [device | {"sites": sites}]}
                hostile.append(json.dumps(changed).encode())
        hostile.append(json.dumps(good | {"devices": [device, device]}).encode())
        for content in hostile:
            with self.subTest(content=content[:300]):
                base = self.put("bad.json", content)
                result = self.check(now, "--baseline", base, status=2)
                self.assert_one_line(result, 2, "bad.json")
                self.assertEqual(result.stdout, b"")
        self.assert_one_line(self.check(now, "--baseline", "none.json", status=2), 2, "none.json")
        self.assert_one_line(self.check(now, "--baseline", str(self.folder), status=2), 2)

    def test_baseline_with_huge_numbers_is_compared(self):
        self.baseline(("f", 3, 1000))
        good = json.loads((self.folder / "base.json").read_text())
        for value in ((1 << 63) - 1, -(1 << 63), 0):
            device = good["devices"][0] | {"peak_bytes": value, "end_bytes": value}
            base = self.put("huge.json", json.dumps(good | {"devices": [device]}).encode())
            result = self.run_program("check", str(self.folder / "base.pickle"), "--baseline", base)
            self.assertEqual(result.returncode, 0 if value > 0 else 1)

    def test_writing(self):
        now = self.snap("now.pickle", ("f", 3, 1000))
        foreign = self.put("notes.json", b'{"mine": true}')
        result = self.check(now, "--write-baseline", foreign, status=2)
        self.assert_one_line(result, 2, "--force")
        self.assertEqual((self.folder / "notes.json").read_bytes(), b'{"mine": true}')
        self.check(now, "--write-baseline", foreign, "--force")
        first = (self.folder / "notes.json").read_bytes()
        more = self.snap("more.pickle", ("f", 3, 2000))
        self.check(more, "--baseline", foreign, "--write-baseline", foreign, status=1)
        self.assertEqual((self.folder / "notes.json").read_bytes(), first)
        self.check(more, "--write-baseline", foreign)
        self.assertNotEqual((self.folder / "notes.json").read_bytes(), first)
        self.check(more, "--baseline", foreign, "--max-growth", "0%")
        self.assertEqual(self.files(), ["more.pickle", "notes.json", "now.pickle"])
        self.check(now, "--write-baseline", str(self.folder / "no" / "b.json"), status=2)

    def test_nothing_to_check(self):
        now = self.snap("now.pickle", ("f", 3, 1000))
        self.assert_one_line(self.check(now, status=2), 2, "--baseline", "--limit")
        self.assert_one_line(self.check(now, "--max-growth", "5%", status=2), 2, "--baseline")

    def test_out(self):
        now = self.snap("now.pickle", ("f", 3, 1000))
        for form in (["--json"], [], ["--format", "markdown"]):
            out = str(self.folder / f"out{len(form)}")
            for _ in range(2):
                self.check(now, "--limit", "peak=1MiB", "--out", out, *form, "--quiet")


if __name__ == "__main__":
    unittest.main()
