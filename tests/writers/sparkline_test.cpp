// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The curve in one line of text.
#include "writers/sparkline.hpp"

#include <gtest/gtest.h>

namespace memreplay::writers {
namespace {

peak_report peak_at(event_index event) {
  peak_report made;
  made.event = event;
  return made;
}

TEST(sparkline, draws_the_greatest_value_of_each_bucket) {
  sparkline const drawn = draw_sparkline({{0, 0, 0}, {10, 0, 50}, {20, 20, 100}}, {});
  EXPECT_EQ(drawn.curve, "\u2581\u2585\u2588");
  EXPECT_EQ(drawn.marks, "");
  EXPECT_EQ(drawn.floor_bytes, 0);
  EXPECT_EQ(drawn.top_bytes, 100);
}

TEST(sparkline, marks_peaks_by_their_number_below) {
  sparkline const drawn =
      draw_sparkline({{0, 0, 90}, {10, 0, 50}, {20, 20, 100}}, {peak_at(25), peak_at(9)});
  EXPECT_EQ(drawn.marks, "2 1");
}

TEST(sparkline, larger_peak_keeps_a_shared_bucket) {
  EXPECT_EQ(draw_sparkline({{0, 0, 90}, {10, 0, 50}}, {peak_at(5), peak_at(6)}).marks, "1");
}

TEST(sparkline, peak_before_the_trace_stands_at_the_first_bucket) {
  EXPECT_EQ(draw_sparkline({{0, 0, 90}, {10, 0, 50}}, {peak_at(before_trace)}).marks, "1");
}

TEST(sparkline, tenth_peak_is_a_star) {
  std::vector<timeline_bucket> timeline;
  std::vector<peak_report> peaks;
  for (event_index event = 0; event < 10; ++event) {
    timeline.push_back({event, 0, 100 - event});
    peaks.push_back(peak_at(event));
  }
  EXPECT_EQ(draw_sparkline(timeline, peaks).marks, "123456789*");
}

TEST(sparkline, high_curve_is_drawn_from_its_own_floor) {
  sparkline const drawn = draw_sparkline({{0, 900, 900}, {10, 900, 1000}}, {});
  EXPECT_EQ(drawn.floor_bytes, 900);
  EXPECT_EQ(drawn.curve, "\u2581\u2588");
}

TEST(sparkline, empty_flat_and_zero_curves) {
  EXPECT_EQ(draw_sparkline({}, {peak_at(1)}).curve, "");
  EXPECT_EQ(draw_sparkline({{0, 0, 0}, {1, 0, 0}}, {}).curve, "\u2581\u2581");
  EXPECT_EQ(draw_sparkline({{0, 7, 7}}, {}).curve, "\u2581");
}

}  // namespace
}  // namespace memreplay::writers
