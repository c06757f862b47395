#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Proves from the #include lines that arrows between rooms go down only.

A room is a folder of src, or include/memreplay, or kernels. `python3 tools/check_layers.py` prints
each line that looks where its room may not and exits 1; `--dot` prints the rooms and arrows as
found, for Graphviz.
"""
import argparse
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent

# What each room may include. `seam` is kernels/kernel_api.hpp, all that others see of kernels.
allowed = {
    "include": set(),
    "base": set(),
    "model": {"include"},
    "pickle": {"base", "include"},
    "input": {"base", "pickle", "include"},
    "snapshot": {"base", "model", "pickle", "input", "include"},
    "kernels": {"seam", "include"},
    "seam": {"include"},
    "replay": {"base", "model", "seam", "include"},
    "report": {"base", "model", "include"},
    "writers": {"base", "model", "include"},
    "cli": {"base", "model", "replay", "report", "writers", "include"},
}
# Single headers that a room may have beyond its rooms.
allowed_headers = {"base": {"memreplay/column.hpp", "memreplay/error.hpp"}}
floors = [["include"], ["base", "model", "seam"], ["pickle"], ["input", "kernels"],
          ["snapshot", "replay", "report", "writers"], ["cli"]]
suffixes = {".hpp", ".cpp", ".cu", ".cuh", ".in"}
include_line = re.compile(r'^\s*#\s*(?:include|include_next|import)\s*(["<])([^">]+)[">]')


def room_of(path):
    """The room of a path relative to the root; None for tests and the like."""
    parts = pathlib.PurePosixPath(path).parts
    if parts == ("kernels", "kernel_api.hpp"):
        return "seam"
    if parts[0] == "kernels":
        return "kernels"
    if parts[:2] == ("include", "memreplay"):
        return "include"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return None


def target_of(name, source):
    """What an #include line means: (room, path relative to the root), or None for libraries."""
    for folder in ("include", "src", "."):
        found = root / folder / name
        if found.is_file() or (root / folder / f"{name}.in").is_file():
            path = (pathlib.PurePosixPath(folder) / name).as_posix()
            return room_of(path), path
    if (source.parent / name).is_file():
        return "relative", name
    return None


def without_comments(text):
    """The text with comments blanked, so that a commented-out #include does not count."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def check_line(room, path, form, name, target):
    """The sentence that says what is wrong with one #include line, or None."""
    if name == "iostream":
        return "<iostream> has no place in the engine: text leaves through cli alone"
    if name.startswith(("thrust/", "cub/", "cuda/std/")) and path.suffix not in (".cu", ".cuh"):
        return f"<{name}> belongs into kernels/*.cu and *.cuh"
    if name.startswith(("thrust/", "cub/")) and room != "kernels":
        return f"<{name}> belongs into kernels/"
    if target is None:
        if form == '"':
            return f'"{name}" is no header of this project: libraries stand in angle brackets'
        return None
    other, found = target
    if other == "relative":
        return f'"{name}" is relative: spell it "{path.parent.name}/{name}"'
    if other is None:
        return f'"{name}" is no room\'s header'
    if (form == "<") != (other == "include"):
        right = f"<{name}>" if other == "include" else f'"{name}"'
        return f"spell it {right}: angle brackets are for libraries and the public headers"
    if other == room or other in allowed[room] or name in allowed_headers.get(room, ()):
        return None
    if room == "include":
        return f"a public header sees public headers only, not {found}"
    may = ", ".join(sorted(allowed[room])) or "nothing"
    return f"{room} may include {may}, not {other} ({found})"


def read_rooms():
    """All violations as text, and the arrows found as {(from, to): number of lines}."""
    violations, arrows = [], {}
    for folder in ("include", "src", "kernels"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in suffixes or not file.is_file():
                continue
            path = file.relative_to(root)
            room = room_of(path.as_posix())
            if room not in allowed:
                violations.append(f"{path}:1: error: no room that check_layers.py knows")
                continue
            for number, line in enumerate(without_comments(file.read_text()).splitlines(), 1):
                match = include_line.match(line)
                if match is None:
                    continue
                target = target_of(match[2], file)
                problem = check_line(room, path, match[1], match[2], target)
                if problem:
                    violations.append(f"{path}:{number}: error: {problem}")
                if target and target[0] not in (room, "relative", None):
                    arrow = (room, target[0])
                    arrows[arrow] = arrows.get(arrow, 0) + 1
    return violations, arrows


def rules_go_down():
    """The table above must itself have no circle: each room may see lower floors only."""
    floor = {room: height for height, rooms in enumerate(floors) for room in rooms}
    assert floor.keys() == allowed.keys(), "floors and rules name different rooms"
    return all(floor[other] < floor[room] for room, others in allowed.items() for other in others)


def dot(arrows):
    lines = ["digraph rooms {", "  rankdir=BT; node [shape=box];"]
    names = {"seam": "kernels/kernel_api.hpp", "include": "include/memreplay"}
    for rooms in floors:
        same_floor = "; ".join(f'"{names.get(room, room)}"' for room in rooms)
        lines.append(f"  {{ rank=same; {same_floor} }}")
    for (room, other), count in sorted(arrows.items()):
        lines.append(f'  "{names.get(room, room)}" -> "{names.get(other, other)}" [label={count}];')
    return "\n".join(lines + ["}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dot", action="store_true", help="print the graph of rooms as found")
    options = parser.parse_args()
    assert rules_go_down(), "the rules have an arrow that does not go down"
    violations, arrows = read_rooms()
    if options.dot:
        print(dot(arrows))
    for violation in violations:
        print(violation, file=sys.stderr if options.dot else sys.stdout)
    if not options.dot:
        print(f"check_layers: {len(arrows)} arrows between {len(allowed)} rooms, "
              f"{len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
