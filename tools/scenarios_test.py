# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the scenarios of make_snapshot.py: the cause that is told is the only one there is."""

import io
import json
import pickle
import unittest
from contextlib import redirect_stderr

from make_snapshot_test import SCENARIOS as PROGRAM_OPTIONS
from make_snapshot_test import make
from snapshot_maker.command_line import parse_options
from snapshot_maker.scenarios import PROGRAMS

MIB, GIB = 1 << 20, 1 << 30
DEFAULT_POOL = [0, 0]
CAUSES = {
    "oom-capacity": "capacity",
    "oom-fragmentation": "fragmentation",
    "oom-other-stream": "other_stream",
    "oom-private-pool": "private_pool",
    "oom-outside": "outside",
    "oom-huge-request": "huge_request",
    "oom-memory-limit": "memory_limit",
}
HEALTHY = [name for name in PROGRAMS if name.startswith("healthy-")]
LEAKS = ["leak", "steady"]
SEEDS = range(3)
MODEL = ["--layers", "4", "--hidden", "512"]


def make_scenario(name, seed, *arguments):
    """The loaded snapshot and the truth of its only device."""
    data, truths = make("--scenario", name, "--seed", str(seed), *MODEL, *arguments)
    return pickle.loads(data), truths[0]


def segment_bytes(request):
    """What the driver is asked for."""
    if request <= MIB:
        return 2 * MIB
    return 20 * MIB if request < 10 * MIB else -(-request // (2 * MIB)) * 2 * MIB


def segments_of_file(snapshot):
    """The segments of a snapshot in the words of the truth."""
    return [
        {
            "address": segment["address"],
            "size": segment["total_size"],
            "stream": segment["stream"],
            "small": segment["segment_type"] == "small",
            "pool": list(segment["segment_pool_id"]),
            "expandable": segment["is_expandable"],
            "blocks": [
                {
                    "address": block["address"],
                    "size": block["size"],
                    "requested": block["requested_size"] * (block["state"] != "inactive"),
                    "state": block["state"],
                }
                for block in segment["blocks"]
            ],
        }
        for segment in snapshot["segments"]
    ]


def blocks_of(segments, *states):
    return [b for segment in segments for b in segment["blocks"] if b["state"] in states]


def holes_of(segments):
    """Sizes of the free blocks by (stream, is small, pool)."""
    holes = {}
    for segment in segments:
        sizes = holes.setdefault((segment["stream"], segment["small"], *segment["pool"]), [0])
        sizes += [b["size"] for b in segment["blocks"] if b["state"] == "inactive"]
    return holes


def reserved_peak(trace, end):
    """Of the segments' bytes, which end at `end`."""
    changes = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    value = peak = 0
    for event in trace:
        value += changes.get(event["action"], 0) * event["size"]
        peak = max(peak, value)
    return end - value + peak


def arguable_causes(planted, peak):
    """All that could be said of the failed request."""
    request = planted["request_bytes"]
    place = (planted["request_stream"], request <= MIB, *planted["request_pool"])
    holes = holes_of(planted["segments"])
    within_reach = planted["reserved_bytes"] + planted["device_free"]
    causes = set()
    if planted["device_free"] >= segment_bytes(request):
        causes.add("memory_limit")
    if request > planted["capacity"] // 2:
        causes.add("huge_request")
    if sum(holes.get(place, [0])) >= request:
        causes.add("fragmentation")
    for other, sizes in holes.items():
        if other[1] == place[1] and other != place and max(sizes) >= request:
            causes.add("other_stream" if other[2:] == place[2:] else "private_pool")
    if peak > within_reach * 5 // 4:
        causes.add("outside")
    if planted["device_free"] + planted["free_bytes"] < request < planted["capacity"] // 2:
        causes.add("capacity")
    # Little is within reach of a process because others took it, so that comes first.
    return causes - {"capacity"} if "outside" in causes else causes


class ScenarioTest(unittest.TestCase):
    def for_each(self, names, check):
        for name in names:
            for seed in SEEDS:
                with self.subTest(name, seed=seed):
                    snapshot, truth = make_scenario(name, seed)
                    check(name, snapshot["device_traces"][0], truth)

    def test_the_planted_cause_is_the_only_one(self):
        def check(name, trace, truth):
            planted = truth["planted"]
            self.assertEqual(planted["cause"], CAUSES[name])
            peak = reserved_peak(trace, planted["reserved_bytes"])
            self.assertEqual(arguable_causes(planted, peak), {CAUSES[name]})

        self.for_each(CAUSES, check)

    def test_a_program_dies_at_its_first_oom(self):
        def check(_, trace, truth):
            planted = truth["planted"]
            self.assertEqual(truth["ooms"], 1)
            self.assertEqual(planted["event"], len(trace) - 1)
            oom = trace[-1]
            self.assertEqual(oom["action"], "oom")
            self.assertEqual(oom["size"], planted["request_bytes"])
            self.assertEqual(oom["stream"], planted["request_stream"])
            self.assertEqual(oom["device_free"], planted["device_free"])
            self.assertEqual(oom["size"] % 512, 0)
            self.assertGreater(len(trace), 1000)

        self.for_each(CAUSES, check)

    def test_nothing_more_could_be_had(self):
        def check(_, trace, truth):
            planted = truth["planted"]
            place = (planted["request_stream"], False, *planted["request_pool"])
            holes = holes_of(planted["segments"])
            self.assertLess(max(holes[place]), planted["request_bytes"])
            self.assertEqual(planted["pending_bytes"], 0)
            for segment in planted["segments"]:
                if segment["pool"] == DEFAULT_POOL:
                    states = {block["state"] for block in segment["blocks"]}
                    self.assertNotEqual(states, {"inactive"}, "the cache was not given back")
            needed = planted["reserved_bytes"] + segment_bytes(planted["request_bytes"])
            available = planted["capacity"] - planted["outside_bytes"]
            if planted["memory_limit"] is not None:
                available = min(available, planted["memory_limit"])
            self.assertGreater(needed, available)

        self.for_each(CAUSES, check)

    def test_fragmentation_is_a_pin_in_each_of_many_segments(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                snapshot, truth = make_scenario("oom-fragmentation", seed)
                pinned = [
                    segment
                    for segment in snapshot["segments"]
                    if 4 * segment["allocated_size"] < segment["total_size"]
                    and any(
                        frame["name"] == "collect"
                        for block in segment["blocks"]
                        for frame in block["frames"]
                    )
                ]
                self.assertGreater(len(pinned), 30)
                free = sum(row["total_size"] - row["active_size"] for row in pinned)
                self.assertGreater(free, truth["planted"]["free_bytes"] * 0.8)

    def test_the_state_is_that_of_the_file(self):
        for name in [*CAUSES, *HEALTHY, *LEAKS]:
            for seed in SEEDS:
                with self.subTest(name, seed=seed):
                    snapshot, truth = make_scenario(name, seed)
                    self.check_sums(truth["planted"])
                    self.assertEqual(truth["planted"]["segments"], segments_of_file(snapshot))

    def check_sums(self, planted):
        segments = planted["segments"]
        states = {
            "allocated_bytes": "active_allocated",
            "pending_bytes": "active_pending_free",
            "free_bytes": "inactive",
        }
        for key, state in states.items():
            self.assertEqual(planted[key], sum(b["size"] for b in blocks_of(segments, state)), key)
        self.assertEqual(planted["reserved_bytes"], sum(s["size"] for s in segments))
        taken = ("reserved_bytes", "outside_bytes", "device_free")
        self.assertEqual(planted["capacity"], sum(planted[key] for key in taken))
        found = {
            (row["stream"], row["small"], *row["pool"]): (row["largest_hole"], row["free_bytes"])
            for row in planted["largest_hole"]
        }
        expected = {key: (max(sizes), sum(sizes)) for key, sizes in holes_of(segments).items()}
        self.assertEqual(found, expected)

    def test_healthy_programs_end(self):
        def check(_, trace, truth):
            self.assertEqual(truth["ooms"], 0)
            for key in ("cause", "event", "request_bytes", "request_stream"):
                self.assertIsNone(truth["planted"][key])

        self.for_each([*HEALTHY, *LEAKS], check)

    def test_healthy_programs_hold_what_they_promise(self):
        def check(name, trace, truth):
            planted = truth["planted"]
            places = planted["largest_hole"]
            if name == "healthy-near-full":
                within_reach = planted["capacity"] - planted["outside_bytes"]
                self.assertGreater(truth["max_memory_reserved"], within_reach * 0.95)
                actions = [event["action"] for event in trace]
                self.assertIn(("segment_free", "segment_alloc"), zip(actions, actions[1:]))
            elif name == "healthy-fragmented":
                self.assertGreater(planted["free_bytes"], 3 * GIB)
            elif name == "healthy-streams":
                self.assertGreater(len({row["stream"] for row in places}), 1)
            elif name == "healthy-pool":
                self.assertIn([0, 1], [row["pool"] for row in places])

        self.for_each(HEALTHY, check)

    def test_without_the_entry_the_dump_is_the_moment(self):
        for name in CAUSES:
            with self.subTest(name):
                snapshot, truth = make_scenario(name, 0, "--skip-actions", "oom")
                full, full_truth = make_scenario(name, 0)
                self.assertIsNone(truth["planted"]["event"])
                self.assertEqual(truth["ooms"], 0)
                expected = dict(full_truth["planted"], event=None)
                self.assertEqual(truth["planted"], expected)
                self.assertEqual(snapshot["device_traces"][0], full["device_traces"][0][:-1])

    def test_a_program_may_free_before_the_dump(self):
        for name in CAUSES:
            with self.subTest(name):
                snapshot, truth = make_scenario(name, 0, "--frees-after-oom", "5")
                _, expected = make_scenario(name, 0)
                self.assertEqual(truth["planted"], expected["planted"])
                trace = snapshot["device_traces"][0]
                behind = [event["action"] for event in trace[truth["planted"]["event"] + 1 :]]
                self.assertEqual(behind, ["free_requested", "free_completed"] * 5)

    def test_the_index_of_the_oom_counts_kept_events(self):
        snapshot, truth = make_scenario("oom-outside", 1, "--max-entries", "200")
        event = truth["planted"]["event"]
        self.assertEqual(event, 199)
        self.assertEqual(snapshot["device_traces"][0][event]["action"], "oom")

    def test_the_same_options_give_the_same_bytes(self):
        for name in PROGRAMS:
            with self.subTest(name):
                arguments = ["--scenario", name, "--steps", "2", "--truth-maps", "3"]
                first = make(*arguments)
                make.cache_clear()
                self.assertEqual(first, make(*arguments))
                self.assertNotEqual(first[0], make(*arguments, "--seed", "1")[0])
                json.dumps(first[1])

    def test_options_that_spoil_a_scenario_are_refused(self):
        for arguments in (
            ["--scenario", "oom-fragmentation", "--expandable"],
            ["--scenario", "healthy-fragmented", "--max-split-size-mb", "200"],
            ["--scenario", "oom-other-stream", "--streams", "1"],
            ["--scenario", "leak", "--events", "100"],
            ["--truth-maps", "1"],
        ):
            with self.subTest(arguments), self.assertRaises(SystemExit):
                silently(parse_options, [*arguments, "--output", "-"])
        with self.assertRaises(SystemExit):
            make("--scenario", "oom-capacity", "--capacity", "600MiB")


class LeakTest(unittest.TestCase):
    def test_what_the_leaking_site_keeps(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                snapshot, truth = make_scenario("leak", seed)
                planted = truth["planted"]
                self.assertEqual(planted["bytes_per_step"], MIB)
                trace = snapshot["device_traces"][0]
                starts = planted["first_events"]
                self.assertEqual(len(starts), 20)
                for begin, end in zip(starts, starts[1:] + [len(trace)]):
                    blocks = self.allocs_at(planted["leak_site"], trace[begin:end])
                    self.assertEqual(len(blocks), planted["blocks_per_step"])
                    self.assertEqual(sum(event["size"] for event in blocks), MIB)
                self.assertEqual(self.frees(self.allocs_at(planted["leak_site"], trace), trace), 0)

    def test_others_only_seem_to_leak(self):
        for name in LEAKS:
            for seed in SEEDS:
                with self.subTest(name, seed=seed):
                    snapshot, truth = make_scenario(name, seed)
                    self.check_others(snapshot["device_traces"][0], truth["planted"])

    def check_others(self, trace, planted):
        others = {row["kind"]: row for row in planted["not_leaks"]}
        starts = planted["first_events"]
        behind_third = starts[len(starts) // 3]
        plateau = self.allocs_at(others["plateau"], trace)
        self.assertEqual(len(plateau), len(starts) // 3)
        self.assertEqual(self.allocs_at(others["plateau"], trace[behind_third:]), [])
        self.assertEqual(self.frees(plateau, trace), 0)
        sawtooth = self.allocs_at(others["sawtooth"], trace)
        self.assertEqual(len(sawtooth), len(starts))
        self.assertGreaterEqual(self.frees(sawtooth, trace), len(starts) - 5)

    def test_a_steady_loop_keeps_nothing(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                snapshot, truth = make_scenario("steady", seed)
                self.assertIsNone(truth["planted"]["leak_site"])
                functions = {
                    frame["name"]
                    for event in snapshot["device_traces"][0]
                    for frame in event.get("frames", ())
                }
                self.assertNotIn("leaky_append", functions)

    def test_about_ten_gibibytes_come_and_go(self):
        """With the model that is there without options."""
        _, truths = make("--scenario", "leak", "--layers", "24", "--hidden", "1024")
        self.assertGreater(truths[0]["max_memory_allocated"], 8 * GIB)
        self.assertLess(truths[0]["max_memory_allocated"], 12 * GIB)

    def test_steps_may_be_marked_by_the_optimizer_only(self):
        for markers, expected in ([], 20), (["--no-step-markers"], 0):
            snapshot, _ = make_scenario("leak", 0, *markers)
            starts = [a["name"] for a in snapshot["external_annotations"] if a["stage"] == "START"]
            steps = [name for name in starts if name.startswith("ProfilerStep#")]
            self.assertEqual(len(steps), expected)
            self.assertEqual(starts.count("Optimizer.step#AdamW.step"), 20)

    @staticmethod
    def allocs_at(site, trace):
        wanted = (site["function"], site["file"], site["line"])
        return [
            event
            for event in trace
            if event["action"] == "alloc"
            and any((f["name"], f["filename"], f["line"]) == wanted for f in event["frames"])
        ]

    @staticmethod
    def frees(allocs, trace):
        """How many of these blocks the trace shows as freed."""
        wanted, live, freed = {id(event) for event in allocs}, {}, 0
        for event in trace:
            if event["action"] == "alloc":
                live[event["addr"]] = id(event) in wanted
            elif event["action"] == "free_completed":
                freed += live.pop(event["addr"], False)
        return freed


class MapTest(unittest.TestCase):
    OPTIONS = {
        **{
            name: PROGRAM_OPTIONS[name]
            for name in ("plain", "streams", "expandable", "private pool", "expandable oom", "ring",
                         "out of memory", "oversize blocks", "late", "devices", "ring of one")
        },
        **{
            name: ["--scenario", name, *MODEL]
            for name in ("oom-fragmentation", "oom-other-stream", "healthy-streams")
        },
    }  # fmt: skip

    def test_a_map_follows_from_the_one_before_it(self):
        for name, arguments in self.OPTIONS.items():
            data, truths = make(*arguments, "--truth-maps", "9")
            snapshot = pickle.loads(data)
            for truth in truths:
                with self.subTest(name, device=truth["device"]):
                    trace = snapshot["device_traces"][truth["device"]]
                    self.check_maps(trace, truth["maps"])

    def check_maps(self, trace, maps):
        self.assertLessEqual(maps[0]["event"], 3)
        self.assertEqual(maps[-1]["event"], len(trace) - 1)
        self.assertGreaterEqual(len(maps), min(9, len(trace) // 40 + 1))
        for before, behind in zip(maps, maps[1:]):
            memory, blocks = self.state(before["segments"])
            for event in trace[before["event"] + 1 : behind["event"] + 1]:
                self.follow(event, memory, blocks)
            self.assertEqual((memory, blocks), self.state(behind["segments"]))

    @staticmethod
    def state(segments):
        """The pages of 2 MiB that have memory, and (requested, state) of the blocks in use."""
        pages = set()
        for segment in segments:
            first = segment["address"] // (2 * MIB)
            pages.update(range(first, first + segment["size"] // (2 * MIB)))
            address = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == address
                address += block["size"]
            assert address == segment["address"] + segment["size"]
        used = blocks_of(segments, "active_allocated", "active_pending_free")
        return pages, {block["address"]: (block["requested"], block["state"]) for block in used}

    @staticmethod
    def follow(event, memory, blocks):
        action, size = event["action"], event["size"]
        first = event.get("addr", 0) // (2 * MIB)
        pages = range(first, first + size // (2 * MIB))
        if action in ("segment_alloc", "segment_map"):
            memory.update(pages)
        elif action in ("segment_free", "segment_unmap"):
            memory.difference_update(pages)
        elif action == "alloc":
            blocks[event["addr"]] = (size, "active_allocated")
        elif action == "free_requested":
            blocks[event["addr"]] = (size, "active_pending_free")
        elif action == "free_completed":
            del blocks[event["addr"]]

    def test_the_last_map_is_the_state_in_the_file(self):
        for name, arguments in self.OPTIONS.items():
            data, truths = make(*arguments, "--truth-maps", "9")
            snapshot = pickle.loads(data)
            with self.subTest(name):
                last = [row for truth in truths for row in truth["maps"][-1]["segments"]]
                self.assertEqual(last, segments_of_file(snapshot))

    def test_maps_change_no_byte_of_the_file(self):
        for arguments in self.OPTIONS.values():
            self.assertEqual(make(*arguments)[0], make(*arguments, "--truth-maps", "2")[0])

    def test_a_file_without_events_has_no_maps(self):
        _, truths = make("--steps", "1", "--list-only", "--truth-maps", "5")
        self.assertEqual(truths[0]["maps"], [])


def silently(function, *arguments):
    """argparse tells the user what is wrong; a test does not want to hear it."""
    with redirect_stderr(io.StringIO()):
        return function(*arguments)


if __name__ == "__main__":
    unittest.main()
