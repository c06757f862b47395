#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""memreplay against pickle.load on one machine in one run: CPU seconds, ratios, resident memory.

Makes a snapshot with tools/make_snapshot.py (or takes one), then alternates the contestants, each
in a process of its own, and prints the median of the runs as one table. Ratios of one run mean
something; the seconds are this machine's.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent

pickle_load = """
import gc, pickle, sys, time
if sys.argv[2] == "off":
    gc.disable()
with open(sys.argv[1], "rb") as file:
    start = time.process_time()
    pickle.load(file)
    print(time.process_time() - start)
"""


def cpu_and_memory(command, environment=None):
    """CPU seconds, peak resident bytes and output of a finished command."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--depth", type=int, default=60)
    parser.add_argument("--snapshot", help="use this file instead of making one")
    parser.add_argument("--build", default=str(root / "build"), help="build with benchmarks")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", help="also write the numbers to this file")
    options = parser.parse_args()

    snapshot = options.snapshot
    if not snapshot:
        snapshot = os.path.join(options.build, f"bench_{options.events}_{options.depth}.pickle")
        if not os.path.exists(snapshot):
            subprocess.run([sys.executable, root / "tools/make_snapshot.py", "-o", snapshot,
                            "--events", str(options.events), "--depth", str(options.depth)],
                           check=True)
    size = os.path.getsize(snapshot)

    program = os.path.join(options.build, "memreplay")
    parse = [os.path.join(options.build, "bench", "bench_parse"), "--benchmark_format=json"]
    environment = dict(os.environ, MEMREPLAY_BENCH_SNAPSHOT=snapshot)
    seconds = {"pickle.load, collector on": [], "pickle.load, collector off": [],
               "memreplay parse": [], "memreplay report": []}
    memory = {}
    events = 0
    for _ in range(options.runs):
        for collector in ("on", "off"):
            name = f"pickle.load, collector {collector}"
            _, memory[name], output = cpu_and_memory(
                [sys.executable, "-c", pickle_load, snapshot, collector])
            seconds[name].append(float(output))
        _, memory["memreplay parse"], output = cpu_and_memory(parse, environment)
        run = json.loads(output)["benchmarks"][0]
        seconds["memreplay parse"].append(run["cpu_time"] / 1000)
        events = round(run["items_per_second"] * run["cpu_time"] / 1000)
        cpu, memory["memreplay report"], _ = cpu_and_memory(
            [program, "report", "--quiet", "--out", "-", "--threads", "1", snapshot])
        seconds["memreplay report"].append(cpu)

    median = {name: statistics.median(values) for name, values in seconds.items()}
    parse_seconds = median["memreplay parse"]
    print(f"{snapshot}: {size / 1e6:.0f} MB, {events} events, {options.runs} runs, medians")
    print(f"{'':28} {'CPU s':>8} {'MB/s':>8} {'ns/event':>9} {'resident':>9} {'of file':>8} "
          f"{'x parse':>8}")
    for name, value in median.items():
        print(f"{name:28} {value:8.3f} {size / 1e6 / value:8.0f} "
              f"{1e9 * value / max(events, 1):9.0f} {memory[name] / 1e6:6.0f} MB "
              f"{memory[name] / size:8.2f} {value / parse_seconds:8.1f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"snapshot_bytes": size, "events": events, "cpu_seconds": seconds,
                       "resident_bytes": memory}, file, indent=1)


if __name__ == "__main__":
    main()
