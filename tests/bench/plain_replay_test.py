#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""bench/plain_replay.py does the work of `memreplay report`: the same peaks, sites and bytes.

    plain_replay_test.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent

MADE = (
    "--steps 4 --layers 4 --hidden 256 --depth 30 --stacks 80",
    "--steps 5 --layers 3 --hidden 256 --depth 16 --streams 3 --max-entries 1500",
    "--steps 4 --layers 3 --hidden 256 --record-from-step 2 --expandable --context alloc",
    "--events 3000 --layers 3 --hidden 256 --depth 16 --writer cpp --devices 2",
    "--steps 3 --layers 3 --hidden 256 --depth 16 --skip-actions free_requested",
)


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def python_sites(peak):
    """Frames without a line of Python are spelled differently by the two."""
    return {(site["file"], site["line"]): (site["bytes"], site["tensors"])
            for site in peak["sites"] if site["file"].endswith(".py")}


def compare(program, path):
    plain = output_of(sys.executable, root / "bench/plain_replay.py", "--json", path)
    report = output_of(program, "report", "--json", "--quiet", "--backend", "host", "--site",
                       "user", "--top-contributors", "0", path)["devices"][0]
    for key, name in (("device", "device"), ("events", "events"), ("peak_bytes", "peak_bytes"),
                      ("start_bytes", "carried_in_bytes"),
                      ("reserved_peak_bytes", "reserved_peak_bytes")):
        assert plain[key] == report[name], (path, key, plain[key], report[name])
    moments = [[(peak["bytes"], peak["event"]) for peak in found["peaks"]]
               for found in (plain, report)]
    assert moments[0] == moments[1], (path, moments)
    for ours, theirs in zip(plain["peaks"], report["peaks"]):
        assert sum(site["bytes"] for site in ours["sites"]) == ours["bytes"], path
        assert python_sites(ours) == python_sites(theirs), (path, ours["event"])
    return len(plain["peaks"])


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        peaks = 0
        for row, options in enumerate(MADE):
            path = f"{folder}/{row}.pickle"
            subprocess.run([sys.executable, root / "tools/make_snapshot.py", *options.split(),
                            "-o", path], check=True)
            peaks += compare(program, path)
        table = subprocess.run([sys.executable, root / "bench/plain_replay.py", path],
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        assert "GiB at event" in table, table
    print(f"{peaks} peaks of {len(MADE)} snapshots are the program's to the byte")


if __name__ == "__main__":
    main()
