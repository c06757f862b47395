#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Prints the label of every line of Python files as the interpreter's own parser sees it.
"""Usage: python_labels_oracle.py FILE... | --stdlib COUNT

For each file `file<TAB>PATH`, then `LINE<TAB>LABEL` for every line, the label empty outside all
scopes; `unparsed<TAB>PATH` for a file that this interpreter refuses. `--stdlib COUNT` takes about
COUNT files of the standard library of the interpreter.
"""

import ast
import os
import sys
import sysconfig
import warnings

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def first_line(node, lines):
    """The line of the `@` of the first decorator; ast only knows where its expression starts."""
    if not node.decorator_list:
        return node.lineno
    line = node.decorator_list[0].lineno
    while not lines[line - 1].lstrip(b" \t\f").startswith(b"@"):
        line -= 1
    return line


def labels_of(source):
    """One label for each line; an inner scope is visited later and overwrites the outer one."""
    lines = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    lines[0] = lines[0][3:] if lines[0].startswith(b"\xef\xbb\xbf") else lines[0]
    labels = [""] * len(lines)
    pending = [(ast.parse(source), "")]
    while pending:
        node, prefix = pending.pop()
        if isinstance(node, SCOPES):
            for line in range(first_line(node, lines), node.end_lineno + 1):
                labels[line - 1] = prefix + node.name
            prefix += node.name + "."
        pending.extend((child, prefix) for child in ast.iter_child_nodes(node))
    return labels


def backslashes_in(path):
    with open(path, "rb") as file:
        return file.read().count(b"\\")


def stdlib_files(count):
    found = []
    for folder, folders, names in os.walk(sysconfig.get_paths()["stdlib"]):
        folders[:] = sorted(set(folders) - {"site-packages", "dist-packages"})
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
    # Half of them spread evenly, half the hardest to read: those with most backslashes.
    spread = found[:: max(1, 2 * len(found) // count)]
    small = [path for path in found if os.path.getsize(path) < 100_000]
    return spread + sorted(small, key=backslashes_in, reverse=True)[: count // 2]


def main(arguments):
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    if arguments[:1] == ["--stdlib"]:
        paths = stdlib_files(int(arguments[1]))
    else:
        paths = arguments
    for path in paths:
        try:
            with open(path, "rb") as file:
                labels = labels_of(file.read())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            print(f"unparsed\t{path}")
            continue
        print(f"file\t{path}")
        for line, label in enumerate(labels, 1):
            print(f"{line}\t{label}")


if __name__ == "__main__":
    main(sys.argv[1:])
