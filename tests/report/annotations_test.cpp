// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which ranges the START and END entries of annotations make.
#include "report/annotations.hpp"

#include <gtest/gtest.h>

#include "support/snapshot_builder.hpp"

namespace memreplay::reporting {
namespace {

using testing::snapshot_builder;

TEST(annotations, nested_ranges_of_one_name_pair_inside_out) {
  snapshot_builder builder;
  builder.annotation_start("a", 10)
      .annotation_start("a", 20)
      .annotation_end("a", 30)
      .annotation_end("a", 40);
  snapshot const input = builder.build();
  std::vector<annotation_range> const ranges = pair_annotations(input);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].end_us, 40);
  EXPECT_EQ(ranges[1].end_us, 30);
}

TEST(annotations, end_closes_a_range_of_its_own_device_first) {
  snapshot_builder builder;
  builder.on_device(0).annotation_start("a", 10).on_device(1).annotation_start("a", 20);
  builder.on_device(0).annotation_end("a", 30).on_device(1).annotation_end("a", 40);
  snapshot const input = builder.build();
  std::vector<annotation_range> const ranges = pair_annotations(input);
  EXPECT_EQ(ranges[0].end_us, 30);
  EXPECT_EQ(ranges[1].end_us, 40);
}

TEST(annotations, thread_that_changed_its_device_still_closes_its_range) {
  snapshot_builder builder;
  builder.on_device(0).annotation_start("a", 10).on_device(1).annotation_end("a", 30);
  snapshot const input = builder.build();
  std::vector<annotation_range> const ranges = pair_annotations(input);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_TRUE(ranges[0].has_end);
  EXPECT_EQ(ranges[0].device, 0);
}

TEST(annotations, range_without_end_is_open_to_the_end_of_the_file) {
  snapshot_builder builder;
  builder.annotation_start("ProfilerStep#7", 10);
  snapshot const input = builder.build();
  annotation_table const table(input);
  EXPECT_EQ(table.within(0, 1'000'000), "ProfilerStep#7");
  EXPECT_EQ(table.within(0, 9), "");
  ASSERT_EQ(table.steps().size(), 1U);
  EXPECT_FALSE(table.steps()[0].complete);
  EXPECT_FALSE(table.steps()[0].end_us);
}

TEST(annotations, range_without_start_is_open_since_the_oldest_entry) {
  snapshot_builder builder;
  builder.annotation_start("other", 100).annotation_end("lost", 200).annotation_end("other", 300);
  snapshot const input = builder.build();
  annotation_table const table(input);
  EXPECT_EQ(table.within(0, 99), "");
  EXPECT_EQ(table.within(0, 150), "lost");
  EXPECT_EQ(table.within(0, 250), "other");
}

TEST(annotations, step_that_starts_at_time_zero_is_complete) {
  snapshot_builder builder;
  builder.annotation_start("ProfilerStep#0", 0).annotation_end("ProfilerStep#0", 2'500);
  snapshot const input = builder.build();
  std::vector<step_row> const steps = annotation_table(input).steps();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_TRUE(steps[0].complete);
  EXPECT_DOUBLE_EQ(*steps[0].duration_ms, 2.5);
}

TEST(annotations, shared_boundary_belongs_to_the_later_step) {
  snapshot_builder builder;
  builder.annotation_start("ProfilerStep#1", 0).annotation_end("ProfilerStep#1", 10);
  builder.annotation_start("ProfilerStep#2", 10).annotation_end("ProfilerStep#2", 20);
  snapshot const input = builder.build();
  annotation_table const table(input);
  EXPECT_EQ(table.within(0, 9), "ProfilerStep#1");
  EXPECT_EQ(table.within(0, 10), "ProfilerStep#2");
  EXPECT_EQ(table.within(0, 20), "");
}

TEST(annotations, innermost_range_is_named_beside_the_step) {
  snapshot_builder builder;
  builder.annotation_start("outer", 0)
      .annotation_start("ProfilerStep#4", 1)
      .annotation_start("inner", 2);
  builder.annotation_end("inner", 8)
      .annotation_end("ProfilerStep#4", 9)
      .annotation_end("outer", 10);
  snapshot const input = builder.build();
  annotation_table const table(input);
  EXPECT_EQ(table.within(0, 5), "ProfilerStep#4 > inner");
  EXPECT_EQ(table.within(0, 8), "ProfilerStep#4 > outer");
}

TEST(annotations, ranges_of_other_devices_do_not_count_but_steps_do) {
  snapshot_builder builder;
  builder.on_device(0).annotation_start("ProfilerStep#1", 0).annotation_start("a", 1);
  builder.on_device(1).annotation_start("b", 2);
  snapshot const input = builder.build();
  annotation_table const table(input);
  EXPECT_EQ(table.within(0, 5), "ProfilerStep#1 > a");
  EXPECT_EQ(table.within(1, 5), "ProfilerStep#1 > b");
  EXPECT_EQ(table.within(2, 5), "ProfilerStep#1 > b");  // no entry names device 2
}

TEST(annotations, frequent_names_come_first_and_steps_are_apart) {
  snapshot_builder builder;
  for (int count = 0; count < 3; ++count)
    builder.annotation_start("b", count).annotation_end("b", count);
  builder.annotation_start("a", 5).annotation_start("c", 5).annotation_start("ProfilerStep#1", 5);
  snapshot const input = builder.build();
  annotation_rest_row rest;
  std::vector<annotation_row> const rows = annotation_table(input).most_frequent(2, rest);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "b");
  EXPECT_EQ(rows[0].count, 3);
  EXPECT_EQ(rows[1].name, "a");
  EXPECT_EQ(rest.names, 1);
  EXPECT_EQ(rest.count, 1);
}

TEST(annotations, names_that_only_look_like_steps) {
  snapshot_builder builder;
  builder.annotation_start("ProfilerStep#", 1).annotation_start("ProfilerStep#x", 1);
  builder.annotation_start("[param|ProfilerStep#12]", 1);
  snapshot const input = builder.build();
  std::vector<step_row> const steps = annotation_table(input).steps();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].step, 12);
}

}  // namespace
}  // namespace memreplay::reporting
