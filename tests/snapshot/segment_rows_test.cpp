// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Segments and blocks of every layout become rows.
#include "snapshot/read_object.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;

snapshot read_segments(std::vector<object_ptr> segments) {
  return read(dict({{"segments", list(std::move(segments))}}));
}

TEST(segment_rows, a_segment_and_its_blocks) {
  object_ptr const stack = list({frame_object("f", "a.py", 1)});
  snapshot const input = read_segments({segment_object(
      4096,
      {block_object(4096, 512, "active_allocated", {{"frames", stack}}),
       with(block_object(4608, 1024, "active_pending_free"), {{"requested_size", integer(1000)}}),
       block_object(5632, 2048, "inactive")},
      {{"device", integer(3)},
       {"stream", integer(77)},
       {"segment_type", text("small")},
       {"segment_pool_id", tuple({integer(0), integer(1)})},
       {"is_expandable", boolean(true)},
       {"frames", stack}})});
  ASSERT_EQ(input.segments.size(), 1U);
  segment const& part = input.segments[0];
  EXPECT_EQ(part.device, 3);
  EXPECT_EQ(part.address, 4096U);
  EXPECT_EQ(part.total_size, 512U + 1024 + 2048);
  EXPECT_EQ(part.allocated_size, 512U);
  EXPECT_EQ(part.active_size, 512U + 1024);
  EXPECT_EQ(part.requested_size, 512U + 1000);
  EXPECT_EQ(input.streams[to_row(part.stream)], 77U);
  EXPECT_EQ(input.pools[to_row(part.pool)], (pool_id{0, 1}));
  EXPECT_TRUE(part.is_small);
  EXPECT_TRUE(part.is_expandable);
  EXPECT_EQ(stack_text(input, part.stack), "[f@a.py:1]");
  ASSERT_EQ(part.block_count, 3);
  block const* blocks = &input.blocks[static_cast<std::size_t>(part.first_block)];
  EXPECT_EQ(blocks[0].state, block_state::active_allocated);
  EXPECT_EQ(blocks[0].stack, part.stack);
  EXPECT_EQ(blocks[1].state, block_state::active_pending_free);
  EXPECT_EQ(blocks[1].requested_size, 1000U);
  EXPECT_EQ(blocks[1].stack, no_stack);
  EXPECT_EQ(blocks[2].state, block_state::inactive);
  EXPECT_EQ(defect(input, "segment_sum_mismatch"), 0);
}

TEST(segment_rows, the_middle_state_has_two_names) {
  snapshot const input =
      read_segments({segment_object(0, {block_object(0, 512, "active_awaiting_free")})});
  EXPECT_EQ(input.blocks[0].state, block_state::active_pending_free);
}

TEST(segment_rows, layout_2_0_keeps_addresses_requests_and_stacks_elsewhere) {
  auto const entry = [](std::int64_t size, std::string_view function) {
    return dict({{"addr", integer(0x1000)},
                 {"real_size", integer(size)},
                 {"frames", list({frame_object(function, "a.py", 1)})},
                 {"cpp_frames", list({text("c++")})}});
  };
  auto const old_block = [](std::int64_t size, std::string_view state, object_pairs const& more) {
    object_pairs pairs{{"size", integer(size)}, {"state", text(state)}};
    pairs.insert(pairs.end(), more.begin(), more.end());
    return dict(pairs);
  };
  snapshot const input = read_segments({segment_object(
      0x1000, {old_block(512, "active_allocated",
                         {{"history", list({entry(500, "new"), entry(9, "old")})}}),
               old_block(1024, "inactive", {}),
               old_block(2048, "active_allocated", {{"history", list({entry(2000, "one")})}}),
               old_block(4096, "active_allocated", {})})});
  ASSERT_EQ(input.blocks.size(), 4U);
  EXPECT_EQ(input.blocks[0].address, 0x1000U);
  EXPECT_EQ(input.blocks[0].requested_size, 500U);
  EXPECT_EQ(stack_text(input, input.blocks[0].stack), "[new@a.py:1]");
  EXPECT_EQ(input.blocks[1].address, 0x1000U + 512);
  EXPECT_EQ(input.blocks[2].address, 0x1000U + 512 + 1024);
  EXPECT_EQ(stack_text(input, input.blocks[2].stack), "[one@a.py:1]");
  EXPECT_EQ(input.blocks[3].address, 0x1000U + 512 + 1024 + 2048);
  EXPECT_EQ(input.blocks[3].requested_size, 4096U);
  EXPECT_EQ(input.blocks[3].stack, no_stack);
}

TEST(segment_rows, sums_that_are_missing_follow_from_the_blocks) {
  for (object_ptr const& gone : {object_ptr{}, none()}) {
    snapshot const input = read_segments({segment_object(
        4096,
        {block_object(4096, 512, "active_allocated"),
         block_object(4608, 256, "active_pending_free"), block_object(4864, 128, "inactive")},
        {{"total_size", gone},
         {"allocated_size", gone},
         {"active_size", gone},
         {"requested_size", gone}})});
    ASSERT_EQ(input.segments.size(), 1U);
    EXPECT_EQ(input.segments[0].total_size, 896U);
    EXPECT_EQ(input.segments[0].allocated_size, 512U);
    EXPECT_EQ(input.segments[0].active_size, 768U);
    EXPECT_EQ(input.segments[0].requested_size, 768U);
  }
}

TEST(segment_rows, none_is_as_good_as_missing) {
  snapshot const input = read_segments({segment_object(
      4096,
      {with(block_object(4096, 512, "active_allocated"),
            {{"requested_size", none()}, {"address", none()}, {"frames", none()}})},
      {{"stream", none()}, {"segment_pool_id", none()}, {"frames", none()}, {"device", none()}})});
  EXPECT_EQ(input.blocks[0].requested_size, 512U);
  EXPECT_EQ(input.blocks[0].address, 4096U);
  EXPECT_EQ(input.segments[0].stack, no_stack);
  EXPECT_EQ(defect(input, "malformed_values"), 0);
}

TEST(segment_rows, sums_that_do_not_add_up_are_told) {
  snapshot const input = read_segments(
      {segment_object(4096, {block_object(4096, 512, "active_allocated")},
                      {{"total_size", integer(1024)}}),
       segment_object(0, {block_object(0, 512, "inactive"), block_object(256, 512, "inactive")})});
  EXPECT_EQ(defect(input, "segment_sum_mismatch"), 1);
  EXPECT_EQ(defect(input, "overlapping_blocks"), 1);
}

TEST(segment_rows, segments_without_blocks) {
  snapshot const input =
      read_segments({segment_object(4096, {}), dict({{"segment_type", text("large")}}),
                     dict({{"blocks", list({})}, {"address", integer(1)}})});
  ASSERT_EQ(input.segments.size(), 3U);
  for (segment const& part : input.segments) EXPECT_EQ(part.block_count, 0);
}

TEST(segment_rows, blocks_without_their_keys_are_left_out_and_counted) {
  snapshot const input = read_segments({segment_object(
      0, {block_object(0, 512, "active_allocated"),
          with(block_object(512, 512, "inactive"), {{"state", nullptr}}), integer(5)})});
  EXPECT_EQ(input.segments[0].block_count, 1);
  EXPECT_EQ(defect(input, "foreign_items"), 2);
}

TEST(segment_rows, devices_out_of_range) {
  for (std::int64_t const device : {std::int64_t{-1}, std::int64_t{65'536}, INT64_MIN}) {
    snapshot const input = read_segments({segment_object(0, {}, {{"device", integer(device)}})});
    EXPECT_EQ(input.segments[0].device, 0);
    EXPECT_EQ(defect(input, "malformed_values"), 1);
  }
}

TEST(segment_rows, a_block_list_that_two_segments_share) {
  object_ptr const blocks =
      list({block_object(0, 512, "inactive"), block_object(512, 512, "inactive")});
  snapshot const input =
      read_segments({segment_object(0, {}, {{"blocks", blocks}, {"total_size", integer(1024)}}),
                     segment_object(0, {}, {{"blocks", blocks}, {"total_size", integer(1024)}})});
  EXPECT_EQ(input.segments[0].first_block, input.segments[1].first_block);
  EXPECT_EQ(input.segments[1].block_count, 2);
}

TEST(segment_rows, scattered_blocks_are_gathered) {
  object_ptr const one = block_object(0, 512, "inactive");
  object_ptr const two = block_object(512, 256, "inactive");
  snapshot const input =
      read_segments({segment_object(0, {one, two}), segment_object(0, {two, one, two})});
  segment const& second = input.segments[1];
  ASSERT_EQ(second.block_count, 3);
  block const* blocks = &input.blocks[static_cast<std::size_t>(second.first_block)];
  EXPECT_EQ(blocks[0].size, 256U);
  EXPECT_EQ(blocks[1].size, 512U);
  EXPECT_EQ(blocks[2].size, 256U);
}

}  // namespace
}  // namespace memreplay::reading
