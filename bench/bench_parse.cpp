// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reading a snapshot: bytes and events a second, for each mix of opcodes and number of threads.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memreplay/read_snapshot.hpp>
#include <string>

#include "bench/input_files.hpp"

namespace memreplay {
namespace {

void parse(benchmark::State& state, std::string const& path, int threads) {
  read_options options;
  options.threads = threads;
  std::int64_t bytes = 0;
  std::int64_t events = 0;
  for (auto _ : state) {
    snapshot const input = read_snapshot(path, options);
    bytes += static_cast<std::int64_t>(input.snapshot_bytes);
    events += static_cast<std::int64_t>(input.events.size_rows());
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(events);
}

}  // namespace
}  // namespace memreplay

int main(int argc, char** argv) {
  using namespace memreplay;
  for (bench::input_file const& input : bench::input_files()) {
    for (int const threads : {1, 2}) {
      std::string const name = "parse/" + input.name + "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), parse, input.path, threads)
          ->MeasureProcessCPUTime()
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
