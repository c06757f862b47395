// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How traces are cut: steps that are whole, cut off, nested or missing, windows, repetitions.
#include "report/spans.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memreplay/error.hpp>

#include "support/snapshot_builder.hpp"

namespace memreplay::reporting {
namespace {

using ::testing::HasSubstr;
using testing::snapshot_builder;
using kind = span_request::kind;

constexpr std::int64_t origin = 1'000'000;

/// `count` events, one each microsecond.
snapshot_builder trace_of(std::int64_t count) {
  snapshot_builder builder;
  builder.at_time(origin);
  for (std::int64_t event = 0; event < count; ++event)
    builder.alloc(0x1000 * static_cast<std::uint64_t>(event + 1), 512);
  return builder;
}

void add_range(snapshot_builder& builder, std::string const& name, std::int64_t start,
               std::int64_t end) {
  builder.annotation_start(name, origin + start).annotation_end(name, origin + end);
}

std::string refusal(snapshot const& input, span_request const& asked, std::int32_t device = 0) {
  try {
    static_cast<void>(find_spans(input, device, asked));
  } catch (error const& problem) {
    EXPECT_EQ(problem.code(), error_code::bad_request);
    return std::string(problem.what()) + "; " + problem.hint();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

/// Every event is in exactly one span, in order.
void expect_tiling(span_list const& cut, std::int64_t events) {
  event_index next = 0;
  for (span const& one : cut.spans) {
    EXPECT_EQ(one.events.first, next);
    EXPECT_FALSE(one.events.is_empty());
    next = one.events.last + 1;
  }
  EXPECT_EQ(next, events);
}

TEST(profiler_steps, whole_ones) {
  snapshot_builder builder = trace_of(9);
  add_range(builder, "ProfilerStep#3", 2, 5);
  add_range(builder, "ProfilerStep#4", 5, 8);
  span_list const cut = find_spans(builder.build(), 0, {kind::steps, {}});
  EXPECT_EQ(cut.by, kind::steps);
  EXPECT_EQ(cut.outside, 0);
  ASSERT_EQ(cut.spans.size(), 2U);
  EXPECT_EQ(cut.spans[0].name, "ProfilerStep#3");
  EXPECT_EQ(cut.spans[0].number, 3);
  EXPECT_EQ(cut.spans[0].events, (event_range{2, 4}));
  EXPECT_EQ(cut.spans[0].start_us, origin + 2);
  EXPECT_EQ(cut.spans[0].end_us, origin + 5);
  EXPECT_DOUBLE_EQ(cut.spans[0].duration_ms.value_or(0), 0.003);
  EXPECT_TRUE(cut.spans[0].is_complete);
  EXPECT_EQ(cut.spans[1].events, (event_range{5, 7}));
}

TEST(profiler_steps, cut_off_at_both_ends) {
  snapshot_builder builder = trace_of(9);
  builder.annotation_end("ProfilerStep#1", origin + 2);
  add_range(builder, "ProfilerStep#2", 2, 6);
  builder.annotation_start("ProfilerStep#3", origin + 6);
  span_list const cut = find_spans(builder.build(), 0, {kind::steps, {}});
  ASSERT_EQ(cut.spans.size(), 3U);
  EXPECT_FALSE(cut.spans[0].is_complete);
  EXPECT_FALSE(cut.spans[0].start_us.has_value());
  EXPECT_FALSE(cut.spans[0].duration_ms.has_value());
  EXPECT_TRUE(cut.spans[1].is_complete);
  EXPECT_FALSE(cut.spans[2].is_complete);
  EXPECT_FALSE(cut.spans[2].end_us.has_value());
  expect_tiling(cut, 9);
}

TEST(profiler_steps, those_without_events_are_only_counted) {
  snapshot_builder builder = trace_of(4);
  add_range(builder, "ProfilerStep#0", -20, -10);
  add_range(builder, "ProfilerStep#1", 0, 4);
  add_range(builder, "ProfilerStep#2", 10, 20);
  span_list const cut = find_spans(builder.build(), 0, {kind::steps, {}});
  EXPECT_EQ(cut.outside, 2);
  ASSERT_EQ(cut.spans.size(), 1U);
  EXPECT_EQ(cut.spans[0].number, 1);
}

TEST(profiler_steps, nested_in_other_ranges) {
  snapshot_builder builder = trace_of(6);
  builder.annotation_start("epoch", origin);
  add_range(builder, "ProfilerStep#0", 0, 3);
  add_range(builder, "Optimizer.step#AdamW.step", 1, 2);
  add_range(builder, "ProfilerStep#1", 3, 6);
  builder.annotation_end("epoch", origin + 6);
  span_list const cut = find_spans(builder.build(), 0, {kind::steps, {}});
  ASSERT_EQ(cut.spans.size(), 2U);
  EXPECT_EQ(cut.spans[0].events, (event_range{0, 2}));
  EXPECT_EQ(cut.spans[1].events, (event_range{3, 5}));
}

TEST(profiler_steps, none) {
  snapshot_builder builder = trace_of(4);
  add_range(builder, "forward", 0, 1);
  add_range(builder, "forward", 1, 2);
  add_range(builder, "backward", 2, 3);
  std::string const said = refusal(builder.build(), {kind::steps, {}});
  EXPECT_THAT(said, HasSubstr("no ProfilerStep annotations"));
  EXPECT_THAT(said, HasSubstr("it has forward (2), backward (1)"));
  EXPECT_THAT(said, HasSubstr("--by auto"));
  EXPECT_THAT(refusal(trace_of(4).build(), {kind::steps, {}}), HasSubstr("no annotations at all"));
}

TEST(profiler_steps, need_times_and_events) {
  snapshot_builder builder = trace_of(4);
  add_range(builder, "ProfilerStep#0", 0, 4);
  builder.without_times();
  snapshot const input = builder.build();
  EXPECT_THAT(refusal(input, {kind::steps, {}}), HasSubstr("carry no times"));
  EXPECT_THAT(refusal(input, {kind::steps, {}}, 1), HasSubstr("device 1 has no events"));
}

TEST(annotation_spans, are_numbered_by_their_start) {
  snapshot_builder builder = trace_of(9);
  add_range(builder, "forward", 5, 7);
  add_range(builder, "forward", 1, 3);
  add_range(builder, "other", 0, 9);
  span_list const cut = find_spans(builder.build(), 0, {kind::annotation, "forward"});
  ASSERT_EQ(cut.spans.size(), 2U);
  EXPECT_EQ(cut.what, "ranges of forward");
  EXPECT_EQ(cut.spans[0].name, "forward 0");
  EXPECT_EQ(cut.spans[0].events, (event_range{1, 2}));
  EXPECT_EQ(cut.spans[1].events, (event_range{5, 6}));
}

TEST(annotation_spans, nested_ones_both_count) {
  snapshot_builder builder = trace_of(6);
  builder.annotation_start("f", origin).annotation_start("f", origin + 2);
  builder.annotation_end("f", origin + 4).annotation_end("f", origin + 6);
  span_list const cut = find_spans(builder.build(), 0, {kind::annotation, "f"});
  ASSERT_EQ(cut.spans.size(), 2U);
  EXPECT_EQ(cut.spans[0].events, (event_range{0, 5}));
  EXPECT_EQ(cut.spans[1].events, (event_range{2, 3}));
}

TEST(annotation_spans, a_device_has_its_own_or_all) {
  snapshot_builder builder = trace_of(6);
  add_range(builder, "f", 0, 2);
  builder.on_device(1).at_time(origin).alloc(0x1000, 512).alloc(0x2000, 512);
  add_range(builder, "f", 0, 1);
  builder.on_device(2).at_time(origin).alloc(0x1000, 512).alloc(0x2000, 512);
  snapshot const input = builder.build();
  EXPECT_EQ(find_spans(input, 0, {kind::annotation, "f"}).spans.size(), 1U);
  EXPECT_EQ(find_spans(input, 1, {kind::annotation, "f"}).spans.size(), 1U);
  EXPECT_EQ(find_spans(input, 2, {kind::annotation, "f"}).spans.size(), 2U);
}

TEST(annotation_spans, a_name_that_is_not_there) {
  snapshot_builder builder = trace_of(4);
  add_range(builder, "forward", 0, 1);
  std::string const said = refusal(builder.build(), {kind::annotation, "Forward"});
  EXPECT_THAT(said, HasSubstr("no annotation Forward"));
  EXPECT_THAT(said, HasSubstr("it has forward (1)"));
}

TEST(time_windows, tile_the_trace) {
  snapshot const input = trace_of(25).build();
  span_list const cut = find_spans(input, 0, {kind::time, {}});
  EXPECT_EQ(cut.by, kind::time);
  // 24 us in ten windows: 3 us each, and the ninth is the last with events.
  ASSERT_EQ(cut.spans.size(), 9U);
  EXPECT_EQ(cut.spans[0].events, (event_range{0, 2}));
  EXPECT_EQ(cut.spans[8].events, (event_range{24, 24}));
  expect_tiling(cut, 25);
}

TEST(time_windows, those_without_events_keep_their_number) {
  snapshot_builder builder;
  builder.at_time(origin).alloc(0x1000, 512).at_time(origin + 35).alloc(0x2000, 512);
  snapshot const input = builder.build();
  std::optional<span_list> const cut = time_windows(input, 0, 10);
  ASSERT_TRUE(cut.has_value());
  ASSERT_EQ(cut->spans.size(), 2U);
  EXPECT_EQ(cut->outside, 2);
  EXPECT_EQ(cut->spans[1].number, 3);
  EXPECT_EQ(cut->spans[1].start_us, origin + 30);
}

TEST(time_windows, events_that_begin_without_a_time_are_in_the_first) {
  snapshot_builder builder;
  builder.at_time(0).alloc(0x1000, 512).at_time(origin).alloc(0x2000, 512).alloc(0x3000, 512);
  snapshot const input = builder.build();
  expect_tiling(find_spans(input, 0, {kind::time, {}}), 3);
}

TEST(time_windows, a_trace_without_times_is_cut_by_events) {
  snapshot const input = trace_of(25).without_times().build();
  EXPECT_FALSE(time_windows(input, 0, 10).has_value());
  span_list const cut = find_spans(input, 0, {kind::time, {}});
  EXPECT_EQ(cut.spans.size(), 10U);
  expect_tiling(cut, 25);
  span_list const few = find_spans(trace_of(3).without_times().build(), 0, {kind::time, {}});
  EXPECT_EQ(few.spans.size(), 3U);
  expect_tiling(few, 3);
}

TEST(find_spans, the_whole_trace) {
  snapshot const input = trace_of(4).build();
  span_list const cut = find_spans(input, 0, {kind::whole, {}});
  ASSERT_EQ(cut.spans.size(), 1U);
  EXPECT_EQ(cut.spans[0].events, (event_range{0, 3}));
  EXPECT_DOUBLE_EQ(cut.spans[0].duration_ms.value_or(0), 0.003);
}

TEST(find_spans, a_device_without_events_has_no_parts) {
  snapshot const input = trace_of(4).build();
  for (kind const by :
       {kind::automatic, kind::steps, kind::annotation, kind::period, kind::time, kind::whole})
    EXPECT_THAT(refusal(input, {by, {}}, 1), HasSubstr("no events"));
}

TEST(find_spans, a_curve_that_only_grows_has_no_repetitions) {
  std::string const said = refusal(trace_of(100).build(), {kind::period, {}});
  EXPECT_THAT(said, HasSubstr("nothing repeats"));
  EXPECT_THAT(said, HasSubstr("--by time"));
}

/// Waves of 20 allocations that are all freed, last first; `steps` of them.
snapshot_builder waves(int steps) {
  snapshot_builder builder;
  builder.at_time(origin);
  for (int step = 0; step < steps; ++step) {
    for (std::uint64_t row = 1; row <= 20; ++row) builder.alloc(0x1000 * row, 4096);
    for (std::uint64_t row = 20; row >= 1; --row) builder.free(0x1000 * row);
  }
  return builder;
}

/// The same, with the optimizer's step in each and the first `marked` of them marked.
snapshot_builder marked_waves(int marked) {
  snapshot_builder builder = waves(6);
  for (int step = 0; step < 6; ++step)
    add_range(builder, "Optimizer.step#SGD.step", step * 60 + 55, step * 60 + 60);
  for (int step = 0; step < marked; ++step)
    add_range(builder, "ProfilerStep#" + std::to_string(step), step * 60, step * 60 + 60);
  return builder;
}

TEST(find_repetitions, prefers_steps_then_the_optimizer_then_the_curve_then_tenths) {
  EXPECT_EQ(find_repetitions(marked_waves(3).build(), 0, {}).by, kind::steps);
  EXPECT_EQ(find_repetitions(marked_waves(2).build(), 0, {}).what,
            "ranges of Optimizer.step#SGD.step")
      << "two steps say nothing of growth";
  EXPECT_EQ(find_repetitions(waves(6).build(), 0, {}).by, kind::period);
  EXPECT_EQ(find_repetitions(trace_of(100).build(), 0, {}).by, kind::time);
}

TEST(find_repetitions, does_as_it_is_told) {
  snapshot const input = waves(6).build();
  EXPECT_EQ(find_repetitions(input, 0, {kind::time, {}}).by, kind::time);
  EXPECT_THROW(static_cast<void>(find_repetitions(input, 0, {kind::steps, {}})), error);
}

TEST(find_repetitions, are_whole_and_touch_each_other) {
  span_list const cut = find_spans(waves(8).build(), 0, {kind::period, {}});
  EXPECT_EQ(cut.by, kind::period);
  ASSERT_GE(cut.spans.size(), 7U);
  for (std::size_t row = 1; row < cut.spans.size(); ++row)
    EXPECT_EQ(cut.spans[row].events.first, cut.spans[row - 1].events.last + 1);
  for (span const& one : cut.spans) EXPECT_TRUE(one.is_complete);
  EXPECT_THAT(cut.spans[3].start_us, ::testing::Eq(std::nullopt));
}

}  // namespace
}  // namespace memreplay::reporting
