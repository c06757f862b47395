// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reading a snapshot: bytes and events a second. The file comes from MEMREPLAY_BENCH_SNAPSHOT.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memreplay/read_snapshot.hpp>
#include <string>

namespace {

void read(benchmark::State& state) {
  char const* const path = std::getenv("MEMREPLAY_BENCH_SNAPSHOT");
  if (path == nullptr) {
    state.SkipWithError("set MEMREPLAY_BENCH_SNAPSHOT to a file of tools/make_snapshot.py");
    return;
  }
  std::int64_t bytes = 0;
  std::int64_t events = 0;
  for (auto _ : state) {
    memreplay::snapshot const input = memreplay::read_snapshot(std::string(path));
    bytes += static_cast<std::int64_t>(input.snapshot_bytes);
    events += static_cast<std::int64_t>(input.events.size_rows());
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(events);
}
BENCHMARK(read)->Unit(benchmark::kMillisecond);

}  // namespace
