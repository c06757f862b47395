// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Events per second of every step, on every back end that runs here. Times are the wall clock's: a
// step ends when its result is on the host, so device runs include their transfers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <memreplay/make_report.hpp>
#include <memreplay/read_snapshot.hpp>

#include "bench/input_files.hpp"
#include "kernels/kernel_api.hpp"
#include "replay/block_sizes.hpp"

#if MEMREPLAY_HAS_CUDA
#include "replay/device_probe.hpp"
#endif

namespace memreplay {
namespace {

/// What training looks like to the allocator: some twenty thousand blocks in use, addresses reused
/// at once, a completion right after its request, a few hundred stacks, a rise and fall each step.
struct training_trace {
  std::vector<action> what;
  std::vector<std::uint64_t> address, size;
  std::vector<stack_id> stack;
  std::vector<std::int64_t> time_us;
  std::vector<std::uint64_t> block_address, block_size;
  std::vector<stack_id> block_stack;
  std::vector<std::uint8_t> block_is_pending;
  kernels::host_lifetimes lifetimes;
  std::vector<std::int64_t> curve;
  std::int64_t start = 0;

  explicit training_trace(std::int64_t events) {
    std::mt19937_64 random(42);
    struct live {
      std::uint64_t address, size;
    };
    std::vector<live> in_use;
    std::vector<std::uint64_t> free_addresses;
    for (std::uint64_t slot = 0; slot < 40'000; ++slot) {
      free_addresses.push_back(0x7f3a'4000'0000 + slot * 512 * 37 + slot % 7 * 512);
    }
    std::shuffle(free_addresses.begin(), free_addresses.end(), random);
    bool is_rising = true;
    auto const add = [this](action says, live const& block, std::uint64_t held_by) {
      what.push_back(says);
      address.push_back(block.address);
      size.push_back(block.size);
      stack.push_back(stack_id{static_cast<std::uint32_t>(held_by)});
      time_us.push_back(static_cast<std::int64_t>(time_us.size()) * 7);
    };
    while (static_cast<std::int64_t>(what.size()) + 2 <= events) {
      if (in_use.size() > 25'000) is_rising = false;
      if (in_use.size() < 12'000) is_rising = true;
      if (in_use.empty() || (random() % 100 < (is_rising ? 60U : 40U) && !free_addresses.empty())) {
        live const block{free_addresses.back(),
                         512 + random() % 100'000'000 / (1 + random() % 5000)};
        free_addresses.pop_back();
        in_use.push_back(block);
        add(action::alloc, block, random() % 700);
      } else {
        std::size_t const window = std::min<std::size_t>(in_use.size(), 4000);
        std::size_t const row = in_use.size() - 1 - random() % window;
        live const block = in_use[row];
        in_use[row] = in_use.back();
        in_use.pop_back();
        free_addresses.push_back(block.address);
        std::uint64_t const held_by = random() % 700;
        add(action::free_requested, block, held_by);
        add(action::free_completed, block, held_by);
      }
    }
    std::sort(in_use.begin(), in_use.end(),
              [](live const& a, live const& b) { return a.address < b.address; });
    for (live const& block : in_use) {
      block_address.push_back(block.address);
      block_size.push_back(block.size);
      block_stack.push_back(stack_id{1});
      block_is_pending.push_back(0);
    }
    replay_counts counts;
    lifetimes = kernels::host_backend().pair(view(), counts);
    curve = kernels::host_backend().accumulate(view(), replay_plan{}, start);
  }

  [[nodiscard]] kernels::kernel_input view() const {
    kernels::kernel_input made;
    made.events = {static_cast<std::int64_t>(what.size()),
                   what.data(),
                   address.data(),
                   size.data(),
                   stack.data(),
                   time_us.data()};
    made.blocks = {static_cast<std::int64_t>(block_address.size()), block_address.data(),
                   block_size.data(), block_stack.data(), block_is_pending.data()};
    made.has_segments = true;
    return made;
  }
};

training_trace const& trace_of(std::int64_t events) {
  static std::map<std::int64_t, std::unique_ptr<training_trace>> traces;
  auto& made = traces[events];
  if (!made) made = std::make_unique<training_trace>(events);
  return *made;
}

using step = std::function<std::size_t(kernels::backend const&, training_trace const&)>;

void add_benchmark(std::string const& name, kernels::backend const& engine, int threads,
                   step const& work) {
  auto const body = [&engine, threads, work](benchmark::State& state) {
    training_trace const& trace = trace_of(state.range(0));
    tbb::global_control const control(tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    for (auto _ : state) {
      arena.execute([&] { benchmark::DoNotOptimize(work(engine, trace)); });
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Arg(1'000'000)
      ->Arg(10'000'000)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void add_backend(std::string const& name, kernels::backend const& engine, int threads) {
  auto const add = [&](char const* what, step const& work) {
    add_benchmark(std::string(what) + "/" + name, engine, threads, work);
  };
  add("sort_rows",
      [](auto const& on, auto const& trace) { return on.sort_rows(trace.address).size(); });
  add("pair", [](auto const& on, auto const& trace) {
    replay_counts counts;
    return on.pair(trace.view(), counts).birth.size();
  });
  add("pair_and_accumulate", [](auto const& on, auto const& trace) {
    std::int64_t start = 0;
    return on.accumulate(trace.view(), replay_plan{}, start).size();
  });
  add("find_peaks", [](auto const& on, auto const& trace) {
    return on.find_peaks(trace.curve, trace.start, nullptr, replay_plan{}).size();
  });
  add("live_by_stack", [](auto const& on, auto const& trace) {
    auto const middle = static_cast<event_index>(trace.what.size() / 2);
    return on.live_by_stack(trace.lifetimes, middle, replay_plan{}).size();
  });
  add("select_largest", [](auto const& on, auto const& trace) {
    replay_plan plan;
    plan.largest_count = 5000;
    auto const events = static_cast<std::int64_t>(trace.what.size());
    return on.select_largest(trace.lifetimes, events, plan).size();
  });
  add("downsample",
      [](auto const& on, auto const& trace) { return on.downsample(trace.curve, 72).size(); });
  add("run", [](auto const& on, auto const& trace) {
    return on.run(trace.view(), replay_plan{}, nullptr).peaks.size();
  });
}

/// The one step that needs a whole snapshot: which segments there are decides the sizes. Files that
/// differ in stacks and writers only are alike to it.
void add_block_sizes() {
  for (bench::input_file const& input : bench::input_files()) {
    if (input.name != "own_stacks" && input.name != "expandable" && input.name != "named_file") {
      continue;
    }
    auto const body = [path = input.path](benchmark::State& state) {
      snapshot const read = read_snapshot(path);
      std::int32_t const device = busiest_device(read);
      for (auto _ : state) benchmark::DoNotOptimize(find_block_sizes(read, device).exact);
      state.SetItemsProcessed(state.iterations() *
                              static_cast<std::int64_t>(read.events.size_rows()));
    };
    benchmark::RegisterBenchmark(("find_block_sizes/" + input.name).c_str(), body)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace memreplay

int main(int argc, char** argv) {
  using namespace memreplay;
  add_backend("serial", kernels::serial_backend(), 1);
  add_backend("host_1_thread", kernels::host_backend(), 1);
  add_backend("host_2_threads", kernels::host_backend(), 2);
  add_block_sizes();
#if MEMREPLAY_HAS_CUDA
  if (device_probe const found = probe_device(); found.is_usable) {
    add_backend("cuda", kernels::cuda_backend(), 1);
  } else {
    benchmark::AddCustomContext("cuda", "skipped: " + found.reason);
  }
#endif
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
