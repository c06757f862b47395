#!/usr/bin/env bash
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU: builds the CUDA back end, runs the device tests and the benchmarks, and
# prints one table last. At most 8 minutes; each part has its own limit, and its failure is a row,
# not the end. Exits 1 when a row failed.
set -uo pipefail
cd "$(dirname "$0")/.."

build=build-gpu
mkdir -p "$build"
started=$SECONDS
rows=()
failed=0
row() { rows+=("$(printf '%-28s %s' "$1" "$2")"); }
fail() { row "$1" "FAILED: $2"; failed=1; }
# limited SECONDS COMMAND...: within what is left of the 8 minutes
limited() {
  local left=$((480 - (SECONDS - started)))
  timeout "$((left < $1 ? left : $1))" "${@:2}"
}
gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1; }

row "GPU" "$(gpu name), driver $(gpu driver_version), sm_$(gpu compute_cap | tr -d .)"
row "CPU cores" "$(nproc)"

architecture=$(gpu compute_cap | tr -d .)
configure() {
  cmake -S . -B "$build" -G Ninja -DMEMREPLAY_DEVELOPER_MODE=ON -DMEMREPLAY_CUDA_MODE=ON \
    -DMEMREPLAY_CUDA_ARCHITECTURES="${architecture:-80}-real"
}
targets=(memreplay_program device_tests bench_steps)
if limited 60 tools/install_dependencies.sh >"$build/log" 2>&1 &&
  configure >>"$build/log" 2>&1 &&
  limited 300 cmake --build "$build" --target "${targets[@]}" >>"$build/log" 2>&1; then
  row "build" "done after $((SECONDS - started)) s"
else
  tail -n 20 "$build/log"
  fail "build" "after $((SECONDS - started)) s"
fi

if [ -x "$build/tests/device_tests" ]; then
  limited 120 "$build/tests/device_tests" >"$build/tests.log" 2>&1
  status=$?
  summary=$(grep -E '^\[  (PASSED|SKIPPED|FAILED) +\] [0-9]' "$build/tests.log" | paste -sd ';')
  if [ "$status" -eq 0 ]; then
    row "device tests" "$summary"
  else
    fail "device tests" "$summary"
  fi
  grep -A 5 'Failure' "$build/tests.log" | head -n 40
fi

if [ -x "$build/memreplay" ]; then
  snapshot=$build/gpu_check.pickle
  limited 90 python3 tools/make_snapshot.py --events 1000000 -o "$snapshot"
  for backend in host cuda; do
    began=$(date +%s%N)
    if "$build/memreplay" report --quiet --json --force --backend "$backend" \
      --out "$build/$backend.json" "$snapshot"; then
      row "report on $backend" "$((($(date +%s%N) - began) / 1000000)) ms, reading included"
    else
      fail "report on $backend" "see above"
    fi
  done
  # The back ends promise the same bytes, apart from their names.
  without_name() { grep -v '"backend' "$1"; }
  if cmp -s <(without_name "$build/host.json") <(without_name "$build/cuda.json"); then
    row "host and cuda reports" "equal"
  else
    fail "host and cuda reports" "they differ"
  fi
fi

if [ -x "$build/bench/bench_steps" ]; then
  limited 150 "$build/bench/bench_steps" --benchmark_min_time=0.2 >"$build/bench.log" 2>&1 ||
    fail "benchmarks" "exit $?"
  while IFS= read -r line; do rows+=("$line"); done < <(grep -E '[0-9] ms ' "$build/bench.log")
fi

echo
echo "---- gpu_check: $((SECONDS - started)) s ----"
printf '%s\n' "${rows[@]}"
exit "$failed"
