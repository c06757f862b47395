#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""memreplay against Python and against memcpy, on one machine in one run.

Makes snapshots of the asked sizes (or reuses those made before), runs each contestant in a process
of its own, one after the other in turn, and prints medians: a table for each size, the cost of an
event against the number of events, and the targets, met or missed. Ratios of one run mean
something; the seconds are this machine's. docs/performance.md says how to read all of it.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from measuring import machine_facts, machine_line, memory_bytes, root, table

schema = "memreplay.bench.chain/1"

pickle_load = """
import gc, json, os, pickle, sys, time
if sys.argv[2] == "off":
    gc.disable()
with open(sys.argv[1], "rb") as file:
    wall, cpu = time.perf_counter(), time.process_time()
    snapshot = pickle.load(file)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
print(json.dumps({"cpu_seconds": cpu, "wall_seconds": wall}), flush=True)
os._exit(0)  # taking the objects down again is no part of loading them
"""

LOAD_ON, LOAD_OFF = "pickle.load, collector on", "pickle.load, collector off"
PARSE, PARSE_2 = "memreplay parse, 1 thread", "memreplay parse, 2 threads"
REPORT, REPORT_2 = "memreplay report, 1 thread", "memreplay report, 2 threads"
PLAIN, COPY = "plain Python replay", "memcpy"


class Contestant:
    """A command that takes a snapshot, and the memory that it needs for one."""

    def __init__(self, command, times_file, times_itself):
        self.command = command
        self.times_file = times_file  # resident bytes, in sizes of the file
        self.times_itself = times_itself  # prints its seconds; else the whole process counts


def contestants(build):
    time_once = os.path.join(build, "bench", "time_once")
    report = [os.path.join(build, "memreplay"), "report", "--quiet", "--out", "-", "--threads"]
    plain = [sys.executable, str(root / "bench" / "plain_replay.py")]

    def load(collector):
        return Contestant(lambda path: [sys.executable, "-c", pickle_load, path, collector],
                          4.5, True)

    return {
        LOAD_ON: load("on"),
        LOAD_OFF: load("off"),
        PARSE: Contestant(lambda path: [time_once, "parse", path, "1"], 0.5, True),
        PARSE_2: Contestant(lambda path: [time_once, "parse", path, "2"], 0.5, True),
        REPORT: Contestant(lambda path: [*report, "1", path], 0.5, False),
        REPORT_2: Contestant(lambda path: [*report, "2", path], 0.5, False),
        PLAIN: Contestant(lambda path: [*plain, path], 5.1, False),
        COPY: Contestant(lambda path: [time_once, "copy", path], 2.0, True),
    }


def measure(contestant, path):
    """One run in a fresh process: CPU and wall seconds, peak resident bytes, and its output."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(contestant.command(path), stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return {"failed": f"left with {process.returncode}"}
        found = {"cpu_seconds": usage.ru_utime + usage.ru_stime, "wall_seconds": wall,
                 "resident_bytes": usage.ru_maxrss * 1024}
        if contestant.times_itself:
            output.seek(0)
            found.update(json.loads(output.read()))
    return found


def read_through(path):
    """Every run finds the file in the page cache, as far as it fits."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def make_snapshot(folder, events, depth):
    path = os.path.join(folder, f"chain_{events}_{depth}.pickle")
    if not os.path.exists(path):
        print(f"making {os.path.basename(path)}", file=sys.stderr)
        half_made = path + ".part"
        subprocess.run([sys.executable, str(root / "tools" / "make_snapshot.py"), "-o", half_made,
                        "--events", str(events), "--depth", str(depth)], check=True)
        os.rename(half_made, path)
    return path


def reason_to_skip(name, contestant, size, options):
    """Why a contestant cannot take part, or nothing. It is told in every table."""
    if options.without and re.search(options.without, name):
        return "left out by --without"
    free = memory_bytes("MemAvailable")
    needed = contestant.times_file * size + 200e6
    if free is not None and needed > free:
        return f"needs about {needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free"
    return None


def run_size(path, options, runs):
    """All runs of all contestants on one file."""
    size = os.path.getsize(path)
    rows = {}
    field = contestants(options.build)
    for name, contestant in field.items():
        rows[name] = {"name": name, "skipped": reason_to_skip(name, contestant, size, options),
                      "runs": []}
    for number in range(runs):
        for name, contestant in field.items():
            row = rows[name]
            if row["skipped"]:
                continue
            print(f"run {number + 1} of {runs}: {name}", file=sys.stderr)
            read_through(path)
            found = measure(contestant, path)
            if "failed" in found:
                row["skipped"] = found["failed"]
            else:
                row["runs"].append(found)
    if rows[PARSE]["skipped"]:
        sys.exit(f"{PARSE} is what all others are compared with: {rows[PARSE]['skipped']}")
    events = rows[PARSE]["runs"][0]["events"]
    for row in rows.values():
        row["median"] = None if row["skipped"] else {
            key: statistics.median(run[key] for run in row["runs"])
            for key in ("cpu_seconds", "wall_seconds", "resident_bytes")}
        for run in row["runs"]:
            run.pop("events", None)
    return {"events": events, "snapshot_bytes": size, "contestants": list(rows.values())}


def median_of(size, name, key):
    """None when that contestant did not take part."""
    row = next(row for row in size["contestants"] if row["name"] == name)
    return row["median"][key] if row["median"] else None


def quotient(size, over, under, key):
    over, under = median_of(size, over, key), median_of(size, under, key)
    return over / under if over and under else None


def nanoseconds(size, name):
    seconds = median_of(size, name, "cpu_seconds")
    return None if seconds is None else 1e9 * seconds / max(size["events"], 1)


def allowed_memory(size, name):
    """Resident memory as a share of what it may be: half of the file and 200 MB."""
    resident = median_of(size, name, "resident_bytes")
    return None if resident is None else resident / (0.5 * size["snapshot_bytes"] + 200e6)


def judge(sizes):
    """The targets, each with its number for every size that has one."""

    def target(name, wanted, is_met, value_of, over_sizes=sizes):
        measured = [{"events": size["events"], "value": value_of(size)} for size in over_sizes]
        measured = [row for row in measured if row["value"] is not None]
        met = all(is_met(row["value"]) for row in measured) if measured else None
        return {"name": name, "wanted": wanted, "measured": measured, "met": met}

    def at_least(bound):
        return lambda value: value >= bound

    def at_most(bound):
        return lambda value: value <= bound

    found = [
        target("parse (1 thread) faster than pickle.load, collector on; CPU", ">= 30",
               at_least(30), lambda size: quotient(size, LOAD_ON, PARSE, "cpu_seconds")),
        target("parse (1 thread) faster than pickle.load, collector off; CPU", ">= 12",
               at_least(12), lambda size: quotient(size, LOAD_OFF, PARSE, "cpu_seconds")),
        target("parse (1 thread) at a share of memcpy's rate; CPU", ">= 0.167",
               at_least(1 / 6), lambda size: quotient(size, COPY, PARSE, "cpu_seconds")),
        target("parse, 2 threads faster than 1; wall", ">= 1.8",
               at_least(1.8), lambda size: quotient(size, PARSE, PARSE_2, "wall_seconds")),
        target("report (1 thread) faster than the plain Python replay; CPU", ">= 100",
               at_least(100), lambda size: quotient(size, PLAIN, REPORT, "cpu_seconds")),
        target("report (2 threads) faster than the plain Python replay; wall", ">= 100",
               at_least(100), lambda size: quotient(size, PLAIN, REPORT_2, "wall_seconds")),
    ]
    for name in (PARSE, REPORT, REPORT_2):
        found.append(target(f"{name}: resident share of (file / 2 + 200 MB)", "<= 1", at_most(1),
                            lambda size, name=name: allowed_memory(size, name)))
    # Linear: an event of the largest file costs what one of the smallest costs.
    for name in (PARSE, REPORT):
        smallest = nanoseconds(sizes[0], name)
        found.append(target(f"{name}: ns/event against the smallest file", "<= 1.15", at_most(1.15),
                            lambda size, name=name, smallest=smallest:
                            nanoseconds(size, name) / smallest
                            if smallest and nanoseconds(size, name) else None, sizes[1:]))
    return found


def size_table(size):
    rows, skipped = [], []
    for row in size["contestants"]:
        if row["skipped"]:
            rows.append([row["name"], "skipped", *[""] * 6])
            skipped.append(f"- {row['name']} skipped: {row['skipped']}\n")
            continue
        median = row["median"]
        cpu, wall, resident = (median[key] for key in
                               ("cpu_seconds", "wall_seconds", "resident_bytes"))
        rows.append([row["name"], f"{cpu:.3f}", f"{wall:.3f}",
                     f"{size['snapshot_bytes'] / 1e6 / wall:.0f}",
                     f"{nanoseconds(size, row['name']):.0f}",
                     f"{quotient(size, row['name'], PARSE, 'cpu_seconds'):.2f}",
                     f"{resident / 1e6:.0f} MB", f"{resident / size['snapshot_bytes']:.2f}"])
    header = ["", "CPU s", "wall s", "MB/s", "ns/event", "x parse", "resident", "of the file"]
    runs = max(len(row["runs"]) for row in size["contestants"])
    return "\n".join([
        f"{size['events']:,} events, {size['snapshot_bytes'] / 1e6:.0f} MB, medians of {runs}:\n",
        table(header, rows), *(["".join(skipped)] if skipped else [])])


def linearity_table(sizes):
    rows = []
    for row in sizes[0]["contestants"]:
        costs = [nanoseconds(size, row["name"]) for size in sizes]
        growth = costs[-1] / costs[0] if costs[0] and costs[-1] else None
        rows.append([row["name"], *(f"{cost:.0f}" if cost else "skipped" for cost in costs),
                     f"{growth:.2f}" if growth else "-"])
    header = ["CPU ns/event", *(f"{size['events']:,}" for size in sizes), "largest / smallest"]
    return table(header, rows)


def target_table(targets):
    rows = []
    for row in targets:
        values = [f"{one['value']:.3g} at {one['events']:,}" for one in row["measured"]]
        verdict = {True: "met", False: "missed", None: "not measured"}[row["met"]]
        rows.append([row["name"], row["wanted"], "; ".join(values) or "-", verdict])
    return table(["target", "wanted", "measured", ""], rows)


def numbers(text):
    try:
        return [int(part) for part in text.replace("_", "").split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=numbers, default=[1_000_000], metavar="N,N",
                        help="sizes, each a snapshot (1000000)")
    parser.add_argument("--runs", type=numbers, default=[5], metavar="N,N",
                        help="of each contestant; one number, or one for each size (5)")
    parser.add_argument("--depth", type=int, default=60, help="mean depth of stacks (60)")
    parser.add_argument("--snapshot", metavar="FILE", help="measure this file, make none")
    parser.add_argument("--snapshots", metavar="FOLDER", help="keeps those made (BUILD/bench)")
    parser.add_argument("--build", default=str(root / "build"), help="build with benchmarks")
    parser.add_argument("--without", metavar="REGEX", help="contestants to leave out")
    parser.add_argument("--json", metavar="FILE", help="all runs, medians and targets")
    parser.add_argument("--markdown", metavar="FILE", help="the tables, as printed")
    options = parser.parse_args()
    options.events.sort()
    if min(options.events) < 1 or min(options.runs) < 1:
        parser.error("--events and --runs must be at least 1")
    if len(options.runs) == 1:
        options.runs *= len(options.events)
    if len(options.runs) != len(options.events):
        parser.error("--runs takes one number, or one for each of --events")
    for program in ("memreplay", "bench/time_once"):
        if not os.access(os.path.join(options.build, program), os.X_OK):
            parser.error(f"{options.build} has no {program}: build with "
                         "-DMEMREPLAY_DEVELOPER_MODE=ON, or name another folder with --build")
    if options.snapshot and not os.path.isfile(options.snapshot):
        parser.error(f"no file {options.snapshot}")
    return options


def main():
    options = parse_options()
    if options.snapshot:
        sizes = [run_size(options.snapshot, options, options.runs[0])]
    else:
        folder = options.snapshots or os.path.join(options.build, "bench")
        sizes = [run_size(make_snapshot(folder, events, options.depth), options, runs)
                 for events, runs in zip(options.events, options.runs)]
    targets = judge(sizes)
    machine = machine_facts(options.build)
    parts = [machine_line(machine) + "\n", *(size_table(size) for size in sizes)]
    if len(sizes) > 1:
        parts.append(linearity_table(sizes))
    text = "\n".join([*parts, target_table(targets)])
    print(text, end="")
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"schema": schema, "machine": machine, "depth": options.depth, "sizes": sizes,
             "targets": targets}, indent=1) + "\n")


if __name__ == "__main__":
    main()
