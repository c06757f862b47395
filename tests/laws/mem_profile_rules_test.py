#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The peak report's founding rules, written again in plain Python, against the program.

    mem_profile_rules_test.py PROGRAM CORPUS    CORPUS may be absent: made-up snapshots only

Allocated bytes: an alloc adds, the first free of a live address subtracts, frees of unknown
addresses are ignored. Peaks: local maxima, a plateau once at its last event, largest first, none
within 3 % of a larger one. Contributors: innermost frame under the root, else innermost .py frame,
else innermost named frame; bytes and tensors by (file, line).
"""
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
PEAKS = 6


def is_project(path, folder):
    """Below the root; a Python installation inside it is not the project's code."""
    installed = re.search(r"/(site-packages|dist-packages|lib/python3[^/]*)/", path)
    return path.startswith(folder.rstrip("/") + "/") and not installed


def blame(frames, folder):
    for accept in (lambda f: is_project(f["filename"], folder),
                   lambda f: f["filename"].endswith(".py"),
                   lambda f: f["name"] and f["name"] != "??"):
        for frame in frames or ():
            if accept(frame):
                return frame["filename"], frame["line"]
    return "", 0


def changes(trace):
    """(event, change in bytes, lifetime opened, lifetimes closed) of each event that matters."""
    live = {}
    for event, entry in enumerate(trace):
        if entry["action"] == "alloc":
            closed = live.pop(entry["addr"], None)
            live[entry["addr"]] = (event, entry["size"])
            yield event, entry["size"] - (closed[1] if closed else 0), event, closed
        elif entry["action"] in ("free_requested", "free_completed") and entry["addr"] in live:
            closed = live.pop(entry["addr"])
            yield event, -closed[1], None, closed


def find_peaks(trace):
    level, curve = 0, []
    for event, change, _, _ in changes(trace):
        if change:
            level += change
            curve.append((event, change, level))
    candidates = []
    for row, (event, change, level) in enumerate(curve):
        is_last = row + 1 == len(curve)
        if change > 0 and (is_last or curve[row + 1][1] < 0):
            candidates.append((level, len(trace) - 1 if is_last else curve[row + 1][0] - 1))
    chosen = []
    for level, event in sorted(candidates, key=lambda peak: (-peak[0], peak[1])):
        if all(abs(other - level) * 100 > 3 * other for other, _ in chosen):
            chosen.append((level, event))
        if len(chosen) == PEAKS:
            break
    return chosen


def holders(trace, until, folder):
    live = {}
    for event, _, opened, closed in changes(trace[:until + 1]):
        if closed:
            del live[closed[0]]
        if opened is not None:
            live[opened] = trace[opened]
    sites = {}
    for entry in live.values():
        row = sites.setdefault(blame(entry.get("frames"), folder), [0, 0])
        row[0] += entry["size"]
        row[1] += 1
    return sites


def compare(program, path, folder):
    """Number of peaks that were compared."""
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    done = subprocess.run(
        [program, "report", "--json", "--quiet", "--backend", "host", "--carried-in", "ignore",
         "--site", "project", "--project-root", folder, "--top-contributors", "0", path],
        capture_output=True, text=True, check=True)
    device = json.loads(done.stdout)["devices"][0]
    trace = snapshot["device_traces"][device["device"]]
    assert device["events"] == max(len(other) for other in snapshot["device_traces"])
    known = find_peaks(trace)
    assert [(peak["bytes"], peak["event"]) for peak in device["peaks"]] == known, (path, known)
    for peak in device["peaks"]:
        wanted = holders(trace, peak["event"], folder)
        # A frame whose line is unknown is grouped by its function in the report: compare per file.
        given = {}
        for site in peak["sites"]:
            row = given.setdefault(site["file"], [0, 0])
            row[0] += site["bytes"]
            row[1] += site["tensors"]
        if all(site["line"] for site in peak["sites"] if site["file"].endswith(".py")):
            lines = {(s["file"], s["line"]): [s["bytes"], s["tensors"]] for s in peak["sites"]
                     if s["file"].endswith(".py")}
            python_sites = {key: row for key, row in wanted.items() if key[0].endswith(".py")}
            assert lines == python_sites, path
        assert sum(row[0] for row in wanted.values()) == peak["bytes"]
        assert sum(row[1] for row in given.values()) == sum(row[1] for row in wanted.values())
        assert sum(row[0] for row in given.values()) == peak["bytes"]
    return len(known)


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    made = ("--steps 3 --layers 4 --hidden 256 --depth 16 --stacks 80",
            "--steps 5 --layers 3 --hidden 256 --depth 16 --streams 3 --max-entries 1500",
            "--steps 4 --layers 3 --hidden 256 --depth 16 --record-from-step 2 --expandable")
    files = peaks = 0
    with tempfile.TemporaryDirectory() as folder:
        for row, options in enumerate(made):
            path = f"{folder}/{row}.pickle"
            subprocess.run([sys.executable, root / "tools/make_snapshot.py", *options.split(),
                            "-o", path], check=True)
            peaks += compare(program, path, "/home/user/proj")
            files += 1
    # The corpus is trusted; foreign files are not for pickle.load.
    for path in sorted((corpus / "real").glob("*.pickle")):
        with open(path, "rb") as file:
            snapshot = pickle.load(file)
        traces = snapshot.get("device_traces", []) if isinstance(snapshot, dict) else []
        if any(traces):
            peaks += compare(program, str(path), "/home")
            files += 1
    if not (corpus / "real").is_dir():
        print("no corpus: made-up snapshots only")
    print(f"{peaks} peaks of {files} snapshots are the rules' to the byte")


if __name__ == "__main__":
    main()
