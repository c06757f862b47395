// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Address maps of hand-made traces: segments that come and go, blocks, holes, and files that lie.
#include "replay/address_map.hpp"

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::snapshot_builder;

constexpr std::uint64_t mib = 1 << 20;
constexpr auto in_use = block_state::active_allocated;
constexpr auto pending = block_state::active_pending_free;
constexpr auto hole = block_state::inactive;

/// What the kernels say of one moment, written by hand.
class live_at {
 public:
  explicit live_at(event_index event) { made_.event = event; }
  live_at& block(std::uint64_t address, event_index birth, event_index allocated_end = never,
                 event_index active_end = never) {
    made_.address.push_back(address);
    made_.birth.push_back(birth);
    made_.allocated_end.push_back(allocated_end);
    made_.active_end.push_back(active_end);
    made_.stack.push_back(no_stack);
    return *this;
  }
  operator kernels::live_lifetimes const&() const { return made_; }

 private:
  kernels::live_lifetimes made_;
};

/// The recorded sizes as block sizes.
block_sizes recorded_sizes(snapshot const& input) {
  block_sizes made;
  made.size.assign(input.events.size.begin(), input.events.size.end());
  made.exact = true;
  return made;
}

address_map map_of(snapshot const& input, kernels::live_lifetimes const& live) {
  return make_address_map(input, 0, live, recorded_sizes(input));
}

using block_text = std::tuple<std::uint64_t, std::uint64_t, block_state>;
std::vector<block_text> blocks_of(address_map const& map) {
  std::vector<block_text> rows;
  for (block const& row : map.blocks) rows.emplace_back(row.address, row.size, row.state);
  return rows;
}

using segment_text = std::pair<std::uint64_t, std::uint64_t>;
std::vector<segment_text> segments_of(address_map const& map) {
  std::vector<segment_text> rows;
  for (segment const& row : map.segments) rows.emplace_back(row.address, row.total_size);
  return rows;
}

void expect_whole(address_map const& map) {
  for (segment const& row : map.segments) {
    std::uint64_t sum = 0;
    for (std::int64_t at = 0; at < row.block_count; ++at) {
      sum += map.blocks[static_cast<std::size_t>(row.first_block + at)].size;
    }
    EXPECT_EQ(sum, row.total_size);
    EXPECT_LE(row.allocated_size, row.active_size);
    EXPECT_LE(row.active_size, row.total_size);
  }
}

TEST(address_map, holes_lie_between_blocks) {
  snapshot_builder builder;
  builder.alloc(2 * mib + 512, 1024).alloc(2 * mib + 4096, 512).event(action::annotate, 0, 0);
  builder.segment(2 * mib, 2 * mib);
  snapshot const input = builder.build();
  address_map const map =
      map_of(input, live_at(1).block(2 * mib + 512, 0).block(2 * mib + 4096, 1));
  EXPECT_THAT(
      blocks_of(map),
      ElementsAre(block_text(2 * mib, 512, hole), block_text(2 * mib + 512, 1024, in_use),
                  block_text(2 * mib + 1536, 2560, hole), block_text(2 * mib + 4096, 512, in_use),
                  block_text(2 * mib + 4608, 2 * mib - 4608, hole)));
  EXPECT_TRUE(map.exact) << map.reason;
  EXPECT_EQ(map.event, 1);
  EXPECT_EQ(map.segments.front().allocated_size, 1536U);
  EXPECT_EQ(map.segments.front().active_size, 1536U);
  EXPECT_EQ(map.segments.front().requested_size, 1536U);
}

TEST(address_map, a_block_is_larger_than_its_request) {
  snapshot_builder builder;
  builder.alloc(2 * mib, 1000);
  builder.segment(2 * mib, 2 * mib);
  snapshot const input = builder.build();
  block_sizes sizes = recorded_sizes(input);
  sizes.size[0] = 1024;
  address_map const map = make_address_map(input, 0, live_at(0).block(2 * mib, 0), sizes);
  EXPECT_EQ(map.blocks.front().size, 1024U);
  EXPECT_EQ(map.blocks.front().requested_size, 1000U);
  EXPECT_EQ(map.segments.front().requested_size, 1000U);

  sizes.exact = false;
  sizes.reason = "estimated";
  address_map const estimated = make_address_map(input, 0, live_at(0).block(2 * mib, 0), sizes);
  EXPECT_FALSE(estimated.exact);
  EXPECT_EQ(estimated.reason, "estimated");
}

TEST(address_map, a_freed_block_waits_for_its_completion) {
  snapshot_builder builder;
  builder.alloc(2 * mib, 512).free_requested(2 * mib).free_completed(2 * mib);
  builder.segment(2 * mib, 2 * mib);
  snapshot const input = builder.build();
  address_map const map = map_of(input, live_at(1).block(2 * mib, 0, 1, 2));
  EXPECT_EQ(map.blocks.front().state, pending);
  EXPECT_EQ(map.segments.front().allocated_size, 0U);
  EXPECT_EQ(map.segments.front().active_size, 512U);
  EXPECT_EQ(map.segments.front().requested_size, 512U);
}

TEST(address_map, sizes_of_memory_older_than_the_trace) {
  snapshot_builder builder;
  builder.event(action::free_requested, 2 * mib, 1024)
      .event(action::free_completed, 2 * mib, 1024)
      .event(action::free_completed, 2 * mib + 2048, 512);
  builder.segment(2 * mib, 2 * mib)
      .block(2 * mib + 4096, 8192, in_use)
      .block(2 * mib + 12288, 512, pending);
  snapshot const input = builder.build();
  live_at const live = live_at(before_trace)
                           .block(2 * mib, before_trace, 0, 1)
                           .block(2 * mib + 2048, before_trace, before_trace, 2)
                           .block(2 * mib + 4096, before_trace)
                           .block(2 * mib + 12288, before_trace, before_trace);
  address_map const map = map_of(input, live);
  EXPECT_THAT(
      blocks_of(map),
      ElementsAre(block_text(2 * mib, 1024, in_use), block_text(2 * mib + 1024, 1024, hole),
                  block_text(2 * mib + 2048, 512, pending), block_text(2 * mib + 2560, 1536, hole),
                  block_text(2 * mib + 4096, 8192, in_use),
                  block_text(2 * mib + 12288, 512, pending),
                  block_text(2 * mib + 12800, 2 * mib - 12800, hole)));
  EXPECT_TRUE(map.exact) << map.reason;
}

TEST(address_map, segments_are_undone_from_the_end) {
  snapshot_builder builder;
  builder.on_stream(7)
      .segment_alloc(20 * mib, 2 * mib)
      .segment_free(60 * mib, 20 * mib)
      .segment_alloc(40 * mib, 2 * mib)
      .segment_free(20 * mib, 2 * mib);
  builder.segment(40 * mib, 2 * mib);
  snapshot const input = builder.build();
  EXPECT_THAT(segments_of(map_of(input, live_at(3))), ElementsAre(segment_text(40 * mib, 2 * mib)));
  EXPECT_THAT(segments_of(map_of(input, live_at(2))),
              ElementsAre(segment_text(20 * mib, 2 * mib), segment_text(40 * mib, 2 * mib)));
  address_map const early = map_of(input, live_at(0));
  EXPECT_THAT(segments_of(early),
              ElementsAre(segment_text(20 * mib, 2 * mib), segment_text(60 * mib, 20 * mib)));
  EXPECT_TRUE(early.segments[0].is_small);
  EXPECT_FALSE(early.segments[1].is_small);
  EXPECT_FALSE(early.segments[0].is_expandable);
  EXPECT_EQ(input.streams.at(to_row(early.segments[0].stream)), 7U);
  EXPECT_TRUE(early.exact) << early.reason;
  EXPECT_THAT(segments_of(map_of(input, live_at(before_trace))),
              ElementsAre(segment_text(60 * mib, 20 * mib)));
}

TEST(address_map, many_moments_in_any_order) {
  snapshot_builder builder;
  builder.segment_alloc(20 * mib, 2 * mib).segment_free(20 * mib, 2 * mib);
  builder.segment(40 * mib, 2 * mib);
  snapshot const input = builder.build();
  std::vector<kernels::live_lifetimes> const moments{live_at(0), live_at(1), live_at(before_trace),
                                                     live_at(0)};
  std::vector<address_map> const maps = make_address_maps(input, 0, moments, recorded_sizes(input));
  std::vector<std::size_t> counts;
  for (address_map const& map : maps) counts.push_back(map.segments.size());
  EXPECT_THAT(counts, ElementsAre(2, 1, 1, 2));
}

TEST(address_map, blocks_tell_the_kind_of_a_segment_that_is_gone) {
  snapshot_builder builder;
  builder.alloc(20 * mib, 2 * mib).free(20 * mib).segment_free(20 * mib, 2 * mib);
  builder.segment(40 * mib, 2 * mib);
  snapshot const input = builder.build();
  address_map const map = map_of(input, live_at(0).block(20 * mib, 0, 1, 2));
  EXPECT_FALSE(map.segments.front().is_small);
}

/// Ranges of one expandable segment: 2 MiB pages from 100 MiB on.
snapshot_builder expandable_file() {
  snapshot_builder builder;
  builder.event(action::segment_map, 102 * mib, 2 * mib)
      .event(action::segment_map, 104 * mib, 2 * mib)
      .event(action::segment_unmap, 102 * mib, 2 * mib);
  builder.segment(100 * mib, 2 * mib).segment(104 * mib, 2 * mib);
  return builder;
}

snapshot as_expandable(snapshot input) {
  for (segment& row : input.segments) row.is_expandable = row.is_small = true;
  return input;
}

TEST(address_map, mapped_ranges_join_and_split) {
  snapshot const input = as_expandable(expandable_file().build());
  EXPECT_THAT(segments_of(map_of(input, live_at(2))),
              ElementsAre(segment_text(100 * mib, 2 * mib), segment_text(104 * mib, 2 * mib)));
  address_map const joined = map_of(input, live_at(1));
  EXPECT_THAT(segments_of(joined), ElementsAre(segment_text(100 * mib, 6 * mib)));
  EXPECT_TRUE(joined.segments.front().is_expandable);
  EXPECT_TRUE(joined.segments.front().is_small);
  EXPECT_TRUE(joined.exact) << joined.reason;
  EXPECT_THAT(segments_of(map_of(input, live_at(0))),
              ElementsAre(segment_text(100 * mib, 4 * mib)));
  EXPECT_THAT(segments_of(map_of(input, live_at(before_trace))),
              ElementsAre(segment_text(100 * mib, 2 * mib)));
}

TEST(address_map, a_range_is_cut_out_of_the_middle) {
  snapshot_builder builder;
  builder.event(action::segment_map, 102 * mib, 2 * mib);
  builder.segment(100 * mib, 6 * mib);
  snapshot const input = as_expandable(builder.build());
  address_map const map = map_of(input, live_at(before_trace));
  EXPECT_THAT(segments_of(map),
              ElementsAre(segment_text(100 * mib, 2 * mib), segment_text(104 * mib, 2 * mib)));
  EXPECT_TRUE(map.exact) << map.reason;
}

TEST(address_map, ranges_of_two_streams_stay_two) {
  snapshot_builder builder;
  builder.on_stream(0);
  builder.segment(100 * mib, 2 * mib);
  builder.on_stream(9).event(action::segment_unmap, 102 * mib, 2 * mib);
  snapshot const input = as_expandable(builder.build());
  address_map const map = map_of(input, live_at(before_trace));
  EXPECT_THAT(segments_of(map),
              ElementsAre(segment_text(100 * mib, 2 * mib), segment_text(102 * mib, 2 * mib)));
}

TEST(address_map, pools_of_segments_that_are_gone) {
  snapshot_builder builder;
  builder.segment_free(60 * mib, 2 * mib);
  builder.segment(40 * mib, 2 * mib, {1, 2});
  snapshot input = builder.build();
  address_map const unknown = map_of(input, live_at(before_trace));
  EXPECT_EQ(to_row(unknown.segments[1].pool), 0U);
  EXPECT_FALSE(unknown.exact);
  EXPECT_THAT(unknown.reason, HasSubstr("pool"));

  input.events.pool.push_back(input.segments.front().pool);
  address_map const known = map_of(input, live_at(before_trace));
  EXPECT_EQ(known.segments[1].pool, input.segments.front().pool);
  EXPECT_TRUE(known.exact) << known.reason;
}

TEST(address_map, without_segments_nothing_has_a_place) {
  snapshot_builder builder;
  builder.alloc(2 * mib, 512).alloc(4 * mib, 1024);
  snapshot const input = builder.build();
  address_map const map = map_of(input, live_at(1).block(2 * mib, 0).block(4 * mib, 1));
  EXPECT_THAT(map.segments, IsEmpty());
  EXPECT_THAT(map.blocks, IsEmpty());
  EXPECT_EQ(map.unplaced_bytes, 1536);
  EXPECT_FALSE(map.exact);
  EXPECT_EQ(map.reason, "the file has no segments");
}

TEST(address_map, blocks_outside_and_over_each_other_are_counted) {
  snapshot_builder builder;
  builder.alloc(mib, 512)
      .alloc(2 * mib, 1024)
      .alloc(2 * mib + 512, 256)
      .alloc(4 * mib - 512, 1024)
      .alloc(9 * mib, 64);
  builder.segment(2 * mib, 2 * mib);
  snapshot const input = builder.build();
  address_map const map = map_of(input, live_at(4)
                                            .block(mib, 0)
                                            .block(2 * mib, 1)
                                            .block(2 * mib + 512, 2)
                                            .block(4 * mib - 512, 3)
                                            .block(9 * mib, 4));
  expect_whole(map);
  // 512 and 64 outside, 512 below the next block, 512 beyond the segment.
  EXPECT_EQ(map.unplaced_bytes, 512 + 64 + 512 + 512);
  EXPECT_FALSE(map.exact);
}

TEST(address_map, the_end_is_the_file_itself) {
  snapshot_builder builder;
  builder.alloc(4 * mib, 512);
  builder.segment(40 * mib, 2 * mib).block(40 * mib, 2 * mib, hole);
  builder.segment(4 * mib, 2 * mib)
      .block(4 * mib, 512, in_use)
      .block(4 * mib + 512, 512, pending)
      .block(4 * mib + 1024, 2 * mib - 1024, hole);
  builder.on_device(1).segment(4 * mib, 2 * mib).block(4 * mib, 2 * mib, hole);
  snapshot const input = builder.build();
  address_map const map = end_map(input, 0);
  EXPECT_EQ(map.event, 0);
  EXPECT_TRUE(map.exact) << map.reason;
  EXPECT_THAT(segments_of(map),
              ElementsAre(segment_text(4 * mib, 2 * mib), segment_text(40 * mib, 2 * mib)));
  EXPECT_EQ(map.blocks.size(), 4U);
  EXPECT_EQ(map.segments[1].first_block, 3);
  EXPECT_EQ(map.segments[0].allocated_size, 512U);
  EXPECT_EQ(map.segments[0].active_size, 1024U);
  EXPECT_EQ(end_map(input, 5).segments.size(), 0U);
}

TEST(address_map, an_end_with_gaps_is_filled) {
  snapshot_builder builder;
  builder.segment(4 * mib, 2 * mib)
      .block(4 * mib + 1024, 512, in_use)
      .block(4 * mib + 512, 4 * mib, in_use);
  snapshot const input = builder.build();
  address_map const map = end_map(input, 0);
  EXPECT_FALSE(map.exact);
  expect_whole(map);
  EXPECT_THAT(blocks_of(map),
              ElementsAre(block_text(4 * mib, 512, hole), block_text(4 * mib + 512, 512, in_use),
                          block_text(4 * mib + 1024, 512, in_use),
                          block_text(4 * mib + 1536, 2 * mib - 1536, hole)));
}

TEST(address_map, hostile_files_do_no_harm) {
  constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  constexpr action actions[] = {action::segment_alloc, action::segment_free, action::segment_map,
                                action::segment_unmap, action::alloc};
  constexpr std::uint64_t addresses[] = {0, 1, 2 * mib, 2 * mib + 1, top - 1, top};
  constexpr std::uint64_t sizes[] = {0, 1, 2 * mib, top - 1, top};
  snapshot_builder builder;
  for (int round = 0; round < 2; ++round) {
    for (action const what : actions) {
      for (std::uint64_t const address : addresses) {
        for (std::uint64_t const size : sizes) builder.event(what, address, size);
      }
    }
  }
  for (std::uint64_t const address : addresses) {
    for (std::uint64_t const size : sizes)
      builder.segment(address, size).block(address, size, in_use);
  }
  snapshot input = builder.build();
  for (bool const is_expandable : {false, true}) {
    for (segment& row : input.segments) row.is_expandable = is_expandable;
    auto const events = static_cast<event_index>(input.events.size_rows());
    for (event_index event = before_trace; event < events; event += 7) {
      live_at live(event);
      for (std::uint64_t const address : addresses) {
        live.block(address, before_trace).block(address, event, event);
      }
      address_map const map = map_of(input, live);
      expect_whole(map);
      EXPECT_FALSE(map.exact);
      EXPECT_GE(map.unplaced_bytes, 0);
    }
  }
  expect_whole(end_map(input, 0));
}

TEST(address_map, a_device_without_anything) {
  snapshot const input = snapshot_builder().build();
  address_map const map = make_address_map(input, 3, live_at(before_trace), {});
  EXPECT_THAT(map.segments, IsEmpty());
  EXPECT_FALSE(map.exact);
}

}  // namespace
}  // namespace memreplay
