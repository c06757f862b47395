#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that run out of memory for a planted cause, against what `memreplay oom` says.

    oom_causes_test.py PROGRAM [SEEDS]

Each cause must be named with the oom event and without it (then the request and the device's
memory are given, as a user has them from the error message), and no cause where nothing failed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
FAILING = ("capacity", "fragmentation", "other-stream", "private-pool", "outside", "huge-request",
           "memory-limit")
HEALTHY = ("steady", "fragmented", "near-full", "streams", "pool")
TOTALS = {"reserved_bytes": "reserved_bytes", "allocated_bytes": "allocated_bytes",
          "pending_bytes": "pending_bytes", "free_bytes": "inactive_bytes"}


def make(folder, scenario, seed, *options):
    snapshot, truth = folder / "s.pickle", folder / "s.json"
    subprocess.run([sys.executable, root / "tools/make_snapshot.py", "--scenario", scenario,
                    "--seed", str(seed), "-o", snapshot, "--truth", truth, *options], check=True)
    return snapshot, json.loads(truth.read_text())["devices"][0]["planted"]


def problems(program, snapshot, planted, *options):
    run = subprocess.run([program, "oom", snapshot, "--json", *options], capture_output=True,
                         text=True)
    if run.returncode != 0:
        return [run.stderr.strip()]
    said = json.loads(run.stdout)["devices"][0]
    found = []
    cause = planted["cause"] or "none"
    if said["verdict"]["cause"] != cause:
        found.append("planted %s, said %s" % (cause, said["verdict"]))
    for wanted, told in TOTALS.items():
        if planted[wanted] != said["memory"][told]:
            found.append("%s: %s, said %s" % (wanted, planted[wanted], said["memory"][told]))
    if planted["request_bytes"] != said["request"]["bytes"]:
        found.append("request %s, said %s" % (planted["request_bytes"], said["request"]["bytes"]))
    if sum(row["bytes"] for row in said["free_by_reason"]) != said["memory"]["inactive_bytes"]:
        found.append("the reasons do not sum up to the inactive bytes")
    stranded = sum(row["stranded_bytes"] for row in said["pinners"])
    if stranded + said["pinners_rest"]["stranded_bytes"] != said["pinned_bytes"]:
        found.append("the pinners do not sum up")
    return found


def main():
    program = sys.argv[1]
    seeds = range(1, 1 + (int(sys.argv[2]) if len(sys.argv) > 2 else 5))
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in seeds:
            for scenario in ["oom-" + cause for cause in FAILING]:
                snapshot, planted = make(folder, scenario, seed)
                found = problems(program, snapshot, planted)
                snapshot, planted = make(folder, scenario, seed, "--skip-actions", "oom")
                found += problems(program, snapshot, planted,
                                  "--request", str(planted["request_bytes"]),
                                  "--stream", str(planted["request_stream"]),
                                  "--capacity", str(planted["capacity"]))
                failed += bool(found)
                for problem in found:
                    print("%s, seed %d: %s" % (scenario, seed, problem))
            for scenario in ["healthy-" + kind for kind in HEALTHY]:
                snapshot, planted = make(folder, scenario, seed)
                found = problems(program, snapshot, planted)
                failed += bool(found)
                for problem in found:
                    print("%s, seed %d: %s" % (scenario, seed, problem))
    print("%d seeds, %d failures" % (len(seeds), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
