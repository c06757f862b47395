# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of make_snapshot.py: bytes against CPython's pickle, truth against a naive replay."""

import bisect
import functools
import io
import pickle
import pickletools
import unittest

from snapshot_maker.command_line import SnapshotMaker, make_writer, parse_options
from snapshot_maker.layout import RELEASES
from snapshot_maker.pickle_writer import ObjectPickle

SMALL = ["--layers", "2", "--hidden", "256", "--depth", "8", "--stacks", "60"]

SCENARIOS = {
    "plain": ["--steps", "3"],
    "streams": ["--steps", "4", "--streams", "3"],
    "expandable": ["--steps", "6", "--streams", "2", "--expandable"],
    "private pool": ["--steps", "3", "--private-pool", "--layout", "2.12"],
    "out of memory": ["--events", "3000", "--streams", "3", "--capacity", "420MiB"],
    "expandable oom": ["--events", "3000", "--expandable", "--capacity", "500MiB"],
    "oversize blocks": ["--events", "2000", "--max-split-size-mb", "32", "--capacity", "500MiB"],
    "rounded up": ["--steps", "3", "--roundup-power2-divisions", "4"],
    "ring": ["--steps", "5", "--streams", "2", "--max-entries", "333"],
    "ring of one": ["--steps", "3", "--state-only"],
    "late": ["--steps", "4", "--record-from-step", "2", "--streams", "2"],
    "late alloc": ["--steps", "4", "--record-from-step", "1", "--context", "alloc"],
    "no stacks": ["--steps", "2", "--context", "none"],
    "no requests": ["--steps", "3", "--skip-actions", "free_requested,segment_alloc"],
    "no completions": ["--steps", "3", "--skip-actions", "free_completed"],
    "devices": ["--events", "700", "--devices", "2"],
    "ascend": ["--steps", "2", "--ascend", "--layout", "2.5"],
    "old": ["--steps", "2", "--layout", "2.0", "--record-from-step", "1"],
}


@functools.lru_cache(maxsize=None)
def make(*arguments):
    """The bytes and the truth of the snapshot that these arguments describe."""
    options = parse_options([*SMALL, *arguments, "--output", "-"])
    file = io.BytesIO()
    truth = SnapshotMaker(options).write(make_writer(options, file))
    return file.getvalue(), truth["devices"]


def make_objects(*arguments):
    """The same snapshot as Python objects, shared as in the process that dumps it."""
    writer = ObjectPickle(io.BytesIO(), 4)
    SnapshotMaker(parse_options([*SMALL, *arguments, "--output", "-"])).write(writer)
    return writer.root


class NaiveReplay:
    """The curves of one device from the loaded file alone: requested bytes, from the start."""

    def __init__(self, snapshot, device):
        self.trace = snapshot["device_traces"][device]
        self.blocks = []
        for segment in snapshot["segments"]:
            address = segment["address"]
            for block in segment["blocks"]:
                if segment["device"] == device:
                    self.blocks.append(dict(block, address=block.get("address", address)))
                address += block["size"]
        self.reserved_end = sum(
            segment["total_size"] for segment in snapshot["segments"] if segment["device"] == device
        )
        self.skips_requests = self._has_only_completions()
        self.skips_completions = not any(e["action"] == "free_completed" for e in self.trace)
        self.unmatched = []
        self.allocated, self.active, self.reserved = [0], [0], [0]
        self.trace_allocated, self.trace_active = [0], [0]
        self.live_sites = {}
        for event in self.trace:
            self._step(event)

    def _has_only_completions(self):
        born = {event["addr"] for event in self.trace if event["action"] == "alloc"}
        return not any(event["action"] == "free_requested" for event in self.trace) and any(
            event["action"] == "free_completed" and event["addr"] in born for event in self.trace
        )

    def _step(self, event):
        action, addr, size = event["action"], event.get("addr"), event["size"]
        allocated = active = trace_allocated = trace_active = reserved = 0
        state = self.live_sites.get(addr)  # None, "live" or "pending", with "old" if carried in
        if action == "alloc":
            assert state is None, "an address was given out twice"
            self.live_sites[addr] = ("live", "new")
            allocated = active = trace_allocated = trace_active = size
        elif action == "free_requested":
            is_old = state is None
            if is_old:
                self.unmatched.append(size)
            self.live_sites[addr] = ("pending", "old" if is_old else "new")
            allocated = -size
            trace_allocated = 0 if is_old else -size
            if self.skips_completions:
                active, trace_active = allocated, trace_allocated
                del self.live_sites[addr]
        elif action == "free_completed":
            active = -size
            if state is None:
                self.unmatched.append(size)
                allocated = -size if self.skips_requests else 0
            else:
                trace_active = -size if state[1] == "new" else 0
                if state[0] == "live":
                    allocated = -size
                    trace_allocated = trace_active
                del self.live_sites[addr]
        elif action in ("segment_alloc", "segment_map"):
            reserved = size
        elif action in ("segment_free", "segment_unmap"):
            reserved = -size
        for curve, change in (
            (self.allocated, allocated),
            (self.active, active),
            (self.reserved, reserved),
            (self.trace_allocated, trace_allocated),
            (self.trace_active, trace_active),
        ):
            curve.append(curve[-1] + change)

    def end(self, *states):
        return sum(b["requested_size"] for b in self.blocks if b["state"] in states)

    @staticmethod
    def answers(curve, end):
        start = end - curve[-1]
        peak = max(curve)
        return {
            "start": start,
            "end": end,
            "peak": start + peak,
            "peak_event": curve.index(peak) - 1,
        }


class WriterTest(unittest.TestCase):
    def test_bytes_are_those_of_cpython(self):
        for name, arguments in SCENARIOS.items():
            with self.subTest(name):
                expected = pickle.dumps(make_objects(*arguments), 4)
                self.assertTrue(make(*arguments)[0] == expected, "the bytes differ")

    def test_bytes_are_those_of_cpython_over_many_frames(self):
        arguments = ["--events", "9000", "--depth", "40", "--stacks", "2000", "--layout", "2.12"]
        data, _ = make(*arguments, "--protocol", "5")
        self.assertTrue(data == pickle.dumps(make_objects(*arguments), 5), "the bytes differ")
        frames = sum(opcode.name == "FRAME" for opcode, _, _ in pickletools.genops(data))
        self.assertGreater(frames, 10)

    def test_every_layout_loads_alike_from_every_writer(self):
        for layout in RELEASES:
            arguments = ["--events", "200", "--layout", layout]
            expected = make_objects(*arguments)
            for protocol in range(6):
                with self.subTest(layout, protocol=protocol):
                    data, _ = make(*arguments, "--protocol", str(protocol))
                    self.assertEqual(pickle.loads(data), expected)
            with self.subTest(layout, writer="cpp"):
                data, _ = make(*arguments, "--writer", "cpp")
                self.assertEqual(pickle.loads(data), expected)

    def test_cpp_writer_uses_one_batch_and_puts(self):
        data, _ = make("--events", "2500", "--writer", "cpp")
        names = [opcode.name for opcode, _, _ in pickletools.genops(data)]
        self.assertFalse({"FRAME", "MEMOIZE", "SHORT_BINUNICODE", "APPEND"} & set(names))
        self.assertEqual(names.count("APPENDS"), names.count("EMPTY_LIST"))
        texts = [arg for opcode, arg, _ in pickletools.genops(data) if opcode.name == "BINUNICODE"]
        self.assertEqual(len(texts), len(set(texts)))

    def test_lists_of_frames_are_shared_as_the_allocator_shares_tracebacks(self):
        snapshot = pickle.loads(make("--steps", "2")[0])
        trace = snapshot["device_traces"][0]
        for before, event in zip(trace, trace[1:]):
            if event["action"] == "free_completed":
                self.assertIs(event["frames"], before["frames"])
        last_alloc = {e["addr"]: e["frames"] for e in trace if e["action"] == "alloc"}
        for segment in snapshot["segments"]:
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    self.assertIs(block["frames"], last_alloc[block["address"]])

    def test_list_only(self):
        data, _ = make("--steps", "1", "--list-only")
        self.assertEqual(pickle.loads(data), make_objects("--steps", "1")["segments"])


class SimulationTest(unittest.TestCase):
    def test_truth_is_what_a_naive_replay_finds(self):
        for name, arguments in SCENARIOS.items():
            data, truths = make(*arguments)
            snapshot = pickle.loads(data)
            for truth in truths:
                with self.subTest(name, device=truth["device"]):
                    self._compare(NaiveReplay(snapshot, truth["device"]), truth, name)

    def _compare(self, replay, truth, name):
        allocated = replay.end("active_allocated")
        active = replay.end("active_allocated", "active_pending_free")
        expected = {
            "allocated": replay.answers(replay.allocated, allocated),
            "active": replay.answers(replay.active, active),
        }
        for measure, answers in expected.items():
            found = truth[measure]["requested"]
            self.assertEqual(answers, {key: found[key] for key in answers}, measure)
        for measure, curve in (
            ("allocated", replay.trace_allocated),
            ("active", replay.trace_active),
        ):
            self.assertEqual(max(curve), truth[measure]["requested"]["trace_peak"])
            event = curve.index(max(curve)) - 1
            self.assertEqual(event, truth[measure]["requested"]["trace_peak_event"])
        if name != "no requests":
            reserved = replay.answers(replay.reserved, replay.reserved_end)
            self.assertEqual(reserved, truth["reserved"])
            carried_in = truth["carried_in"]
            self.assertEqual(carried_in["bytes"], expected["allocated"]["start"])
            self.assertEqual(
                carried_in["bytes"] + carried_in["pending_bytes"], expected["active"]["start"]
            )
        self.assertEqual(len(replay.trace), truth["events"])
        self.assertEqual(len(replay.unmatched), truth["unmatched_frees"]["count"])
        self.assertEqual(sum(replay.unmatched), truth["unmatched_frees"]["bytes"])
        live_set = truth["live_set_at_peak"]
        self.assertEqual(live_set["bytes"], truth["allocated"]["requested"]["peak"])
        self.assertEqual(sum(row["bytes"] for row in live_set["sites"]), live_set["bytes"])
        if truth["complete_history"]:
            self.assertEqual(
                truth["max_memory_allocated"], truth["max_memory_allocated_since_start"]
            )
            self.assertEqual(truth["max_memory_reserved"], truth["max_memory_reserved_since_start"])

    def test_segments_add_up(self):
        for name, arguments in SCENARIOS.items():
            with self.subTest(name):
                for segment in pickle.loads(make(*arguments)[0])["segments"]:
                    blocks = segment["blocks"]
                    active = [b for b in blocks if b["state"] != "inactive"]
                    allocated = [b for b in active if b["state"] == "active_allocated"]
                    self.assertEqual(segment["total_size"], sum(b["size"] for b in blocks))
                    self.assertEqual(segment["active_size"], sum(b["size"] for b in active))
                    self.assertEqual(segment["allocated_size"], sum(b["size"] for b in allocated))
                    address = segment["address"]
                    for block in blocks:
                        self.assertEqual(block.get("address", address), address)
                        address += block["size"]

    def test_blocks_never_overlap(self):
        for name in ("streams", "expandable", "private pool", "out of memory", "expandable oom"):
            trace = pickle.loads(make(*SCENARIOS[name])[0])["device_traces"][0]
            with self.subTest(name):
                self._check_addresses(trace)

    def _check_addresses(self, trace):
        memory, blocks = set(), []  # pages of 2 MiB; sorted (begin, end)
        page = 2 << 20
        for event in trace:
            action, begin = event["action"], event.get("addr", 0)
            end = begin + event["size"]
            pages = range(begin // page, -(-end // page))
            if action in ("segment_alloc", "segment_map"):
                self.assertTrue(memory.isdisjoint(pages))
                memory.update(pages)
            elif action in ("segment_free", "segment_unmap"):
                self.assertTrue(memory.issuperset(pages))
                memory.difference_update(pages)
            elif action == "alloc":
                self.assertTrue(memory.issuperset(pages))
                place = bisect.bisect(blocks, (begin, end))
                blocks.insert(place, (begin, end))
                near = blocks[max(0, place - 1) : place + 2]
                for low, high in zip(near, near[1:]):
                    self.assertLessEqual(low[1], high[0])
            elif action == "free_completed":
                blocks.remove((begin, end))

    def test_scenarios_hold_what_they_promise(self):
        truths = {name: make(*arguments)[1][0] for name, arguments in SCENARIOS.items()}
        self.assertGreater(truths["streams"]["pending_at_end"]["blocks"], 0)
        self.assertGreater(truths["out of memory"]["ooms"], 1)
        self.assertGreater(truths["expandable oom"]["events_by_action"]["segment_unmap"], 1)
        self.assertGreater(truths["late"]["carried_in"]["blocks"], 10)
        self.assertEqual(truths["ring"]["events"], 333)
        self.assertEqual(truths["ring of one"]["events"], 1)
        self.assertFalse(truths["ring"]["complete_history"])
        self.assertEqual(truths["devices"]["events"], 700)

    def test_an_oom_follows_the_return_of_cached_memory(self):
        snapshot = pickle.loads(make(*SCENARIOS["out of memory"])[0])
        trace = snapshot["device_traces"][0]
        ooms = [index for index, event in enumerate(trace) if event["action"] == "oom"]
        self.assertEqual(trace[ooms[0] - 1]["action"], "segment_free")
        for index in ooms:
            self.assertNotIn("addr", trace[index])
            self.assertLess(trace[index]["device_free"], trace[index]["size"] + (20 << 20))

    def test_the_same_options_give_the_same_bytes(self):
        self.assertEqual(make(*SCENARIOS["streams"]), make(*SCENARIOS["streams"]))
        self.assertNotEqual(make("--steps", "1")[0], make("--steps", "1", "--seed", "1")[0])

    def test_the_number_of_events_is_exact(self):
        for events in (1, 2, 7, 100, 1001):
            for extra in ([], ["--streams", "3"], ["--capacity", "420MiB"], ["--expandable"]):
                with self.subTest(events, extra=extra):
                    self.assertEqual(make("--events", str(events), *extra)[1][0]["events"], events)


if __name__ == "__main__":
    unittest.main()
