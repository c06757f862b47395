#!/bin/sh
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Checks that kernel libraries share no code: the same symbol in two of them would let one back end
# run the other's. Usage: check_symbols.sh LIBRARY LIBRARY...; exit status 1 and the names, if any.
set -eu
if [ "$#" -lt 2 ]; then
  echo "usage: $0 LIBRARY LIBRARY..." >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Defined global symbols, demangled, without what may be common: the standard library, and the
# interface's plain types (memreplay::error, memreplay::kernels::kernel_result, ...), which are the
# same code everywhere.
interface='^((vtable|typeinfo|typeinfo name) for )?'
interface="${interface}memreplay::([a-z_]+|kernels::[a-z_]+)::[~a-z_]+\\("
names() {
  nm -C --defined-only "$1" 2>/dev/null |
    awk '$2 ~ /^[TWVuBDR]$/ { $1 = ""; $2 = ""; sub(/^ +/, ""); print }' |
    grep -v -E '^(DW\.ref\.|operator (new|delete)|(.* )?(std|__gnu_cxx)::)' |
    grep -v -E "$interface" |
    grep -v -E '^(vtable|typeinfo|typeinfo name) for memreplay::[a-z_]+$' |
    sort -u
}

status=0
index=0
for library in "$@"; do
  if [ ! -r "$library" ]; then
    echo "$0: cannot read $library" >&2
    exit 2
  fi
  names "$library" > "$folder/$index"
  if [ ! -s "$folder/$index" ]; then
    echo "$0: no symbols in $library" >&2
    exit 2
  fi
  other=0
  while [ "$other" -lt "$index" ]; do
    comm -12 "$folder/$other" "$folder/$index" > "$folder/common"
    if [ -s "$folder/common" ]; then
      echo "$library shares $(wc -l < "$folder/common") symbols with another back end:"
      cat "$folder/common"
      status=1
    fi
    other=$((other + 1))
  done
  index=$((index + 1))
done
[ "$status" -eq 0 ] && echo "$# libraries share no symbol"
exit "$status"
