// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step that finds the lifetimes with the greatest areas, against a sort of all of them.
#include <cstdint>
#include <random>
#include <vector>

#include "oracle/naive_replay.hpp"
#include "oracle/random_trace.hpp"
#include "tested_backend.hpp"

namespace memreplay::test {
namespace {

class LargestTest : public StepTest {
 protected:
  [[nodiscard]] std::vector<large_lifetime> largest(kernels::host_lifetimes const& rows,
                                                    std::int64_t events,
                                                    replay_plan const& plan) const {
    return run(
        [&](kernels::backend const& engine) { return engine.select_largest(rows, events, plan); });
  }
};

void add(event_index birth, event_index end, std::uint64_t size, std::uint32_t stack,
         kernels::host_lifetimes& rows) {
  rows.birth.push_back(birth);
  rows.allocated_end.push_back(end);
  rows.active_end.push_back(never);
  rows.size.push_back(size);
  rows.stack.push_back(stack_id{stack});
}

using lifetimes_list = std::vector<large_lifetime>;

TEST_P(LargestTest, DrawnExample) {
  kernels::host_lifetimes rows;
  add(before_trace, 2, 4, 7, rows);
  add(0, 3, 8, 3, rows);
  add(1, never, 2, 5, rows);
  large_lifetime const a{before_trace, 2, 4, stack_id{7}};
  large_lifetime const b{0, 3, 8, stack_id{3}};
  large_lifetime const c{1, never, 2, stack_id{5}};
  replay_plan plan;
  for (std::int64_t const limit : {0, 1, 2, 3, 4}) {
    plan.largest_count = limit;
    lifetimes_list expected{b, a, c};
    expected.resize(static_cast<std::size_t>(std::min<std::int64_t>(limit, 3)));
    EXPECT_EQ(largest(rows, 5, plan), expected) << "limit " << limit;
  }
  plan.older = carried_in::ignore;
  EXPECT_EQ(largest(rows, 5, plan), (lifetimes_list{b, c}));
  plan.what = measure::reserved;
  EXPECT_EQ(largest(rows, 5, plan), lifetimes_list{}) << "segments have no lifetimes";
}

TEST_P(LargestTest, EqualAreasAreOrderedByBirthThenByAddress) {
  kernels::host_lifetimes rows;
  add(3, 5, 6, 1, rows);
  add(before_trace, 2, 4, 2, rows);
  add(before_trace, 3, 3, 3, rows);
  add(0, 4, 3, 4, rows);
  replay_plan plan;
  plan.largest_count = 3;
  lifetimes_list const expected{
      {before_trace, 2, 4, stack_id{2}}, {before_trace, 3, 3, stack_id{3}}, {0, 4, 3, stack_id{4}}};
  EXPECT_EQ(largest(rows, 6, plan), expected);
}

TEST_P(LargestTest, WhatTheCurveNeverCountsIsNotThere) {
  kernels::host_lifetimes rows;
  add(before_trace, before_trace, 9, 1, rows);  // freed before the trace, completed in it
  add(2, 4, 0, 2, rows);                        // no bytes
  replay_plan plan;
  plan.largest_count = 5;
  EXPECT_EQ(largest(rows, 6, plan), lifetimes_list{});
  plan.what = measure::active;
  EXPECT_EQ(largest(rows, 6, plan), (lifetimes_list{{before_trace, never, 9, stack_id{1}}}));
}

TEST_P(LargestTest, AreasBeyond64BitsAreEqual) {
  kernels::host_lifetimes rows;
  add(4, 6, ~std::uint64_t{0}, 1, rows);
  add(1, 9, ~std::uint64_t{0} / 2, 2, rows);
  add(2, 3, ~std::uint64_t{0}, 3, rows);  // 2^64 - 1 itself
  add(0, 1, ~std::uint64_t{0} - 1, 4, rows);
  replay_plan plan;
  plan.largest_count = 4;
  auto const found = largest(rows, 10, plan);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].stack, stack_id{2});
  EXPECT_EQ(found[1].stack, stack_id{3});
  EXPECT_EQ(found[2].stack, stack_id{1});
  EXPECT_EQ(found[3].stack, stack_id{4});
}

TEST_P(LargestTest, EqualsASortOfAll) {
  std::mt19937_64 random(17);
  for (std::int64_t const count : {0, 1, 2, 31, 32, 33, 1000, 70'000}) {
    for (int const size_bits : {0, 3, 20, 63}) {
      constexpr std::int64_t events = 300;
      kernels::host_lifetimes rows;
      for (std::int64_t row = 0; row < count; ++row) {
        auto const birth = static_cast<event_index>(random() % events) - 1;
        auto const life = static_cast<std::int64_t>(random() % 40);
        add(birth, random() % 5 == 0 ? never : std::min(birth + life, events - 1),
            random() >> (63 - size_bits), static_cast<std::uint32_t>(random() % 9), rows);
      }
      for (std::int64_t const limit : {1, 7, 5000, 1'000'000}) {
        replay_plan plan;
        plan.largest_count = limit;
        plan.older = limit == 7 ? carried_in::ignore : carried_in::include;
        ASSERT_EQ(largest(rows, events, plan), naive_largest(rows, events, plan))
            << count << " lifetimes, " << size_bits << " bits, limit " << limit;
      }
    }
  }
}

MEMREPLAY_TEST_ALL_BACKENDS(LargestTest);

}  // namespace
}  // namespace memreplay::test
