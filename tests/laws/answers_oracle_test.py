#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Asks at, steps, leaks and compare about every real snapshot, and answers the same naively.

    answers_oracle_test.py PROGRAM CORPUS

The answers here are made from the objects that pickle.load returns, a list of intervals, and sums
over all of them; nothing is shared with the engine. The measure is `allocated` in requested bytes.
"""

import gzip
import json
import pathlib
import pickle
import subprocess
import sys
import unittest

PROGRAM, CORPUS = sys.argv[1], pathlib.Path(sys.argv[2])
NEVER = 1 << 62
FREES = ("free_requested", "free_completed")


class Device:
    """One trace and its segments as intervals: born after one event, gone after another."""

    def __init__(self, snapshot, device):
        traces = snapshot.get("device_traces", []) if isinstance(snapshot, dict) else []
        segments = snapshot["segments"] if isinstance(snapshot, dict) else snapshot
        self.events = traces[device] if device < len(traces) else []
        self.blocks = [
            block for segment in segments if segment.get("device", 0) == device
            for block in self._addressed(segment) if block["state"] == "active_allocated"
        ]  # fmt: skip
        self.intervals = []  # (birth, end, bytes); birth -1: older than the trace
        self._replay()

    @staticmethod
    def _addressed(segment):
        at = segment["address"]
        for block in segment["blocks"]:
            history = block.get("history")
            recorded = history[0]["real_size"] if history else block["size"]
            size = block.get("requested_size", recorded)
            yield dict(block, address=block.get("address", at), requested=size)
            at = block.get("address", at) + block["size"]

    def _replay(self):
        actions = [event["action"] for event in self.events]
        live, pending, touched = {}, set(), set()
        lone_completion_frees = "free_requested" not in actions and self._releases_own()
        for index, event in enumerate(self.events):
            action, address = event["action"], event.get("addr")
            if action == "alloc":
                if address in live:
                    self._end(live, address, index)
                live[address] = (index, event["size"])
                pending.discard(address)
                touched.add(address)
            elif action in FREES:
                if address in live:
                    self._end(live, address, index)
                    if action == "free_requested":
                        pending.add(address)
                elif address in pending:
                    if action == "free_completed":
                        pending.discard(address)
                else:
                    if action == "free_requested" or lone_completion_frees:
                        self.intervals.append((-1, index, event["size"]))
                    if action == "free_requested":
                        pending.add(address)
                    touched.add(address)
        for birth, size in live.values():
            self.intervals.append((birth, NEVER, size))
        for block in self.blocks:
            if block["address"] not in touched:
                self.intervals.append((-1, NEVER, block["requested"]))

    def _end(self, live, address, index):
        birth, size = live.pop(address)
        self.intervals.append((birth, index, size))

    def _releases_own(self):
        """Some completion frees a block of the trace although no request was recorded."""
        live = set()
        for event in self.events:
            if event["action"] == "alloc":
                live.add(event["addr"])
            elif event["action"] == "free_completed" and event["addr"] in live:
                return True
        return False

    def live(self, event):
        return [row for row in self.intervals if row[0] <= event < row[1]]

    def curve(self):
        """Bytes before the first event, and after each."""
        change = [0] * (len(self.events) + 1)
        for birth, end, size in self.intervals:
            change[birth + 1] += size
            if end != NEVER:
                change[end + 1] -= size
        total, values = 0, []
        for step in change:
            total += step
            values.append(total)
        return values

    def times(self):
        times = [event.get("time_us", 0) for event in self.events]
        return times if any(times) else None


def load(path):
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return json.loads(content) if content[:1] == b"{" else pickle.loads(content)


def ask(*words, status=0):
    run = subprocess.run([PROGRAM, *map(str, words), "--json", "--quiet"], capture_output=True)
    assert run.returncode == status, run.stderr.decode()
    return json.loads(run.stdout) if status == 0 else run.stderr.decode()


def busiest(snapshot):
    traces = snapshot.get("device_traces", []) if isinstance(snapshot, dict) else []
    lengths = [len(trace) for trace in traces] or [0]
    return lengths.index(max(lengths))


class OnRealFiles(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        # One file was cut by hand, one written by hand: their trace and segments are of two worlds.
        odd = ("real-33", "real-35")
        cls.files = [
            (path, Device(snapshot, busiest(snapshot)))
            for path in sorted((CORPUS / "real").iterdir())
            if not path.name.startswith(odd)
            for snapshot in [load(path)]
        ]
        cls.files = [(path, device) for path, device in cls.files if device.events]
        assert len(cls.files) > 30, "the corpus is smaller than it was"

    def each(self):
        for path, device in self.files:
            with self.subTest(path.name):
                yield path, device

    def check_table(self, rows, rest, total):
        self.assertEqual(sum(row["bytes"] for row in rows) + rest["bytes"], total)
        if total:
            self.assertAlmostEqual(sum(row["share"] for row in rows) + rest["share"], 100.0, 6)

    def test_at(self):
        for path, device in self.each():
            count = len(device.events)
            for event in sorted({-1, 0, count // 3, count // 2, count - 1}):
                found = ask("at", path, "--event", event, "--top", 3)
                moment, live = found["devices"][0], device.live(event)
                self.assertEqual(moment["bytes"], sum(row[2] for row in live))
                self.assertEqual(moment["live_count"], len(live))
                carried = sum(row[2] for row in live if row[0] == -1)
                self.assertEqual(moment["carried_in_bytes"], carried)
                self.assertEqual(found["absolute"], found["baseline"] + found["delta"])
                allocs = [e for e in device.events[: event + 1] if e["action"] == "alloc"]
                self.assertEqual(found["alloc_count"], len(allocs))
                self.check_table(moment["sites"], moment["rest"], moment["bytes"])

    def test_steps(self):
        for path, device in self.each():
            curve, times = device.curve(), device.times()
            found = ask("steps", path, "--by", "time", "--all-steps", "--top", 2)
            steps = found["devices"][0]["steps"]
            if times:
                first, last = min(t for t in times if t), max(times)
                window = (last - first) // 10 + 1
                latest, expected = first, {}
                for index, time in enumerate(times):
                    latest = max(latest, time)
                    expected.setdefault((latest - first) // window, []).append(index)
                ranges = [(rows[0], rows[-1]) for rows in expected.values()]
            else:
                parts = min(10, len(device.events))
                cut = [part * len(device.events) // parts for part in range(parts + 1)]
                ranges = [(cut[part], cut[part + 1] - 1) for part in range(parts)]
            self.assertEqual([(s["first_event"], s["last_event"]) for s in steps], ranges)
            completions = any(e["action"] == "free_completed" for e in device.events)
            for step, (first, last) in zip(steps, ranges):
                values = curve[first : last + 2]
                peak = values.index(max(values))
                self.assertEqual(step["start_bytes"], values[0])
                self.assertEqual(step["end_delta"], values[-1] - values[0])
                self.assertEqual(step["absolute_peak"], values[peak])
                self.assertEqual(step["peak_delta"], values[peak] - values[0])
                self.assertEqual(step["peak_event"], first - 1 + peak)
                events = device.events[first : last + 1]
                allocs = [e["size"] for e in events if e["action"] == "alloc"]
                self.assertEqual(step["alloc_count"], len(allocs))
                self.assertEqual(step["total_throughput"], sum(allocs))
                frees = "free_completed" if completions else "free_requested"
                self.assertEqual(step["free_count"], sum(e["action"] == frees for e in events))
                older = [
                    row for row in device.intervals if row[0] == -1 and first <= row[1] <= last
                ]
                self.assertEqual(step["unmatched_frees"], len(older))
                self.assertEqual(step["unmatched_free_bytes"], sum(row[2] for row in older))
                self.check_table(step["sites"], step["rest"], step["absolute_peak"])

    def test_leaks(self):
        for path, device in self.each():
            steps = ask("steps", path, "--by", "time")["devices"][0]["steps"]
            if len(steps) < 3:
                self.assertIn("at least 3", ask("leaks", path, "--by", "time", status=2))
                continue
            curve = device.curve()
            found = ask("leaks", path, "--by", "time", "--top", 0)["devices"][0]
            ends = [curve[step["last_event"] + 1] for step in steps]
            self.assertEqual(found["live_bytes"], ends)
            middle = (len(ends) - 1) / 2
            slope = sum((x - middle) * y for x, y in enumerate(ends))
            slope /= sum((x - middle) ** 2 for x in range(len(ends)))
            self.assertAlmostEqual(found["slope_bytes"], slope, delta=abs(slope) * 1e-9 + 1e-3)
            stays = [row[2] for row in device.intervals if row[0] >= 0 and row[1] == NEVER]
            self.assertEqual(found["never_freed_bytes"], sum(stays))
            self.assertEqual(found["never_freed_tensors"], len(stays))
            self.check_table(found["never_freed"], found["never_freed_rest"], sum(stays))

    def test_compare(self):
        for (path_a, a), (path_b, b) in zip(self.files, self.files[1:]):
            with self.subTest("%s and %s" % (path_a.name, path_b.name)):
                found = ask("compare", path_a, path_b, "--by", "whole", "--top", 4)
                peak_a, peak_b = max(a.curve()), max(b.curve())
                self.assertEqual(found["full_trace"]["abs_peak_a"], peak_a)
                self.assertEqual(found["full_trace"]["abs_peak_diff"], peak_b - peak_a)
                deltas = found["devices"][0]["deltas"]
                rows, rest = deltas["rows"], deltas["rest"]
                self.assertEqual((deltas["total_a"], deltas["total_b"]), (peak_a, peak_b))
                for key, total in (("bytes_a", peak_a), ("bytes_b", peak_b),
                                   ("delta_bytes", peak_b - peak_a)):  # fmt: skip
                    self.assertEqual(sum(row[key] for row in rows) + rest[key], total)
                for row in rows:
                    parts = row["from_count_bytes"] + row["from_size_bytes"]
                    self.assertEqual(parts, row["delta_bytes"])
                for side, device in (("a", a), ("b", b)):
                    live = device.live(found["devices"][0]["event_" + side])
                    carried = sum(row[2] for row in live if row[0] == -1)
                    self.assertEqual(deltas["carried_in_" + side], carried)


if __name__ == "__main__":
    if not CORPUS.is_dir():
        print("SKIPPED: no corpus at", CORPUS)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
