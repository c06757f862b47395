// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What repeats in curves made by hand: equal and unequal steps, a warm-up, growth, noise.
#include "report/period.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/snapshot_builder.hpp"

namespace memreplay::reporting {
namespace {

using ::testing::IsEmpty;
using testing::snapshot_builder;

/// Writes a trace step by step; the curve is at its lowest where a step begins.
class stepping_program {
 public:
  void keep(std::uint64_t count) {
    for (std::uint64_t row = 0; row < count; ++row) {
      builder_.alloc(next_, 4096);
      next_ += 4096;
    }
    events_ += static_cast<event_index>(count);
  }
  /// Allocates that many blocks and frees them, last first.
  void step(std::uint64_t count) {
    starts_.push_back(events_);
    for (std::uint64_t row = 0; row < count; ++row) builder_.alloc(next_ + row * 4096, 4096);
    for (std::uint64_t row = count; row > 0; --row) builder_.free(next_ + (row - 1) * 4096);
    events_ += static_cast<event_index>(3 * count);
  }
  /// Goes up and down by chance.
  void wander(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> open;
    for (int row = 0; row < count; ++row) {
      if (open.empty() || random() % 2 == 0) {
        builder_.alloc(next_, 4096);
        open.push_back(next_);
        next_ += 4096;
      } else {
        std::swap(open[random() % open.size()], open.back());
        builder_.free(open.back());
        open.pop_back();
      }
    }
  }
  [[nodiscard]] std::vector<event_index> const& starts() const { return starts_; }
  [[nodiscard]] snapshot build() { return builder_.build(); }

 private:
  snapshot_builder builder_;
  std::uint64_t next_ = 0x1'0000'0000;
  event_index events_ = 0;
  std::vector<event_index> starts_;
};

/// Each range begins where a step does, within `slack` events.
void expect_steps(std::vector<event_range> const& found, std::vector<event_index> const& starts,
                  event_index slack) {
  for (event_range const& one : found) {
    bool const begins_with_a_step =
        std::any_of(starts.begin(), starts.end(),
                    [&](event_index start) { return std::abs(one.first - start) <= slack; });
    EXPECT_TRUE(begins_with_a_step) << one.first << " to " << one.last;
  }
}

TEST(find_period, equal_steps) {
  stepping_program program;
  for (int step = 0; step < 8; ++step) program.step(50);
  std::vector<event_range> const found = find_period(program.build(), 0);
  EXPECT_GE(found.size(), 7U);
  expect_steps(found, program.starts(), 3);
}

TEST(find_period, steps_of_unequal_length) {
  stepping_program program;
  for (std::uint64_t const count : {50U, 56U, 46U, 52U, 48U, 55U, 47U, 50U, 53U})
    program.step(count);
  std::vector<event_range> const found = find_period(program.build(), 0);
  EXPECT_GE(found.size(), 7U);
  expect_steps(found, program.starts(), 3);
}

TEST(find_period, steps_that_keep_some) {
  stepping_program program;
  for (int step = 0; step < 10; ++step) {
    program.step(50);
    program.keep(2);
  }
  EXPECT_GE(find_period(program.build(), 0).size(), 8U);
}

// Weights, the state of the optimizer: the first step stands apart from all others.
TEST(find_period, a_program_that_first_builds_its_model) {
  for (std::size_t const steps : {6U, 8U, 12U}) {
    stepping_program program;
    program.keep(150);
    for (std::size_t step = 0; step < steps; ++step) {
      program.step(50);
      if (step == 0) program.keep(300);
    }
    std::vector<event_range> const found = find_period(program.build(), 0);
    EXPECT_GE(found.size(), steps - 3) << steps;
    EXPECT_LE(found.size(), steps + 1) << steps;
  }
}

// Too unequal to lie on each other a fixed time later.
TEST(find_period, steps_of_very_unequal_length) {
  stepping_program program;
  program.keep(100);
  for (std::uint64_t const count : {50U, 80U, 75U, 52U, 55U, 78U, 50U, 51U, 80U, 77U})
    program.step(count);
  std::vector<event_range> const found = find_period(program.build(), 0);
  EXPECT_GE(found.size(), 8U);
  EXPECT_LE(found.size(), 11U);
  expect_steps({found.begin() + 1, found.end()}, program.starts(), 3);
}

TEST(find_period, four_steps_are_enough_and_two_are_not) {
  stepping_program four;
  for (int step = 0; step < 4; ++step) four.step(50);
  EXPECT_EQ(find_period(four.build(), 0).size(), 4U);
  stepping_program two;
  for (int step = 0; step < 2; ++step) two.step(50);
  EXPECT_THAT(find_period(two.build(), 0), IsEmpty());
}

TEST(find_period, nothing_repeats) {
  EXPECT_THAT(find_period(snapshot_builder().build(), 0), IsEmpty());
  stepping_program one;
  one.keep(1);
  EXPECT_THAT(find_period(one.build(), 0), IsEmpty());
  // Also where the samples are not equally long.
  for (std::uint64_t const events : {100U, 2000U, 2500U, 3000U, 5000U, 9999U}) {
    stepping_program growing;
    growing.keep(events);
    EXPECT_THAT(find_period(growing.build(), 0), IsEmpty()) << events;
  }
}

TEST(find_period, chance_rarely_repeats) {
  int repeated = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    stepping_program program;
    program.wander(3000, seed);
    repeated += find_period(program.build(), 0).empty() ? 0 : 1;
  }
  EXPECT_LE(repeated, 2);
}

TEST(find_period, requests_serve_where_completions_were_not_recorded) {
  snapshot_builder builder;
  for (int step = 0; step < 8; ++step) {
    for (std::uint64_t row = 1; row <= 40; ++row) builder.alloc(0x1000 * row, 4096);
    for (std::uint64_t row = 40; row >= 1; --row) builder.free_requested(0x1000 * row);
  }
  EXPECT_GE(find_period(builder.build(), 0).size(), 7U);
}

}  // namespace
}  // namespace memreplay::reporting
