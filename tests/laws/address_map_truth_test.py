#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""What `memreplay segments --event N` says, against the allocator that the snapshot is from.

    address_map_truth_test.py PROGRAM [SEEDS]

The snapshot maker keeps every segment and block of its allocator after some events. A map that is
called exact must equal that to the byte; one that is not must say why, and its segments, addresses
and sums that the trace does tell must still be right.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
SMALL = "--steps 3 --layers 2 --hidden 256 --depth 8 --stacks 30"
PROGRAMS = {
    "plain": SMALL,
    "streams": SMALL + " --streams 3",
    "expandable": SMALL + " --expandable --streams 2",
    "split limit": SMALL + " --max-split-size-mb 64",
    "private pool": SMALL + " --private-pool",
    "late": SMALL + " --record-from-step 1 --streams 2",
    "ring buffer": SMALL + " --max-entries 700",
    "oom": SMALL + " --capacity 400MiB",
    "old layout": SMALL + " --layout 2.0 --protocol 2",
    "leak": "--scenario leak --layers 2 --hidden 256 --depth 8 --stacks 30 --private-pool",
}
# What `segments` of a trace tell without doubt, whatever else is unknown.
CERTAIN = ("address", "bytes", "expandable")


def numbers_of(segment):
    """A segment of the truth in the words of the answer."""
    by_state = {"active_allocated": 0, "active_pending_free": 0, "active_awaiting_free": 0,
                "inactive": 0}
    requested = blocks = 0
    holes = [0]
    for block in segment["blocks"]:
        by_state[block["state"]] += block["size"]
        if block["state"] == "inactive":
            holes.append(block["size"])
        else:
            requested += block["requested"]
            blocks += 1
    pending = by_state["active_pending_free"] + by_state["active_awaiting_free"]
    return {
        "address": segment["address"], "bytes": segment["size"], "stream": segment["stream"],
        "pool": segment["pool"], "small": segment["small"], "expandable": segment["expandable"],
        "allocated_bytes": by_state["active_allocated"], "pending_bytes": pending,
        "free_bytes": by_state["inactive"], "requested_bytes": requested, "blocks": blocks,
        "holes": len(holes) - 1, "largest_hole_bytes": max(holes),
    }


def problems(program, snapshot, truth):
    """Yields (exact, list of what differs) for each map."""
    for known in truth["maps"]:
        run = subprocess.run(
            [program, "segments", snapshot, "--event", str(known["event"]), "--json", "--top", "0"],
            capture_output=True, text=True)
        if run.returncode != 0:
            yield False, [run.stderr.strip()]
            continue
        said = json.loads(run.stdout)["devices"][0]
        wanted = {row["address"]: numbers_of(row) for row in known["segments"]}
        told = {row["address"]: row for row in said["segments"]}
        found = []
        if wanted.keys() != told.keys():
            found.append("%d segments, said %d" % (len(wanted), len(told)))
        if not said["exact"] and not said["reason"]:
            found.append("not exact, and no reason")
        for address in wanted.keys() & told.keys():
            for key in wanted[address] if said["exact"] else CERTAIN:
                if wanted[address][key] != told[address][key]:
                    found.append("0x%x: %s is %s, said %s" % (address, key, wanted[address][key],
                                                              told[address][key]))
        yield said["exact"], ["event %d: %s" % (known["event"], problem) for problem in found]


def main():
    program = sys.argv[1]
    seeds = range(1, 1 + (int(sys.argv[2]) if len(sys.argv) > 2 else 2))
    maps = exact = failed = 0
    with tempfile.TemporaryDirectory() as name:
        snapshot, answers = pathlib.Path(name, "s.pickle"), pathlib.Path(name, "s.json")
        for kind, options in PROGRAMS.items():
            for seed in seeds:
                subprocess.run(
                    [sys.executable, root / "tools/make_snapshot.py", *options.split(), "--seed",
                     str(seed), "-o", snapshot, "--truth", answers, "--truth-maps", "8"],
                    check=True)
                truth = json.loads(answers.read_text())["devices"][0]
                for is_exact, found in problems(program, snapshot, truth):
                    maps += 1
                    exact += is_exact
                    failed += bool(found)
                    for problem in found[:5]:
                        print("%s, seed %d: %s" % (kind, seed, problem))
    print("%d maps, %d of them exact, %d failures" % (maps, exact, failed))
    # A program that calls nothing exact would agree with everything.
    return 1 if failed or exact * 2 < maps else 0


if __name__ == "__main__":
    sys.exit(main())
