// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which event a moment is, and what is said of moments that the trace does not have.
#include "report/moments.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memreplay/error.hpp>

#include "support/snapshot_builder.hpp"

namespace memreplay::reporting {
namespace {

using ::testing::HasSubstr;
using testing::snapshot_builder;
using kind = moment_request::kind;

/// Events 0 to 3, 0 s to 2.5 s; events 1 and 2 at the same time.
snapshot four_events() {
  snapshot_builder builder;
  builder.at_time(5'000'000).alloc(0x1000, 512);
  builder.at_time(6'000'000).alloc(0x2000, 512);
  builder.at_time(6'000'000).alloc(0x3000, 512);
  builder.at_time(7'500'000).alloc(0x4000, 512);
  return builder.build();
}

event_index at_time(snapshot const& input, double seconds) {
  return find_moment(input, 0, {kind::time, seconds, 0});
}

event_index at_event(snapshot const& input, std::int64_t number) {
  return find_moment(input, 0, {kind::event, 0.0, number});
}

/// The complaint and its hint.
std::string refusal(snapshot const& input, moment_request const& asked, std::int32_t device = 0) {
  try {
    static_cast<void>(find_moment(input, device, asked));
  } catch (error const& problem) {
    EXPECT_EQ(problem.code(), error_code::bad_request);
    return std::string(problem.what()) + "; " + problem.hint();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(find_moment, a_time_is_the_last_event_not_later) {
  snapshot const input = four_events();
  EXPECT_EQ(at_time(input, 0.0), 0);
  EXPECT_EQ(at_time(input, 0.999999), 0);
  EXPECT_EQ(at_time(input, 1.0), 2);
  EXPECT_EQ(at_time(input, 2.4), 2);
  EXPECT_EQ(at_time(input, 2.5), 3);
}

TEST(find_moment, times_outside_of_the_trace_are_refused) {
  snapshot const input = four_events();
  for (double const seconds : {-0.000001, -5.0, 2.500001, 1e12}) {
    std::string const said = refusal(input, {kind::time, seconds, 0});
    EXPECT_THAT(said, HasSubstr("is outside of the trace of device 0"));
    EXPECT_THAT(said, HasSubstr("it spans 0 to 2.500000 s"));
  }
}

TEST(find_moment, a_file_without_times_offers_events) {
  snapshot_builder builder;
  builder.without_times().alloc(0x1000, 512).alloc(0x2000, 512);
  std::string const said = refusal(builder.build(), {kind::time, 0.0, 0});
  EXPECT_THAT(said, HasSubstr("carry no times"));
  EXPECT_THAT(said, HasSubstr("--event N, from -1 to 1"));
}

TEST(find_moment, events) {
  snapshot const input = four_events();
  EXPECT_EQ(at_event(input, -1), before_trace);
  EXPECT_EQ(at_event(input, 0), 0);
  EXPECT_EQ(at_event(input, 3), 3);
  for (std::int64_t const number : {-2, 4, 1'000'000}) {
    std::string const said = refusal(input, {kind::event, 0.0, number});
    EXPECT_THAT(said, HasSubstr("no event " + std::to_string(number)));
    EXPECT_THAT(said, HasSubstr("its events are 0 to 3"));
  }
}

TEST(find_moment, the_end) {
  EXPECT_EQ(find_moment(four_events(), 0, {}), 3);
  EXPECT_EQ(find_moment(four_events(), 1, {}), before_trace);
}

TEST(find_moment, peaks_are_the_replays_business) {
  EXPECT_EQ(find_moment(four_events(), 0, {kind::peak, 0.0, 99}), before_trace);
}

TEST(find_moment, a_device_without_events_has_an_end_only) {
  snapshot const input = four_events();
  EXPECT_THAT(refusal(input, {kind::time, 0.0, 0}, 1), HasSubstr("--end"));
  EXPECT_THAT(refusal(input, {kind::event, 0.0, 0}, 1), HasSubstr("--end"));
  EXPECT_EQ(find_moment(input, 1, {kind::event, 0.0, -1}), before_trace);
}

}  // namespace
}  // namespace memreplay::reporting
