#!/usr/bin/env bash
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 14 over src and kernels, the latter as plain C++. Arguments are regular
# expressions: only files whose path matches one of them. TIDY_JOBS is the number of processes.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! tidy=$(command -v clang-tidy-14 || command -v clang-tidy); then
  echo "install clang-tidy" >&2
  exit 2
fi
cmake --preset tidy >/dev/null

# One wrapper a kernel source is enough: host and serial differ in their Thrust system only.
files=$(python3 - "$@" <<'PYTHON'
import json, re, sys
for entry in json.load(open("build-tidy/compile_commands.json")):
    path = entry["file"]
    is_ours = "/build-tidy/kernels/serial/" in path or re.search(r"/src/[a-z]+/[a-z_]+\.cpp$", path)
    if is_ours and (len(sys.argv) == 1 or any(re.search(word, path) for word in sys.argv[1:])):
        print(path)
PYTHON
)
[ -n "$files" ] || { echo "no file matches: $*" >&2; exit 2; }
# The compile commands are GCC's.
xargs -n 1 -P "${TIDY_JOBS:-$(nproc)}" "$tidy" -p build-tidy --quiet \
  --extra-arg=-Wno-unknown-warning-option <<<"$files"
