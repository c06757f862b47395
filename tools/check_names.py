#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Checks what readers may rely on: how files begin, how wide lines are, which words stay out.

`python3 tools/check_names.py [FILE...]` prints each offence as file:line: message and exits 1.
Without files it looks at all of them. clang-format mends width; clang-tidy checks letter case.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent

folders = [".ci", "bench", "cmake", "docs", "include", "kernels", "src", "tests", "tools"]
cpp = {".hpp", ".cpp", ".cu", ".cuh"}
scripts = {".py", ".sh"}
web = {".ts", ".mjs"}
texts = {".md", ".txt", ".cmake", ".json", ".in"}
widest_line = 100

copyright_line = "SPDX-FileCopyrightText: The memreplay authors"
license_line = "SPDX-License-Identifier: Apache-2.0"

# This file spells them in two halves, so that it can be checked itself.
unfinished = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
home_path = re.compile(r"(?<![\w.])(?:(?:/home/|/Users/|C:\\+Users\\+)(?!user\b)[a-z]|/root/)\w+")
# Constants of libraries (benchmark::kMillisecond) stand behind their namespace.
hungarian = re.compile(r"(?<!::)\b(?:[dghmps]_[a-z]|k[A-Z][a-z]|(?:sz|psz|lpsz|dw)[A-Z])\w*\b")
macro = re.compile(r"^\s*#\s*define\s+(\w+)")
# Switches that libraries read.
foreign_macros = {"XXH_INLINE_ALL"}


def is_cpp(path):
    return path.suffix in cpp or path.name.endswith((".hpp.in", ".cpp.in"))


def is_script(path):
    return path.suffix in scripts or path.parent.name == ".ci"


def own_files():
    names = [path for path in root.iterdir() if path.is_file() and path.suffix in texts]
    for folder in folders:
        names += [path for path in (root / folder).rglob("*")
                  if path.is_file() and "node_modules" not in path.parts]
    known = cpp | scripts | web | texts
    expected = [root / "tests/golden", root / "tests/data"]  # outputs of programs
    return sorted(path for path in names if (path.suffix in known or is_script(path)) and
                  (is_cpp(path) or is_script(path) or not any(f in path.parents for f in expected)))


def code_only(text):
    """C++ with comments and the content of texts blanked; lines stay where they are."""
    comment = r"/\*.*?\*/|//[^\n]*"
    quoted = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])+'"
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    # Digit separators are no quotes.
    return re.sub(f"{comment}|{quoted}", blank, re.sub(r"(?<=\d)'(?=\d)", "_", text), flags=re.S)


def without_raw_texts(text):
    """C++ whose raw texts hold no blanks: a test may want odd ones."""
    return re.sub(r'R"(\w*)\((?s:.*?)\)\1"', lambda match: re.sub(r"[ \t]", ".", match[0]), text)


def check_beginning(path, lines):
    """The SPDX pair (behind a shebang); then, in sources, a sentence on what the file is for."""
    start = 1 if lines and lines[0].startswith("#!") else 0
    if path.suffix in (".json", ".md") or path.name.endswith("-config.cmake.in"):
        return
    for offset, wanted in enumerate((copyright_line, license_line)):
        line = lines[start + offset] if start + offset < len(lines) else ""
        if wanted not in line:
            yield start + offset + 1, f"a file begins with the SPDX pair: expected '{wanted}'"
            return
    if not (is_cpp(path) or is_script(path) or path.suffix in web):
        return
    line = lines[start + 2] if start + 2 < len(lines) else ""
    opening = "// " if is_cpp(path) or path.suffix in web else ('"""', "# ")
    words = re.findall(r"\w+", line)
    if not line.startswith(opening) or len(words) < 3:
        yield start + 3, "the line after the SPDX pair is a sentence that says what the file is for"


def check_lines(path, lines):
    is_source = is_cpp(path) or is_script(path) or path.suffix in web
    is_test = path.relative_to(root).parts[0] == "tests" or path.name.endswith("_test.py")
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        if is_source and len(line) > widest_line:
            yield number, f"{len(line)} columns, more than {widest_line}"
        if found := unfinished.search(line):
            yield number, f"'{found[0]}': write an issue, or do it"
        if not is_test and (found := home_path.search(line)):
            yield number, f"'{found[0]}' is somebody's home; made-up ones are /home/user"


def check_code(lines):
    for number, line in enumerate(lines, 1):
        if (found := macro.match(line)) and found[1] not in foreign_macros \
                and not found[1].startswith(("MEMREPLAY_", "HWY_")):
            yield number, f"macro '{found[1]}' must begin with MEMREPLAY_"
        for name in hungarian.findall(line):
            yield number, f"'{name}' tells its type or place in its name"


def check_file(path):
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    if lines[-1] != "":
        yield len(lines), "the last line has no end"
    yield from check_beginning(path, lines)
    yield from check_lines(path, without_raw_texts(text).split("\n") if is_cpp(path) else lines)
    if is_cpp(path):
        yield from check_code(code_only(text).split("\n"))


def main():
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or own_files()
    offences = 0
    wide_files = set()
    for path in files:
        for number, message in sorted(check_file(path)):
            print(f"{path.relative_to(root)}:{number}: error: {message}")
            offences += 1
            if " columns, " in message:
                wide_files.add(path)
    wide = f", {len(wide_files)} files with lines that are too wide" if wide_files else ""
    print(f"check_names: {len(files)} files, {offences} offences{wide}")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
