// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report of an address map: rows, rest and pools that add up, owners, bars; and the
// fragmentation that `info` tells of maps.
#include <memreplay/make_report.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memreplay/error.hpp>

#include "report/fragmentation.hpp"
#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::snapshot_builder;

constexpr std::uint64_t mib = 1 << 20;
constexpr auto in_use = block_state::active_allocated;
constexpr auto pending = block_state::active_pending_free;
constexpr auto hole = block_state::inactive;

/// Two segments of stream 0, one of them with two sites and a hole, and an empty one of stream 7 in
/// a private pool.
class segments_of_a_map : public ::testing::Test {
 protected:
  segments_of_a_map() {
    stack_id const model = builder_.stack({{"forward", "/code/proj/model.py", 42}});
    stack_id const head = builder_.stack({{"forward", "/home/ada/head.py", 7}});
    builder_.on_stream(0);
    builder_.alloc(32 * mib, 8 * mib).alloc(40 * mib, 4 * mib).alloc(46 * mib, 2 * mib);
    builder_.segment(2 * mib, 2 * mib).block(2 * mib, 2 * mib, in_use, model);
    builder_.segment(32 * mib, 16 * mib)
        .block(32 * mib, 8 * mib, in_use, model)
        .block(40 * mib, 4 * mib, pending, head)
        .block(44 * mib, 2 * mib, hole)
        .block(46 * mib, 2 * mib, in_use, model);
    builder_.on_stream(7).segment(64 * mib, 4 * mib, {1, 2}).block(64 * mib, 4 * mib, hole);
    input_ = builder_.build();
    input_.segments[0].is_small = true;
  }

  [[nodiscard]] replay_result replayed() const {
    address_map map;
    map.event = 2;
    map.segments = input_.segments;
    map.blocks = input_.blocks;
    device_replay device;
    device.events = 3;
    device.maps.push_back(map);
    replay_result made;
    made.backend = "host";
    made.devices.push_back(device);
    return made;
  }

  [[nodiscard]] device_segments make(std::int64_t limit = 0, bool redact = false) const {
    report_options options;
    options.top_contributors = limit;
    options.site.redact = redact;
    segments_report const made = make_segments(input_, replayed(), {}, {}, options, "run.pickle");
    EXPECT_EQ(made.schema, segments_schema_version);
    return made.devices.at(0);
  }

  snapshot_builder builder_;
  snapshot input_;
};

TEST_F(segments_of_a_map, rows_are_by_address) {
  device_segments const made = make();
  ASSERT_EQ(made.rows.size(), 3U);
  segment_row const& row = made.rows[1];
  EXPECT_EQ(row.address, 32 * mib);
  EXPECT_EQ(row.of.stream, 0U);
  EXPECT_FALSE(row.of.is_private());
  EXPECT_FALSE(row.of.is_small);
  EXPECT_EQ(row.fill.bytes, 16 * mib);
  EXPECT_EQ(row.fill.allocated_bytes, 10 * mib);
  EXPECT_EQ(row.fill.pending_bytes, 4 * mib);
  EXPECT_EQ(row.fill.free_bytes, 2 * mib);
  EXPECT_EQ(row.fill.requested_bytes, 14 * mib);
  EXPECT_EQ(row.fill.blocks, 3);
  EXPECT_EQ(row.fill.holes, 1);
  EXPECT_EQ(row.fill.largest_hole_bytes, 2 * mib);
  EXPECT_DOUBLE_EQ(row.fill.fill, 87.5);
  EXPECT_TRUE(made.rows[0].of.is_small);
  EXPECT_TRUE(made.rows[2].of.is_private());
  EXPECT_EQ(made.rows[2].of.stream, 7U);
  EXPECT_THAT(made.rows[2].owners, IsEmpty());
}

TEST_F(segments_of_a_map, owners_share_what_is_in_use) {
  segment_row const row = make().rows[1];
  ASSERT_EQ(row.owners.size(), 2U);
  EXPECT_EQ(row.owners[0].site, "forward@model.py:42");
  EXPECT_EQ(row.owners[0].bytes, 10 * mib);
  EXPECT_EQ(row.owners[0].tensors, 2);
  EXPECT_NEAR(row.owners[0].share + row.owners[1].share, 100.0, 1e-9);
  EXPECT_EQ(row.owners_rest.sites, 0);
}

TEST_F(segments_of_a_map, bars_show_the_holes) {
  device_segments const made = make();
  EXPECT_THAT(made.rows[0].bar, Each(100));
  EXPECT_THAT(made.rows[2].bar, Each(0));
  std::array<int, bar_slots> expected{};
  expected.fill(100);
  for (std::size_t slot = 24; slot < 28; ++slot) expected[slot] = 0;
  EXPECT_EQ(made.rows[1].bar, expected);
}

TEST_F(segments_of_a_map, rows_and_rest_and_pools_add_up) {
  for (std::int64_t const limit : {0, 1, 2, 3, 9}) {
    device_segments const made = make(limit);
    std::int64_t segments = made.rest.segments;
    std::int64_t bytes = made.rest.fill.bytes;
    std::int64_t free = made.rest.fill.free_bytes;
    for (segment_row const& row : made.rows) {
      ++segments;
      bytes += row.fill.bytes;
      free += row.fill.free_bytes;
    }
    EXPECT_EQ(segments, made.totals.count);
    EXPECT_EQ(bytes, made.totals.total_bytes);
    EXPECT_EQ(free, made.totals.inactive_bytes);
    EXPECT_EQ(made.totals.private_pool_bytes, 4 * mib);
  }
  device_segments const made = make(1);
  EXPECT_EQ(made.rows.front().address, 32 * mib);
  std::vector<std::int64_t> pools;
  for (segment_pool_row const& row : made.pools) pools.push_back(row.fill.bytes);
  EXPECT_THAT(pools, ElementsAre(16 * mib, 4 * mib, 2 * mib));
}

TEST_F(segments_of_a_map, homes_are_hidden_when_asked) {
  device_segments const made = make(0, true);
  for (segment_row const& row : made.rows) {
    for (site_row const& owner : row.owners) {
      EXPECT_EQ((owner.site + owner.file + owner.chain + owner.link).find("ada"),
                std::string::npos);
    }
  }
}

TEST_F(segments_of_a_map, plans_name_one_map) {
  replay_plan const end = plan_segments(input_, 0, {}, {});
  EXPECT_THAT(end.maps, ElementsAre(2));
  EXPECT_EQ(end.peak_maps, 0);
  replay_plan const early = plan_segments(input_, 0, {moment_request::kind::event, 0.0, -1}, {});
  EXPECT_THAT(early.maps, ElementsAre(before_trace));
  replay_plan const peak = plan_segments(input_, 0, {moment_request::kind::peak, 0.0, 2}, {});
  EXPECT_THAT(peak.maps, IsEmpty());
  EXPECT_EQ(peak.peak_count, 2);
  EXPECT_EQ(peak.peak_maps, 2);
  EXPECT_THROW(
      static_cast<void>(plan_segments(input_, 0, {moment_request::kind::event, 0.0, 3}, {})),
      error);
}

TEST_F(segments_of_a_map, a_peak_that_is_not_there_is_refused) {
  EXPECT_THROW(static_cast<void>(make_segments(input_, replayed(), {},
                                               {moment_request::kind::peak, 0.0, 1}, {}, "a")),
               error);
}

TEST_F(segments_of_a_map, fragmentation_has_a_row_for_each_moment) {
  device_replay device = replayed().devices.front();
  address_map before;
  device.maps.push_back(before);
  device.maps.push_back(device.maps.front());
  device.peaks.push_back({});
  device.peaks.front().event = 2;
  std::vector<fragmentation_row> const rows =
      reporting::make_fragmentation(input_, reporting::trace_view(input_, 0), device);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].event, before_trace);
  EXPECT_EQ(rows[0].reserved_bytes, 0);
  EXPECT_FALSE(rows[0].is_peak);
  EXPECT_TRUE(rows[1].is_peak);
  EXPECT_EQ(rows[1].reserved_bytes, 22 * mib);
  EXPECT_EQ(rows[1].active_bytes, 16 * mib);
  EXPECT_EQ(rows[1].inactive_bytes, 6 * mib);
  EXPECT_EQ(rows[1].largest_free_bytes, 4 * mib);
  EXPECT_EQ(rows[1].free_blocks, 2);

  device.maps = {before};
  EXPECT_THAT(reporting::make_fragmentation(input_, reporting::trace_view(input_, 0), device),
              IsEmpty());
}

TEST(fragmentation, moments_are_evenly_spaced) {
  EXPECT_THAT(reporting::fragmentation_moments(0), ElementsAre(-1));
  EXPECT_THAT(reporting::fragmentation_moments(3), ElementsAre(-1, 0, 1, 2));
  EXPECT_THAT(reporting::fragmentation_moments(24),
              ElementsAre(-1, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23));
}

}  // namespace
}  // namespace memreplay
