// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What `steps` says of three steps worked out by hand.
#include <memreplay/make_report.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/replayed.hpp"
#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using testing::frame_text;
using ::testing::HasSubstr;
using testing::host_plan;
using ::testing::IsEmpty;
using testing::refusal;
using testing::snapshot_builder;
using kind = span_request::kind;

constexpr frame_text keep_line{"keep", "/code/proj/keep.py", 4};
constexpr frame_text model_line{"forward", "/code/proj/model.py", 42};
constexpr frame_text head_line{"forward", "/code/proj/head.py", 7};
constexpr auto used = block_state::active_allocated;
constexpr auto hole = block_state::inactive;

/// Allocated bytes start at 4096 + 8192; after each event
/// step 5: 13312 15360 14336; step 6: 14336 10240 6144; step 7: 6656 7168.
/// Completions follow their requests at once but for the first, which comes in step 6.
snapshot three_steps() {
  snapshot_builder builder;
  stack_id const keep = builder.stack({keep_line});
  stack_id const model = builder.stack({model_line});
  stack_id const head = builder.stack({head_line});
  builder.at_time(1'000'000)
      .alloc(0x1'1000, 1024, model)
      .alloc(0x1'2000, 2048, head)
      .free_requested(0x1'1000)
      .free_completed(0x1'1000)
      .event(action::free_requested, 0x2'0000, 4096, keep)
      .event(action::free_requested, 0x3'0000, 4096, keep)
      .alloc(0x1'3000, 512, model)
      .alloc(0x1'4000, 512, model);
  builder.annotation_start("ProfilerStep#5", 1'000'000);
  builder.annotation_start("forward", 1'000'000).annotation_end("forward", 1'000'001);
  builder.annotation_start("forward", 1'000'001).annotation_end("forward", 1'000'002);
  builder.annotation_start("backward", 1'000'002).annotation_end("backward", 1'000'004);
  builder.annotation_end("ProfilerStep#5", 1'000'003);
  builder.annotation_start("ProfilerStep#6", 1'000'003).annotation_end("ProfilerStep#6", 1'000'006);
  builder.annotation_start("ProfilerStep#7", 1'000'006);
  builder.segment(0, 0x4'0000)
      .block(0, 4096, used, keep)
      .block(0x1000, 0x1'1000, hole)
      .block(0x1'2000, 2048, used, head)
      .block(0x1'2800, 2048, hole)
      .block(0x1'3000, 512, used, model)
      .block(0x1'3200, 0xE00, hole)
      .block(0x1'4000, 512, used, model)
      .block(0x1'4200, 0xBE00, hole)
      .block(0x2'0000, 4096, block_state::active_pending_free, keep)
      .block(0x2'1000, 0xF000, hole)
      .block(0x3'0000, 4096, block_state::active_pending_free, keep)
      .block(0x3'1000, 0xF000, hole);
  return builder.build();
}

struct question {
  std::optional<std::int64_t> step;
  bool all_steps = false;
  std::int64_t top = 0;
  span_request spans{kind::steps, {}};
  replay_plan plan = host_plan();
};

device_steps steps(snapshot const& input, question const& how) {
  report_options options;
  options.top_contributors = how.top;
  replay_result const replayed = testing::replay_by(input, {0}, [&](std::int32_t device) {
    return plan_steps(input, device, how.spans, how.plan);
  });
  steps_report const made =
      make_steps(input, replayed, how.plan, {how.spans, how.step, how.all_steps}, options, "a");
  EXPECT_EQ(made.schema, steps_schema_version);
  return made.devices.at(0);
}

void expect_sums(span_report const& made) {
  EXPECT_EQ(made.start_bytes + made.end_delta, made.end_bytes);
  EXPECT_EQ(made.start_bytes + made.peak_delta, made.absolute_peak);
  if (!made.has_sites) return;
  std::int64_t bytes = made.rest.bytes;
  std::int64_t tensors = made.rest.tensors;
  for (site_row const& row : made.sites) {
    bytes += row.bytes;
    tensors += row.tensors;
  }
  EXPECT_EQ(bytes, made.absolute_peak);
  EXPECT_EQ(tensors, made.live_count);
}

TEST(steps, numbers_of_each_step) {
  device_steps const made = steps(three_steps(), {});
  EXPECT_EQ(made.events, 8);
  ASSERT_EQ(made.spans.size(), 3U);

  span_report const& five = made.spans[0];
  EXPECT_EQ(five.where.number, 5);
  EXPECT_EQ(five.where.events, (event_range{0, 2}));
  EXPECT_EQ(five.alloc_count, 2);
  EXPECT_EQ(five.free_count, 0) << "completions count where there are any";
  EXPECT_EQ(five.throughput_bytes, 3072);
  EXPECT_EQ(five.start_bytes, 12288);
  EXPECT_EQ(five.absolute_peak, 15360);
  EXPECT_EQ(five.peak_delta, 3072);
  EXPECT_EQ(five.peak_event, 1);
  EXPECT_EQ(five.end_delta, 2048);
  EXPECT_EQ(five.carried_in_bytes, 12288);
  EXPECT_EQ(five.live_count, 5);
  EXPECT_EQ(five.unmatched_frees, 0);
  EXPECT_EQ(five.reserved_at_peak_bytes, 0x4'0000);

  // The peak of a step that only frees is before its first event.
  span_report const& six = made.spans[1];
  EXPECT_EQ(six.where.events, (event_range{3, 5}));
  EXPECT_EQ(six.alloc_count, 0);
  EXPECT_EQ(six.free_count, 1);
  EXPECT_EQ(six.peak_delta, 0);
  EXPECT_EQ(six.peak_event, 2);
  EXPECT_EQ(six.end_delta, -8192);
  EXPECT_EQ(six.unmatched_frees, 2);
  EXPECT_EQ(six.unmatched_free_bytes, 8192);

  span_report const& seven = made.spans[2];
  EXPECT_FALSE(seven.where.is_complete);
  EXPECT_EQ(seven.where.events, (event_range{6, 7}));
  EXPECT_EQ(seven.start_bytes, 6144);
  EXPECT_EQ(seven.absolute_peak, 7168);
  EXPECT_EQ(seven.carried_in_bytes, 4096);
}

TEST(steps, the_highest_has_sites) {
  device_steps const made = steps(three_steps(), {});
  EXPECT_TRUE(made.spans[0].has_sites);
  EXPECT_FALSE(made.spans[1].has_sites);
  EXPECT_FALSE(made.spans[2].has_sites);
  ASSERT_EQ(made.spans[0].sites.size(), 3U);
  EXPECT_EQ(made.spans[0].sites[0].site, "keep@keep.py:4");
  EXPECT_EQ(made.spans[0].sites[0].bytes, 12288);
  EXPECT_EQ(made.spans[0].sites[1].site, "forward@head.py:7");
}

TEST(steps, one_step_or_all) {
  device_steps const one = steps(three_steps(), {7});
  EXPECT_FALSE(one.spans[0].has_sites);
  EXPECT_TRUE(one.spans[2].has_sites);
  EXPECT_EQ(one.spans[2].live_count, 4);
  for (std::int64_t const top : {0, 1, 2}) {
    device_steps const all = steps(three_steps(), {{}, true, top});
    for (span_report const& row : all.spans) {
      EXPECT_TRUE(row.has_sites);
      expect_sums(row);
    }
  }
}

TEST(steps, a_step_that_is_not_there) {
  EXPECT_THAT(refusal([] { static_cast<void>(steps(three_steps(), {8})); }),
              HasSubstr("no step 8 among its profiler steps; it has 3, 5 to 7"));
}

TEST(steps, annotations_of_each_step) {
  device_steps const made = steps(three_steps(), {});
  ASSERT_EQ(made.spans[0].annotations.size(), 2U);
  EXPECT_EQ(made.spans[0].annotations[0].name, "forward");
  EXPECT_EQ(made.spans[0].annotations[0].count, 2);
  EXPECT_EQ(made.spans[0].annotations[1].name, "backward");
  EXPECT_THAT(made.spans[1].annotations, IsEmpty());
}

TEST(steps, by_other_cuts) {
  device_steps const whole = steps(three_steps(), {{}, false, 0, {kind::whole, {}}});
  ASSERT_EQ(whole.spans.size(), 1U);
  EXPECT_EQ(whole.spans[0].absolute_peak, 15360);
  EXPECT_EQ(whole.spans[0].alloc_count, 4);
  EXPECT_EQ(whole.spans[0].unmatched_free_bytes, 8192);
  device_steps const forward = steps(three_steps(), {{}, false, 0, {kind::annotation, "forward"}});
  ASSERT_EQ(forward.spans.size(), 2U);
  EXPECT_EQ(forward.spans[1].throughput_bytes, 2048);
}

TEST(steps, other_measures) {
  replay_plan plan = host_plan();
  plan.what = measure::active;
  device_steps const active = steps(three_steps(), {{}, true, 0, {kind::steps, {}}, plan});
  EXPECT_EQ(active.spans[0].end_delta, 3072) << "the first free completes in the next step";
  EXPECT_EQ(active.spans[1].end_delta, -1024) << "the old ones never complete";
  for (span_report const& row : active.spans) expect_sums(row);
  plan.what = measure::allocated;
  plan.older = carried_in::ignore;
  device_steps const own = steps(three_steps(), {{}, true, 0, {kind::steps, {}}, plan});
  EXPECT_EQ(own.spans[0].start_bytes, 0);
  EXPECT_EQ(own.spans[0].absolute_peak, 3072);
  EXPECT_EQ(own.spans[1].unmatched_frees, 0);
  plan.older = carried_in::include;
  plan.what = measure::reserved;
  device_steps const reserved = steps(three_steps(), {{}, true, 0, {kind::steps, {}}, plan});
  for (span_report const& row : reserved.spans) {
    EXPECT_EQ(row.absolute_peak, 0x4'0000);
    expect_sums(row);
  }
  for (span_report const& row : own.spans) expect_sums(row);
}

}  // namespace
}  // namespace memreplay
