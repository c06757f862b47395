// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What is drawn of one run: areas, stacked lifetimes, live sets, marks and the map, by hand.
#include <memreplay/make_report.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memreplay/replay.hpp>

#include "report/lifetime_stack.hpp"
#include "report/map_blocks.hpp"
#include "report/shown_stacks.hpp"
#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using reporting::stack_collector;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::snapshot_builder;

constexpr std::uint64_t mib = 1 << 20;
constexpr auto in_use = block_state::active_allocated;
constexpr auto hole = block_state::inactive;

/// The collector's parts in one place.
struct collecting {
  snapshot input;
  reporting::site_table sites;
  stack_collector stacks;

  explicit collecting(snapshot given, std::int64_t room = 1'000'000, bool is_redacted = false)
      : input(std::move(given)),
        sites(input, {}, site_rule::user),
        stacks(input, sites, room, is_redacted) {}
};

// ---- lifetimes

TEST(lifetime_stack, drawn_example) {
  collecting with(snapshot_builder().build());
  std::vector<large_lifetime> const largest{{1, 3, 8, no_stack}, {0, 2, 4, no_stack}};
  lifetime_stack const made = reporting::make_lifetime_stack(largest, 5, 100, with.stacks);
  EXPECT_THAT(made.birth, ElementsAre(0, 1));
  EXPECT_THAT(made.end, ElementsAre(2, 3));
  EXPECT_THAT(made.bytes, ElementsAre(4, 8));
  EXPECT_THAT(made.first_vertex, ElementsAre(0, 1, 3));
  EXPECT_THAT(made.vertex_event, ElementsAre(0, 1, 2));
  EXPECT_THAT(made.vertex_bytes, ElementsAre(0, 4, 0));
}

TEST(lifetime_stack, nothing_falls_that_ends_together_or_before) {
  collecting with(snapshot_builder().build());
  std::vector<large_lifetime> const largest{
      {before_trace, never, 16, no_stack}, {0, 3, 8, no_stack}, {1, 3, 4, no_stack}};
  lifetime_stack const made = reporting::make_lifetime_stack(largest, 5, 100, with.stacks);
  EXPECT_THAT(made.end, ElementsAre(5, 3, 3));
  EXPECT_THAT(made.vertex_event, ElementsAre(before_trace, 0, 1));
  EXPECT_THAT(made.vertex_bytes, ElementsAre(0, 16, 24));
}

TEST(lifetime_stack, leaves_out_the_smallest_when_vertices_are_too_many) {
  collecting with(snapshot_builder().build());
  std::vector<large_lifetime> const largest{
      {0, 2, 4, no_stack}, {1, 9, 4, no_stack}, {3, 4, 1, no_stack}};
  auto const drawn = [&](std::int64_t most) {
    return reporting::make_lifetime_stack(largest, 9, most, with.stacks).birth;
  };
  EXPECT_THAT(drawn(4), ElementsAre(0, 1, 3));
  EXPECT_THAT(drawn(3), ElementsAre(0, 1));
  EXPECT_THAT(drawn(2), ElementsAre(0));
  EXPECT_THAT(drawn(0), IsEmpty());
}

TEST(lifetime_stack, leaves_out_sizes_beyond_63_bits) {
  collecting with(snapshot_builder().build());
  std::vector<large_lifetime> const largest{{0, 2, -1, no_stack}, {1, 3, 4, no_stack}};
  EXPECT_THAT(reporting::make_lifetime_stack(largest, 5, 9, with.stacks).birth, ElementsAre(1));
}

// ---- stacks

TEST(stack_collector, names_everything_once) {
  snapshot_builder builder;
  stack_id const a = builder.stack({{"f", "/code/a.py", 1}, {"main", "/code/m.py", 9}});
  stack_id const b = builder.stack({{"g", "/code/a.py", 2}, {"main", "/code/m.py", 9}});
  collecting with(builder.build());
  EXPECT_EQ(with.stacks.row_of(b), 0U);
  EXPECT_EQ(with.stacks.row_of(a), 1U);
  EXPECT_EQ(with.stacks.row_of(b), 0U);
  EXPECT_EQ(with.stacks.row_of(no_stack), 2U);
  EXPECT_EQ(with.stacks.row_of(before_trace_stack), 3U);
  shown_stacks const made = with.stacks.take();
  EXPECT_THAT(made.first, ElementsAre(0, 2, 4, 4, 4));
  EXPECT_THAT(made.frame, ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(made.frames,
              ElementsAre(Field(&shown_frame::function, "g"), Field(&shown_frame::function, "main"),
                          Field(&shown_frame::function, "f")));
  EXPECT_EQ(made.frames[0].line, 2);
  EXPECT_EQ(made.frames[0].link, "vscode://file/code/a.py:2");
  EXPECT_THAT(made.sites, ElementsAre(Field(&shown_site::site, "g@a.py:2"),
                                      Field(&shown_site::site, "f@a.py:1"),
                                      Field(&shown_site::site, "<no frames>"),
                                      Field(&shown_site::site, "before the trace")));
}

TEST(stack_collector, refuses_what_has_no_room) {
  snapshot_builder builder;
  std::string const long_name = "/code/" + std::string(5000, 'x') + ".py";
  stack_id const large = builder.stack({{"f", long_name, 1}});
  stack_id const small = builder.stack({{"g", "/a.py", 2}});
  collecting with(builder.build(), 2000);
  EXPECT_EQ(with.stacks.row_of(large), no_row);
  EXPECT_EQ(with.stacks.row_of(small), 0U);
  EXPECT_EQ(with.stacks.row_of(no_stack), 1U) << "a marker is always there";
  EXPECT_THAT(with.stacks.take().frames, SizeIs(1));
}

TEST(stack_collector, hides_homes) {
  snapshot_builder builder;
  stack_id const one = builder.stack({{"f", "/home/ada/x/secret/a.py", 1}});
  snapshot input = builder.build();
  site_options options;
  options.redact = true;
  reporting::site_table sites(input, options, site_rule::user);
  stack_collector stacks(input, sites, 10'000, true);
  EXPECT_EQ(stacks.row_of(one), 0U);
  shown_stacks const made = stacks.take();
  EXPECT_THAT(made.frames.at(0).file, ::testing::Not(::testing::HasSubstr("ada")));
  EXPECT_EQ(made.frames.at(0).link, "");
}

// ---- the map

TEST(segment_map, merges_the_smallest_neighbours) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({{"f", "/code/a.py", 1}});
  builder.segment(0, 100)
      .block(0, 40, in_use, stack)
      .block(40, 10, hole)
      .block(50, 10, in_use, stack)
      .block(60, 40, hole);
  builder.segment(200, 30).block(200, 30, hole);
  collecting with(builder.build());
  address_map const map = end_map(with.input, 0);
  timeline_budget budget;
  budget.blocks = 4;
  segment_map const made = reporting::make_segment_map(with.input, map, budget, with.stacks);
  EXPECT_THAT(made.block_offset, ElementsAre(0, 40, 60, 0));
  EXPECT_THAT(made.block_bytes, ElementsAre(40, 20, 40, 30));
  EXPECT_THAT(made.block_requested, ElementsAre(40, 10, 0, 0));
  EXPECT_THAT(made.block_state, ElementsAre(map_state::allocated, map_state::mixed, map_state::free,
                                            map_state::free));
  EXPECT_THAT(made.block_stack, ElementsAre(0, no_row, no_row, no_row));
  EXPECT_THAT(made.segments,
              ElementsAre(Field(&map_segment::blocks, 3), Field(&map_segment::blocks, 1)));
  budget.segments = 1;
  segment_map const less = reporting::make_segment_map(with.input, map, budget, with.stacks);
  EXPECT_THAT(less.segments, SizeIs(1));
  EXPECT_EQ(less.other_segments, 1);
  EXPECT_EQ(less.other_bytes, 30);
}

// ---- the whole

class timeline_of_a_run : public ::testing::Test {
 protected:
  /// 8 MiB carried in; 4 MiB and 2 MiB come in a step and stay; an oom, and 1 MiB that goes again.
  timeline_of_a_run() {
    model_ = builder_.stack({{"forward", "/code/model.py", 42}});
    head_ = builder_.stack({{"loss", "/code/head.py", 7}});
    builder_.at_time(1000).alloc(16 * mib, 4 * mib, model_).alloc(32 * mib, 2 * mib, head_);
    builder_.oom(64 * mib, 1 * mib, model_);
    builder_.alloc(48 * mib, 1 * mib, head_).free(48 * mib);
    builder_.segment(0, 64 * mib)
        .block(0, 8 * mib, in_use, model_)
        .block(8 * mib, 8 * mib, hole)
        .block(16 * mib, 4 * mib, in_use, model_)
        .block(20 * mib, 12 * mib, hole)
        .block(32 * mib, 2 * mib, in_use, head_)
        .block(34 * mib, 30 * mib, hole);
    builder_.annotation_start("ProfilerStep#3", 900).annotation_end("ProfilerStep#3", 1002);
    builder_.annotation_start("loss", 1001).annotation_end("loss", 1002);
    builder_.annotation_start("open", 1003);
    builder_.annotation_start("elsewhere", 2000).annotation_end("elsewhere", 2001);
  }

  [[nodiscard]] timeline_run make(replay_plan const& basis = {}, timeline_options asked = {}) {
    snapshot const input = builder_.build();
    replay_plan const plan = plan_timeline(input, 0, asked, basis);
    return make_timeline(input, replay(input, {0}, plan), plan, asked, {}, "run.pickle");
  }

  snapshot_builder builder_;
  stack_id model_{}, head_{};
};

TEST_F(timeline_of_a_run, has_curves_and_marks) {
  timeline_run const run = make({}, {.label = "base", .budget = {}, .precision_ms = {}});
  EXPECT_EQ(run.label, "base");
  EXPECT_EQ(run.schema, timeline_schema_version);
  device_timeline const& device = run.devices.at(0);
  EXPECT_THAT(device.curves.first_event, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(device.curves.allocated.high_bytes,
              ElementsAre(12 * mib, 14 * mib, 14 * mib, 15 * mib, 14 * mib, 14 * mib));
  EXPECT_EQ(device.curves.allocated.start_bytes, static_cast<std::int64_t>(8 * mib));
  EXPECT_THAT(device.curves.seconds, SizeIs(7));
  EXPECT_EQ(device.curves.seconds.front(), 0.0);
  EXPECT_THAT(device.ooms, ElementsAre(Field(&oom_row::event, 2)));
  EXPECT_THAT(device.steps, ElementsAre(AllOf(Field(&timeline_step::number, 3),
                                              Field(&timeline_step::first_event, 0),
                                              Field(&timeline_step::last_event, 1))));
  EXPECT_THAT(device.annotations, ElementsAre(AllOf(Field(&timeline_annotation::name, "loss"),
                                                    Field(&timeline_annotation::first_event, 1),
                                                    Field(&timeline_annotation::last_event, 1)),
                                              AllOf(Field(&timeline_annotation::name, "open"),
                                                    Field(&timeline_annotation::first_event, 3),
                                                    Field(&timeline_annotation::last_event, 6))));
  ASSERT_TRUE(device.map);
  EXPECT_EQ(device.map->event, 2);
  EXPECT_TRUE(device.map->is_oom);
}

TEST_F(timeline_of_a_run, splits_the_curve_by_site) {
  timeline_run const run = make();
  area_bands const& areas = run.devices.at(0).areas;
  EXPECT_THAT(areas.event, ElementsAre(before_trace, 0, 1, 3, 4, 5));
  ASSERT_THAT(areas.sites, SizeIs(2));
  EXPECT_EQ(run.stacks.sites[areas.sites[0]].site, "forward@model.py:42");
  std::vector<std::int64_t> megabytes;
  for (std::int64_t const bytes : areas.bytes)
    megabytes.push_back(bytes / static_cast<std::int64_t>(mib));
  EXPECT_THAT(megabytes, ElementsAre(0, 4, 4, 4, 4, 4,    // model.py
                                     0, 0, 2, 3, 2, 2,    // head.py
                                     0, 0, 0, 0, 0, 0,    // all others
                                     8, 8, 8, 8, 8, 8));  // carried in
}

TEST(timeline, thins_out_steps_evenly) {
  snapshot_builder builder;
  builder.at_time(0);
  for (int step = 0; step < 10; ++step) {
    builder.annotation_start("ProfilerStep#" + std::to_string(step), 1 + step);
    builder.annotation_end("ProfilerStep#" + std::to_string(step), 2 + step);
    builder.at_time(1 + step).alloc(mib * static_cast<std::uint64_t>(1 + step), mib);
  }
  snapshot const input = builder.build();
  timeline_options asked;
  asked.budget.marks = 4;
  replay_plan const plan = plan_timeline(input, 0, asked, {});
  timeline_run const run = make_timeline(input, replay(input, {0}, plan), plan, asked, {}, "x");
  EXPECT_THAT(run.devices.at(0).steps,
              ElementsAre(Field(&timeline_step::number, 0), Field(&timeline_step::number, 3),
                          Field(&timeline_step::number, 6), Field(&timeline_step::number, 9)));
}

TEST_F(timeline_of_a_run, has_precision_in_time) {
  timeline_run const run = make({}, {.label = "", .budget = {}, .precision_ms = 1000.0});
  EXPECT_THAT(run.devices.at(0).curves.first_event, ElementsAre(0, 6));
}

TEST_F(timeline_of_a_run, reserved_has_areas_without_sites) {
  replay_plan plan;
  plan.what = measure::reserved;
  timeline_run const run = make(plan);
  device_timeline const& device = run.devices.at(0);
  EXPECT_THAT(device.areas.sites, IsEmpty());
  EXPECT_THAT(device.lifetimes.birth, IsEmpty());
  EXPECT_THAT(device.flames.stack, IsEmpty());
  EXPECT_THAT(device.flames.rest_bytes, Each(64 * mib));
}

TEST(timeline, without_a_trace_is_a_map) {
  snapshot_builder builder;
  builder.segment(0, 8 * mib).block(0, 8 * mib, in_use);
  snapshot const input = builder.build();
  replay_plan const plan = plan_timeline(input, 0, {}, {});
  timeline_run const run = make_timeline(input, replay(input, {0}, plan), plan, {}, {}, "x");
  device_timeline const& device = run.devices.at(0);
  EXPECT_THAT(device.curves.first_event, ElementsAre(0));
  EXPECT_THAT(device.areas.event, IsEmpty());
  ASSERT_TRUE(device.map);
  EXPECT_EQ(device.map->event, before_trace);
  EXPECT_THAT(device.map->block_bytes, ElementsAre(8 * mib));
}

TEST(timeline_budget, is_shared_but_never_gone) {
  timeline_budget const whole;
  timeline_budget const half = share_of(whole, 2);
  EXPECT_EQ(half.buckets, whole.buckets / 2);
  EXPECT_EQ(half.area_sites, whole.area_sites) << "colours cost nothing";
  timeline_budget const least = share_of(whole, 1'000'000);
  EXPECT_EQ(least.buckets, 1024);
  EXPECT_GT(least.flame_moments, 0);
  EXPECT_EQ(share_of(whole, 0).buckets, whole.buckets);
}

}  // namespace
}  // namespace memreplay
