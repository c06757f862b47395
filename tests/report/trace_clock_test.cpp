// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From times to events: ties, times that step back, times that are not there.
#include "report/trace_clock.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "support/snapshot_builder.hpp"

namespace memreplay::reporting {
namespace {

using testing::snapshot_builder;

snapshot trace_of(std::vector<std::int64_t> const& times) {
  snapshot_builder builder;
  std::uint64_t address = 0x1000;
  for (std::int64_t const time : times) {
    builder.at_time(time).alloc(address, 512);
    address += 0x1000;
  }
  return builder.build();
}

TEST(trace_clock, finds_events_by_time) {
  snapshot const input = trace_of({100, 110, 110, 130});
  trace_clock const clock(input, 0);
  EXPECT_TRUE(clock.has_times());
  EXPECT_EQ(clock.events(), 4);
  EXPECT_EQ(clock.earliest_us(), 100);
  EXPECT_EQ(clock.latest_us(), 130);
  EXPECT_EQ(clock.first_from(0), 0);
  EXPECT_EQ(clock.first_from(100), 0);
  EXPECT_EQ(clock.first_from(101), 1);
  EXPECT_EQ(clock.first_from(110), 1);
  EXPECT_EQ(clock.first_from(111), 3);
  EXPECT_EQ(clock.first_from(131), 4);
}

TEST(trace_clock, ranges_are_half_open) {
  snapshot const input = trace_of({100, 110, 110, 130});
  trace_clock const clock(input, 0);
  EXPECT_EQ(clock.range(100, 110), (event_range{0, 0}));
  EXPECT_EQ(clock.range(110, 130), (event_range{1, 2}));
  EXPECT_EQ(clock.range(0, 1000), (event_range{0, 3}));
  EXPECT_TRUE(clock.range(111, 130).is_empty());
  EXPECT_TRUE(clock.range(110, 110).is_empty());
  EXPECT_TRUE(clock.range(130, 100).is_empty());
  EXPECT_TRUE(clock.range(131, 1000).is_empty());
}

TEST(trace_clock, an_event_counts_as_early_as_the_latest_before_it) {
  snapshot const input = trace_of({100, 130, 110, 140});
  trace_clock const clock(input, 0);
  EXPECT_EQ(clock.first_from(105), 1);
  EXPECT_EQ(clock.first_from(120), 1);
  EXPECT_EQ(clock.first_from(131), 3);
  EXPECT_EQ(clock.latest_us(), 140);
}

TEST(trace_clock, a_time_of_zero_is_no_time) {
  snapshot const input = trace_of({100, 0, 120});
  trace_clock const clock(input, 0);
  EXPECT_EQ(clock.earliest_us(), 100);
  EXPECT_EQ(clock.range(100, 110), (event_range{0, 1}));
  snapshot const nothing = trace_of({0, 0});
  EXPECT_FALSE(trace_clock(nothing, 0).has_times());
}

TEST(trace_clock, events_that_begin_without_a_time_are_at_the_beginning) {
  snapshot const input = trace_of({0, 100, 120});
  trace_clock const clock(input, 0);
  EXPECT_EQ(clock.earliest_us(), 100);
  EXPECT_EQ(clock.range(100, 110), (event_range{0, 1}));
}

TEST(trace_clock, without_times_or_events) {
  snapshot_builder builder;
  builder.without_times().alloc(0x1000, 512);
  snapshot const input = builder.build();
  trace_clock const clock(input, 0);
  EXPECT_FALSE(clock.has_times());
  EXPECT_EQ(clock.events(), 1);
  EXPECT_EQ(clock.first_from(5), 1);
  for (std::int32_t const device : {-1, 7}) {
    trace_clock const none(input, device);
    EXPECT_EQ(none.events(), 0);
    EXPECT_FALSE(none.earliest_us().has_value());
    EXPECT_TRUE(none.range(0, 100).is_empty());
  }
}

}  // namespace
}  // namespace memreplay::reporting
