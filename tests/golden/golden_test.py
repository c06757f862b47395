#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program on made-up snapshots and compares every byte that it prints.

    golden_test.py PROGRAM            compare, exit 1 and show the difference
    golden_test.py PROGRAM --update   write what the program prints now, for the reviewer to read

cases.json names the snapshots (options of tools/make_snapshot.py, or a file of tests/data) and the
commands to run on each; every output is one file of the folder of that name. A case with `other`
has a second snapshot, other.pickle, which commands name before the first.
"""
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def make(options, path):
    tool = root / "tools/make_snapshot.py"
    subprocess.run([sys.executable, tool, *options.split(), "-o", path], check=True)


def run_case(program, case, folder):
    """Yields (file name, text) for each command of a case."""
    snapshot = pathlib.Path(folder) / "snapshot.pickle"
    if "file" in case:
        snapshot.write_bytes((root / case["file"]).read_bytes())
    else:
        make(case["make"], snapshot)
    if "other" in case:
        make(case["other"], pathlib.Path(folder) / "other.pickle")
    for name, command in case["run"].items():
        done = subprocess.run(
            [program, *command.split(), "--backend", "host", "--out", "-", "snapshot.pickle"],
            cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{case['name']}/{name}: exit {done.returncode}: {done.stderr}")
        yield name, done.stdout


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    is_update = "--update" in sys.argv
    cases = json.loads((here / "cases.json").read_text())
    compared = different = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in run_case(program, case, folder):
                expected = here / case["name"] / name
                compared += 1
                if is_update:
                    expected.parent.mkdir(exist_ok=True)
                    expected.write_text(text)
                    continue
                known = expected.read_text() if expected.exists() else ""
                if text != known:
                    different += 1
                    sys.stdout.writelines(list(difflib.unified_diff(
                        known.splitlines(True), text.splitlines(True),
                        f"{case['name']}/{name} (expected)", f"{case['name']}/{name} (now)"))[:60])
    print(f"{compared} outputs, {different} differ")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
