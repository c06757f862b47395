#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Asks at, steps, leaks and compare what a file cannot answer: a sentence, never a table of zeros.

    MEMREPLAY_PROGRAM=PROGRAM answers_test.py [unittest options]
"""

import json
import os
import pickle
import unittest

import program_test
from program_test import BASE, ProgramTest, frame

program_test.PROGRAM = os.environ.get("MEMREPLAY_PROGRAM", "")
START = 1_000_000  # us
STEP = 100  # us
ONE_FILE = ("at", "steps", "leaks")


def marker(name, stage, time_us, device=0):
    return {"name": name, "stage": stage, "device": device, "time_us": time_us}


def make_snapshot(steps=4, file="/src/model.py", device=0, markers=True, times=True, kept=4096):
    """Each step allocates and frees two blocks of 1 MiB and keeps `kept` bytes."""
    work, keep = [frame("forward", file, 12)], [frame("keep", file, 40)]
    trace, annotations, blocks = [], [], []
    for step in range(steps):
        time = START + step * STEP
        annotations += [
            marker(f"ProfilerStep#{step + 1}", "START", time),
            marker("forward", "START", time),
            marker("forward", "END", time + 20),
            marker(f"ProfilerStep#{step + 1}", "END", time + STEP),
        ]

        def add(action, address, size, frames):
            nonlocal time
            event = {"action": action, "addr": address, "size": size, "stream": 0}
            trace.append({**event, "frames": frames, **({"time_us": time} if times else {})})
            time += 5

        for row in range(2):
            add("alloc", BASE + (row << 20), 1 << 20, work)
        kept_at = BASE + (8 << 20) + step * kept
        add("alloc", kept_at, kept, keep)
        for row in (1, 0):
            for action in ("free_requested", "free_completed"):
                add(action, BASE + (row << 20), 1 << 20, work)
        blocks.append({"address": kept_at, "size": kept, "requested_size": kept,
                       "state": "active_allocated", "frames": keep})  # fmt: skip
    used = sum(block["size"] for block in blocks)
    hole = {"state": "inactive", "requested_size": 0, "frames": []}
    segment = {
        "device": device,
        "address": BASE,
        "total_size": 20 << 20,
        "allocated_size": used,
        "active_size": used,
        "requested_size": used,
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": [
            {"address": BASE, "size": 8 << 20, **hole},
            *blocks,
            {"address": BASE + (8 << 20) + used, "size": (12 << 20) - used, **hole},
        ],
    }
    return {
        "segments": [segment],
        "device_traces": [[]] * device + [trace],
        "allocator_settings": {},
        "external_annotations": annotations if markers else [],
    }


class AnswersTest(ProgramTest):
    def snap(self, name, snapshot=None, **how):
        snapshot = make_snapshot(**how) if snapshot is None else snapshot
        return self.put(name, pickle.dumps(snapshot, protocol=4))

    def refuse(self, *words, says=()):
        result = self.run_program(*words)
        with self.subTest(words=words):
            self.assert_one_line(result, 2, *says)
            self.assertEqual(result.stdout, b"")

    def ask(self, *words):
        result = self.run_program(*words, "--quiet", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def text(self, *words):
        result = self.run_program(*words, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode()


class Moments(AnswersTest):
    def test_outside_of_the_trace(self):
        path = self.snap("a.pickle")
        for seconds in ("-1", "-0.000001", "0.000331", "5", "1e11"):
            self.refuse("at", path, "--time", seconds,
                        says=("a.pickle", "outside of the trace", "it spans 0 to 0.000330 s"))
        for event in ("-2", "28", "1000000000000"):
            self.refuse("at", path, "--event", event,
                        says=("no event " + event, "its events are 0 to 27"))
        self.refuse("at", path, "--peak", "900", says=("no peak 900", "distinct peak"))

    def test_its_borders(self):
        path = self.snap("a.pickle")
        for words, event, bytes_ in (
            (("--time", "0"), 0, 1 << 20),
            (("--time", "0.000330"), 27, 4 * 4096),
            (("--event", "-1"), -1, 0),
            (("--event", "27"), 27, 4 * 4096),
            (("--end",), 27, 4 * 4096),
        ):
            moment = self.ask("at", path, *words)["devices"][0]
            with self.subTest(words=words):
                self.assertEqual((moment["event"], moment["bytes"]), (event, bytes_))

    def test_without_times(self):
        path = self.snap("a.pickle", times=False)
        self.refuse("at", path, "--time", "0", says=("carry no times", "--event N, from -1 to 27"))
        self.assertEqual(self.ask("at", path, "--event", "1")["devices"][0]["bytes"], 2 << 20)

    def test_two_files_name_the_one_that_cannot(self):
        a, b = self.snap("a.pickle"), self.snap("b.pickle", steps=2)
        self.refuse("at", a, b, "--event", "20", says=("b.pickle: ", "its events are 0 to 13"))
        self.refuse("at", b, a, "--event", "20", says=("b.pickle: ",))
        self.refuse("at", a, self.put("c.pickle", b"hello"), "--end", says=("c.pickle: ",))
        self.refuse("at", a, "missing.pickle", "--end", says=("missing.pickle",))


class Steps(AnswersTest):
    def test_no_steps_in_the_file(self):
        snapshot = make_snapshot()
        steps = [a for a in snapshot["external_annotations"] if "Profiler" not in a["name"]]
        named = self.snap("named.pickle", {**snapshot, "external_annotations": steps})
        bare = self.snap("bare.pickle", markers=False)
        self.refuse("steps", named,
                    says=("no ProfilerStep annotations", "it has forward (4)", "--by NAME"))
        self.refuse("steps", bare, says=("no annotations at all", "--by auto"))
        self.refuse("steps", named, "--by", "backward",
                    says=("no annotation backward", "it has forward (4)"))
        ranges = self.ask("steps", named, "--by", "forward")["devices"][0]["steps"]
        self.assertEqual([one["alloc_count"] for one in ranges], [3] * 4)
        self.assertEqual(len(self.ask("steps", bare, "--by", "auto")["devices"][0]["steps"]), 4)

    def test_a_step_that_is_not_there(self):
        path = self.snap("a.pickle")
        for step in ("0", "5", "-1"):
            self.refuse("steps", path, "--step", step,
                        says=("no step " + step, "it has 4, 1 to 4"))

    def test_steps_that_are_cut_off(self):
        snapshot = make_snapshot()
        ends = (("ProfilerStep#1", "START"), ("ProfilerStep#4", "END"))
        left = [a for a in snapshot["external_annotations"] if (a["name"], a["stage"]) not in ends]
        path = self.snap("a.pickle", {**snapshot, "external_annotations": left})
        text = self.text("steps", path)
        for step, is_cut in ((1, True), (2, False), (3, False), (4, True)):
            self.assertEqual(f"ProfilerStep#{step} (cut off)" in text, is_cut, text)
        self.assertEqual(len(self.ask("steps", path, "--step", "4")["devices"][0]["steps"]), 4)
        self.refuse("leaks", path, "--by", "steps",
                    says=("at least 3 whole steps", "has 2 profiler steps", "--by time"))

    def test_without_times(self):
        path = self.snap("a.pickle", times=False)
        for words in (("steps", path), ("leaks", path, "--by", "forward")):
            self.refuse(*words, says=("carry no times", "--by auto"))
        self.assertEqual(len(self.ask("steps", path, "--by", "time")["devices"][0]["steps"]), 10)

    def test_a_curve_without_repetitions(self):
        path = self.snap("a.pickle", steps=1)
        for command in ("steps", "leaks"):
            self.refuse(command, path, "--by", "auto", says=("nothing repeats", "--by time"))


class WithoutTrace(AnswersTest):
    def test_a_moment_there_is(self):
        whole = make_snapshot()
        for name, snapshot in (
            ("no_traces", {"segments": whole["segments"]}),
            ("empty_trace", {**whole, "device_traces": [[]], "external_annotations": []}),
            ("list", whole["segments"]),
        ):
            path = self.snap(name, snapshot)
            moment = self.ask("at", path, "--end")["devices"][0]
            self.assertEqual(moment["bytes"], 4 * 4096, name)
            self.assertEqual(moment["sites"][0]["bytes"], 4 * 4096, name)
            self.refuse("at", path, "--time", "0", says=("device 0 has no events", "--end"))
            self.refuse("at", path, "--event", "0", says=("it has no events", "--end"))
            for command in ("steps", "leaks"):
                for by in ((), *(("--by", by) for by in ("steps", "auto", "time", "forward"))):
                    self.refuse(command, path, *by,
                                says=("device 0 has no events", "memreplay at --end"))

    def test_compared_by_its_end(self):
        a = self.snap("a.pickle")
        b = self.snap("b.pickle", {"segments": make_snapshot()["segments"]})
        found = self.ask("compare", a, b)
        self.assertIn("device 0 of B has no events", found["notes"][0])
        self.assertEqual(found["devices"][0]["deltas"]["total_b"], 4 * 4096)
        self.refuse("compare", a, b, "--by", "time",
                    says=("B: device 0 has no events", "--by whole"))
        self.refuse("compare", b, a, "--by", "steps", says=("A: device 0 has no events",))
        self.refuse("compare", a, b, "--step", "1", says=("whole traces are compared",))

    def test_nothing_at_all(self):
        path = self.snap("a.pickle", {"segments": [], "device_traces": []})
        self.assertIn("Nothing is live.", self.text("at", path, "--end"))
        for command in ("steps", "leaks"):
            self.refuse(command, path, says=("no events",))
        self.assertIn("Nothing is live on either side.", self.text("compare", path, path))


class Pairs(AnswersTest):
    def test_another_model(self):
        a = self.snap("a.pickle")
        b = self.snap("b.pickle", file="/src/other.py", kept=65536)
        device = self.ask("compare", a, b)["devices"][0]
        deltas = device["deltas"]
        self.assertEqual(deltas["only_a"]["bytes"], deltas["total_a"])
        self.assertEqual(deltas["only_b"]["bytes"], deltas["total_b"])
        kinds = [one["kind"] for one in device["findings"]]
        self.assertIn("few_sites_in_common", kinds)
        self.assertIn("--match file", self.text("compare", a, b))

    def test_unequal_devices(self):
        a, b = self.snap("a.pickle"), self.snap("b.pickle", device=1)
        found = self.ask("compare", a, b)
        self.assertEqual(found["notes"], ["device 0 of A is set against device 1 of B"])
        both = make_snapshot()
        both["device_traces"].append(both["device_traces"][0])
        c = self.snap("c.pickle", both)
        self.assertEqual(self.ask("compare", a, c, "--device", "all")["notes"],
                         ["only B has device 1"])
        self.assertEqual(self.ask("at", c, a, "--end", "--device", "all")["notes"],
                         ["only A has device 1"])
        both["device_traces"].append(both["device_traces"].pop(0))
        both["device_traces"].insert(0, [])
        both["segments"][0]["device"] = 1
        d = self.snap("d.pickle", both)
        three = dict(both, device_traces=[[], [], [], *both["device_traces"][1:]])
        three["segments"] = [dict(both["segments"][0], device=3)]
        e = self.snap("e.pickle", three)
        for words in (("compare", d, e), ("at", d, e, "--end")):
            self.refuse(*words, "--device", "all",
                        says=("no device in common", "A has device 1, 2, B has device 3, 4",
                              "--device busiest"))
        self.refuse("compare", a, b, "--device", "1", says=("a.pickle: ", "no device 1"))

    def test_steps_of_one_side(self):
        a, b = self.snap("a.pickle"), self.snap("b.pickle", markers=False)
        self.refuse("compare", a, b, "--by", "steps", says=("B: this file has no ProfilerStep",))
        self.refuse("compare", b, a, "--by", "forward", says=("A: this file has no annotation",))
        self.refuse("compare", a, a, "--step", "9", says=("no number 9 in common", "1 to 4"))
        self.assertEqual(self.ask("compare", a, b)["devices"][0]["step_results"], [])

    def test_a_bad_side_is_named(self):
        good, bad = self.snap("good.pickle"), self.put("bad.pickle", b"hello")
        self.refuse("compare", good, bad, says=("bad.pickle: ",))
        self.refuse("compare", bad, good, says=("bad.pickle: ",))
        self.refuse("compare", "-", "-", says=("standard input can be read only once",))

    def test_from_standard_input(self):
        path = self.snap("a.pickle")
        content = pickle.dumps(make_snapshot(), protocol=4)
        for words in (("compare", path, "-"), ("compare", "-", path), ("at", path, "-", "--end")):
            result = self.run_program(*words, "--json", stdin=content)
            self.assertEqual(result.returncode, 0, result.stderr)


class Forms(AnswersTest):
    COMMANDS = (("at", "--end"), ("steps",), ("leaks",))

    def test_one_of_them(self):
        path = self.snap("a.pickle")
        for command, *words in (*self.COMMANDS, ("compare", path)):
            for form in ("text", "markdown"):
                self.refuse(command, path, *words, "--format", form, "--json", says=("--json",))
            self.refuse(command, path, *words, "--format", "html", says=("--format",))
            self.assertIn("# memreplay " + command,
                          self.text(command, path, *words, "--format", "markdown"))

    def test_where_it_goes(self):
        path = self.snap("a.pickle")
        self.put("thesis.md", b"# My thesis\n")
        for command, *words in (*self.COMMANDS, ("compare", path)):
            self.refuse(command, path, *words, "--out", "thesis.md", says=("--force",))
            self.refuse(command, path, *words, "--out", "no/such/place", says=("place",))
            result = self.run_program(command, path, *words, "--out", command + ".txt")
            self.assertEqual((result.returncode, result.stdout), (0, b""), result.stderr)
            self.assertIn(b"Wrote ", result.stderr)
        self.assertEqual((self.folder / "thesis.md").read_bytes(), b"# My thesis\n")

    def test_segments_have_no_sites(self):
        path = self.snap("a.pickle")
        for words in (("at", path, "--end"), ("at", path, path, "--end"), ("steps", path),
                      ("compare", path, path), ("compare", path, path, "--by", "whole")):
            text = self.text(*words, "--measure", "reserved")
            self.assertIn("Segments belong to no site", text)
            self.assertNotIn("Nothing is live", text)
        self.refuse("leaks", path, "--measure", "reserved", says=("no sites",))


class Leaks(AnswersTest):
    def test_found_and_told(self):
        path = self.snap("a.pickle")
        device = self.ask("leaks", path)["devices"][0]
        self.assertEqual([row["site"] for row in device["leaks"]], ["keep@model.py:40"])
        self.assertEqual(device["leaks"][0]["slope_bytes"], 4096)
        self.assertIn("grows by 4.00 KiB a step", self.text("leaks", path))

    def test_two_steps_are_too_few(self):
        path = self.snap("a.pickle", steps=2)
        self.refuse("leaks", path, "--by", "steps",
                    says=("at least 3 whole steps", "has 2 profiler steps", "--by time"))
        # By itself it then looks at windows of time.
        self.assertEqual(self.ask("leaks", path)["devices"][0]["leaks"], [])


if __name__ == "__main__":
    unittest.main()
