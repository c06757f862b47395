// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The audit of a file: what is odd is counted and told in one sentence each.
#include "snapshot/read_object.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;

TEST(sanity, a_sound_file_has_nothing_to_tell) {
  snapshot const input = read(small_snapshot());
  EXPECT_TRUE(input.defects.empty()) << snapshot_text(input);
}

TEST(sanity, no_history) {
  for (object_ptr const& document :
       {dict({{"segments", list({segment_object(0, {})})}}), snapshot_object({}, {}),
        snapshot_object({segment_object(0, {})}, {list({}), list({})}),
        snapshot_object({}, {none()}), list({segment_object(0, {})})}) {
    EXPECT_EQ(defect(read(document), "no_history"), 1);
  }
}

TEST(sanity, every_row_is_a_sentence) {
  snapshot const input = read(snapshot_object(
      {segment_object(0, {block_object(0, 512, "inactive")}, {{"total_size", integer(5)}})},
      {list({event_object("alloc", 1, -1, {{"time_us", integer(9)}}),
             event_object("strange", 1, 1, {{"time_us", integer(3)}, {"new", text("")}}),
             integer(5), with(event_object("alloc", 1, 1), {{"size", text("x")}})})}));
  for (char const* kind :
       {"segment_sum_mismatch", "negative_sizes", "unknown_actions", "unknown_keys",
        "foreign_items", "malformed_values", "time_steps_back", "events_without_time"}) {
    EXPECT_EQ(defect(input, kind), kind == std::string("time_steps_back") ? 2 : 1) << kind;
    EXPECT_GT(defect_message(input, kind).size(), 10U);
  }
}

TEST(sanity, many_unknown_names_are_cut_short) {
  std::vector<object_ptr> events;
  for (int row = 0; row < 3000; ++row)
    events.push_back(event_object("strange " + std::to_string(row), 1, 1));
  snapshot const input = read_events(events);
  EXPECT_EQ(defect(input, "unknown_actions"), 3000);
  EXPECT_LT(defect_message(input, "unknown_actions").size(), 300U);
  EXPECT_TRUE(defect_message(input, "unknown_actions").ends_with(", ..."));
}

TEST(sanity, times_as_far_apart_as_can_be) {
  snapshot const input =
      read_events({event_object("alloc", 1, 1, {{"time_us", integer(100'000'000'000'000'000)}}),
                   event_object("alloc", 1, 1, {{"time_us", integer(INT64_MIN)}})});
  EXPECT_EQ(defect(input, "time_steps_back"), 1);
}

}  // namespace
}  // namespace memreplay::reading
