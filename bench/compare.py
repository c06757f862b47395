#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""One revision against another: builds both, runs the same benchmarks in turn, prints ratios.

    bench/compare.py main                      main against the working tree
    bench/compare.py v0.1 main --filter parse  two revisions, some benchmarks
    bench/compare.py build-old build-new       two builds that are there already

Both read the same small snapshots, those of CHANGE. A ratio is change / base: below 1 is faster.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from measuring import machine_facts, machine_line, root, table

schema = "memreplay.bench.compare/1"

# What one thread does is timed in CPU seconds, which other work on the machine disturbs less; the
# rest (more threads, a GPU) by the wall clock.
one_thread = re.compile(r"/threads:1/|/serial/|/host_1_thread/|^find_block_sizes/")


def run_quietly(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, command))} left with {done.returncode}")


def bench_sources(source):
    return sorted(path.stem for path in (source / "bench").glob("bench_*.cpp"))


def build_tree(source, build):
    print(f"building {source}", file=sys.stderr)
    run_quietly("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                "-DMEMREPLAY_CUDA_MODE=OFF", "-DMEMREPLAY_DEVELOPER_MODE=ON")
    run_quietly("cmake", "--build", build, "--target", *bench_sources(source))


def build_revision(revision, side, folder):
    """A build folder for a revision; "" is the working tree, a build folder is itself."""
    if revision and (pathlib.Path(revision) / "CMakeCache.txt").is_file():
        return pathlib.Path(revision).resolve()
    build = folder / f"build-{side}"
    if not revision:
        build_tree(root, build)
        return build
    source = folder / side
    run_quietly("git", "-C", root, "worktree", "add", "--detach", source, revision)
    build_tree(source, build)
    return build


def remove_worktrees(folder):
    for side in ("base", "change"):
        if (folder / side).exists():
            run_quietly("git", "-C", root, "worktree", "remove", "--force", folder / side)


def output_of(program, options, environment, *flags):
    command = [program, f"--benchmark_filter={options.filter}", *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=environment, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} left with {done.returncode}")
    return done.stdout


def programs_of(build, options, environment):
    """{name: path} of the programs that have a benchmark which matches."""
    return {path.name: path for path in (build / "bench").glob("bench_*")
            if path.is_file() and os.access(path, os.X_OK)
            and output_of(path, options, environment, "--benchmark_list_tests=true").strip()}


def run_benchmarks(program, options, environment):
    """{name: seconds} of one pass."""
    output = output_of(program, options, environment, "--benchmark_format=json",
                       f"--benchmark_min_time={options.min_time}")
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    seconds = {}
    for row in json.loads(output)["benchmarks"]:
        if not row.get("error_occurred"):
            time = row["cpu_time" if one_thread.search(row["name"]) else "real_time"]
            seconds[row["name"]] = time * units[row["time_unit"]]
    return seconds


def run_in_turn(builds, options):
    """{name: {side: [seconds of each run]}}. Who goes first changes from run to run."""
    inputs = builds["change"] / "bench" / "inputs"
    environment = dict(os.environ, MEMREPLAY_BENCH_INPUTS=str(inputs))
    programs = {side: programs_of(build, options, environment) for side, build in builds.items()}
    found = {}
    for run in range(options.runs):
        for name in sorted({*programs["base"], *programs["change"]}):
            for side in ("base", "change") if run % 2 == 0 else ("change", "base"):
                if name not in programs[side]:
                    continue
                print(f"run {run + 1} of {options.runs}: {name} of {side}", file=sys.stderr)
                seconds = run_benchmarks(programs[side][name], options, environment)
                for benchmark, value in seconds.items():
                    sides = found.setdefault(benchmark, {"base": [], "change": []})
                    sides[side].append(value)
    return found


def summarize(name, sides):
    """The ratios of single passes, their median and ends, and the ratio of the best passes, which
    other work on the machine disturbs least."""
    row = {"name": name, "base_seconds": sides["base"], "change_seconds": sides["change"]}
    ratios = [change / base for base, change in zip(sides["base"], sides["change"])]
    if ratios:
        row.update(ratio=statistics.median(ratios), ratio_low=min(ratios), ratio_high=max(ratios),
                   ratio_best=min(sides["change"]) / min(sides["base"]))
    return row


def print_table(rows):
    cells = []
    for row in rows:
        medians = [f"{1e3 * statistics.median(row[key]):.3f}" if row[key] else "absent"
                   for key in ("base_seconds", "change_seconds")]
        spread = f"{row['ratio_low']:.3f} - {row['ratio_high']:.3f}" if "ratio" in row else ""
        ratio, best = (f"{row[key]:.3f}" if key in row else "-" for key in ("ratio", "ratio_best"))
        cells.append([row["name"], *medians, ratio, spread, best])
    print(table(["benchmark", "base ms", "change ms", "change / base", "of single passes",
                 "of the best"], cells))
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean of {len(ratios)} ratios: {mean:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base", help="git revision or build folder")
    parser.add_argument("change", nargs="?", default="", help="the same (the working tree)")
    parser.add_argument("--filter", default=".", metavar="REGEX", help="benchmarks (all)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="passes a side (5)")
    parser.add_argument("--min-time", type=float, default=0.1, metavar="S",
                        help="seconds of a benchmark in a pass (0.1)")
    parser.add_argument("--json", metavar="FILE", help="all seconds and ratios")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs must be at least 1")

    with tempfile.TemporaryDirectory(prefix="memreplay_compare_") as name:
        folder = pathlib.Path(name)
        # By paths relative to the folder, ccache knows a revision that it has seen before.
        os.environ.update(CCACHE_BASEDIR=name, CCACHE_NOHASHDIR="true")
        try:
            builds = {"base": build_revision(options.base, "base", folder),
                      "change": build_revision(options.change, "change", folder)}
            found = run_in_turn(builds, options)
            machine = machine_facts(builds["change"])
        finally:
            remove_worktrees(folder)
    if not found:
        sys.exit(f"no benchmark matches '{options.filter}'")
    rows = [summarize(benchmark, sides) for benchmark, sides in found.items()]
    print(machine_line(machine) + "\n")
    print_table(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"schema": schema, "machine": machine, "base": os.path.basename(options.base),
             "change": os.path.basename(options.change) or "working tree",
             "benchmarks": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
