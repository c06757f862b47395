// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The other steps, and the whole pipeline against the naive replay.
#include <algorithm>
#include <numeric>
#include <random>

#include "oracle/naive_replay.hpp"
#include "oracle/random_trace.hpp"
#include "oracle/results_equal.hpp"
#include "tested_backend.hpp"

namespace memreplay::test {
namespace {

class SortTest : public StepTest {};
class LiveTest : public StepTest {};
class RunTest : public StepTest {};

TEST_P(SortTest, IsStableOnEveryKindOfKey) {
  std::mt19937_64 random(3);
  for (std::int64_t const count : {0, 1, 2, 3, 31, 32, 33, 1000, 10'000, 65'536, 65'537, 200'000}) {
    for (std::uint64_t const mask :
         {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0xff}, std::uint64_t{0x3'fffe'0000},
          std::uint64_t{1} << 63, std::uint64_t{0x8000'0000'0000'0001},
          std::uint64_t{0xff00'0000'0000'0000}}) {
      std::vector<std::uint64_t> keys;
      for (std::int64_t row = 0; row < count; ++row) keys.push_back((random() & mask) | 0x40);
      std::vector<std::int64_t> expected(keys.size());
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
        return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
      });
      auto const sorted =
          run([&](kernels::backend const& engine) { return engine.sort_rows(keys); });
      ASSERT_EQ(sorted, expected) << count << " keys, mask " << std::hex << mask;
    }
  }
}

TEST_P(LiveTest, DrawnExample) {
  kernels::host_lifetimes rows;
  rows.birth = {before_trace, 0, 2};
  rows.allocated_end = {2, 4, never};
  rows.active_end = {3, 4, never};
  rows.size = {4, 8, 2};
  rows.stack = {stack_id{7}, stack_id{3}, stack_id{3}};
  replay_plan plan;
  auto const live = [&](event_index event) {
    return run(
        [&](kernels::backend const& engine) { return engine.live_by_stack(rows, event, plan); });
  };
  using totals = std::vector<stack_total>;
  EXPECT_EQ(live(3), (totals{{stack_id{3}, 10, 2}}));
  EXPECT_EQ(live(before_trace), (totals{{stack_id{7}, 4, 1}}));
  EXPECT_EQ(live(0), (totals{{stack_id{3}, 8, 1}, {stack_id{7}, 4, 1}}));
  plan.what = measure::active;
  EXPECT_EQ(live(2), (totals{{stack_id{3}, 10, 2}, {stack_id{7}, 4, 1}}));
  plan.older = carried_in::ignore;
  EXPECT_EQ(live(2), (totals{{stack_id{3}, 10, 2}}));
  plan.what = measure::reserved;
  EXPECT_EQ(live(2), totals{}) << "segments have no holders";
}

TEST_P(LiveTest, EqualBytesAreOrderedByStack) {
  kernels::host_lifetimes rows;
  for (std::uint32_t const stack : {9U, 4U, 4U, 2U, to_row(no_stack), to_row(before_trace_stack)}) {
    rows.birth.push_back(0);
    rows.allocated_end.push_back(never);
    rows.active_end.push_back(never);
    rows.size.push_back(stack == 4 ? 3 : 6);
    rows.stack.push_back(stack_id{stack});
  }
  auto const live = run(
      [&](kernels::backend const& engine) { return engine.live_by_stack(rows, 0, replay_plan{}); });
  std::vector<stack_total> const expected{{stack_id{2}, 6, 1},
                                          {stack_id{4}, 6, 2},
                                          {stack_id{9}, 6, 1},
                                          {before_trace_stack, 6, 1},
                                          {no_stack, 6, 1}};
  EXPECT_EQ(live, expected);
}

/// Some moments, ranges that touch, overlap or are empty, and maps.
void ask_at_random(std::int64_t events, std::mt19937_64& random, replay_plan& plan) {
  auto const event = [&] {
    return static_cast<event_index>(random() % static_cast<std::uint64_t>(events + 1)) - 1;
  };
  for (std::uint64_t left = random() % 6; left > 0; --left) plan.moments.push_back(event());
  for (std::uint64_t left = random() % 3; left > 0; --left) plan.maps.push_back(event());
  plan.peak_maps = static_cast<std::int64_t>(random() % 3);
  for (std::uint64_t left = random() % 6; left > 0; --left) {
    auto const [before, last] = std::minmax({event(), event()});
    plan.ranges.push_back({before + 1, last});
  }
}

TEST_P(RunTest, EqualsTheNaiveReplay) {
  std::mt19937_64 random(11);
  std::int64_t round = 0;
  for (random_options const& options : random_cases(10'000)) {
    trace given = make_random_trace(options);
    replay_plan plan;
    ++round;
    plan.what = std::vector{measure::allocated, measure::active,
                            measure::reserved}[static_cast<std::size_t>(round % 3)];
    plan.sizes = round % 4 == 0 ? size_basis::block : size_basis::requested;
    plan.older = round % 5 == 0 ? carried_in::ignore : carried_in::include;
    plan.throughput = round % 2 == 0;
    plan.min_separation_us = round % 7 == 0 ? 500 : 0;
    plan.timeline_width = round % 6 == 0 ? 0 : 72;
    plan.curve_width = round % 3 == 0 ? 0 : 1000;
    plan.largest_count = round % 4 == 0 ? 0 : 100;
    ask_at_random(given.count(), random, plan);
    auto const found = run(
        [&](kernels::backend const& engine) { return engine.run(given.view(), plan, nullptr); });
    ASSERT_TRUE(results_equal(found, naive_run(given.view(), plan))) << options;
  }
}

/// Two traces of one file, sent in pieces while the file is read, as its reader would.
TEST_P(RunTest, StagedRowsGiveTheSame) {
  std::vector<random_options> const cases = random_cases(3'000);
  trace const first = make_random_trace(cases.front());
  trace const second = make_random_trace(cases.back());
  trace file = first;
  file.what.insert(file.what.end(), second.what.begin(), second.what.end());
  file.address.insert(file.address.end(), second.address.begin(), second.address.end());
  file.size.insert(file.size.end(), second.size.begin(), second.size.end());
  file.stack.insert(file.stack.end(), second.stack.begin(), second.stack.end());
  run([&](kernels::backend const& engine) {
    if (engine.open_stage == nullptr) {
      EXPECT_TRUE(engine.stage_rows == nullptr && engine.close_stage == nullptr);
      return 0;
    }
    kernels::stage* const staged = engine.open_stage();
    kernels::event_view rows = file.view().events;
    std::int64_t const count = rows.count;
    for (rows.count = 0; rows.count < count; rows.count += 1 + rows.count / 3) {
      engine.stage_rows(*staged, rows, false);
    }
    rows.count = count;
    engine.stage_rows(*staged, rows, true);
    for (size_basis const sizes : {size_basis::requested, size_basis::block}) {
      replay_plan plan;
      plan.sizes = sizes;
      for (trace const* const given : {&first, &second}) {
        kernels::kernel_input input = given->view();
        input.events.first_row = given == &first ? 0 : static_cast<std::int64_t>(first.what.size());
        EXPECT_TRUE(
            results_equal(engine.run(input, plan, staged), engine.run(input, plan, nullptr)));
      }
    }
    engine.close_stage(staged);
    return 0;
  });
}

MEMREPLAY_TEST_ALL_BACKENDS(SortTest);
MEMREPLAY_TEST_ALL_BACKENDS(LiveTest);
MEMREPLAY_TEST_ALL_BACKENDS(RunTest);

}  // namespace
}  // namespace memreplay::test
