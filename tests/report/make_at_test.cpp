// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What `at` says of a trace of six events, worked out by hand: the curves, the live set, its sites.
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
using kind = moment_request::kind;

constexpr frame_text keep_line{"keep", "/code/proj/keep.py", 4};
constexpr frame_text model_line{"forward", "/code/proj/model.py", 42};
constexpr frame_text head_line{"forward", "/code/proj/head.py", 7};
constexpr frame_text loss_line{"loss", "/home/ada/loss.py", 3};
constexpr auto used = block_state::active_allocated;
constexpr auto hole = block_state::inactive;

/// 4096 bytes are older than the trace. Allocated bytes: 4096, then after each event
/// 5120 7168 7680 6656 6656 8192; 1024 of them pend after event 3.
snapshot six_events(std::uint64_t last_size = 1536) {
  snapshot_builder builder;
  stack_id const keep = builder.stack({keep_line});
  stack_id const model = builder.stack({model_line});
  stack_id const head = builder.stack({head_line});
  stack_id const loss = builder.stack({loss_line});
  builder.at_time(1'000'000)
      .alloc(0x1000, 1024, model)
      .alloc(0x2000, 2048, head)
      .alloc(0x3000, 512, head)
      .free_requested(0x1000)
      .free_completed(0x1000)
      .alloc(0x4000, last_size, loss);
  builder.annotation_start("ProfilerStep#7", 1'000'001).annotation_end("ProfilerStep#7", 1'000'004);
  builder.segment(0, 0x10000)
      .block(0, 4096, used, keep)
      .block(0x1000, 4096, hole)
      .block(0x2000, 2048, used, head)
      .block(0x2800, 2048, hole)
      .block(0x3000, 512, used, head)
      .block(0x3200, 3584, hole)
      .block(0x4000, last_size, used, loss)
      .block(0x4000 + last_size, 0xC000 - last_size, hole);
  return builder.build();
}

struct question {
  moment_request asked;
  std::int64_t top = 0;
  replay_plan plan = host_plan();
  bool redact = false;
};

moment_report at(snapshot const& input, question const& how) {
  report_options options;
  options.top_contributors = how.top;
  options.site.redact = how.redact;
  replay_result const replayed = testing::replay_by(
      input, {0}, [&](std::int32_t device) { return plan_at(input, device, how.asked, how.plan); });
  at_report const made = make_at(input, replayed, how.plan, how.asked, options, "run.pickle");
  EXPECT_EQ(made.schema, at_schema_version);
  EXPECT_EQ(made.file, "run.pickle");
  return made.devices.at(0);
}

moment_request event(std::int64_t number) { return {kind::event, 0.0, number}; }
moment_request rank(std::int64_t number) { return {kind::peak, 0.0, number}; }

void expect_sums(moment_report const& made) {
  EXPECT_EQ(made.carried_in_bytes + made.trace_bytes, made.bytes);
  EXPECT_EQ(made.start_bytes + made.delta_bytes, made.bytes);
  EXPECT_EQ(made.allocated_bytes + made.pending_bytes, made.active_bytes);
  EXPECT_EQ(made.active_bytes + made.inactive_bytes, made.reserved_bytes);
  std::int64_t bytes = made.rest.bytes;
  std::int64_t tensors = made.rest.tensors;
  double share = made.rest.share;
  for (site_row const& row : made.sites) {
    bytes += row.bytes;
    tensors += row.tensors;
    share += row.share;
  }
  EXPECT_EQ(bytes, made.bytes);
  EXPECT_EQ(tensors, made.live_count);
  EXPECT_NEAR(share, 100.0, 1e-9);
}

TEST(at, in_the_middle) {
  moment_report const made = at(six_events(), {event(3)});
  EXPECT_EQ(made.event, 3);
  EXPECT_EQ(made.events, 6);
  EXPECT_EQ(made.time_us, 1'000'003);
  EXPECT_DOUBLE_EQ(made.seconds.value_or(-1), 3e-6);
  EXPECT_DOUBLE_EQ(made.span_seconds.value_or(-1), 5e-6);
  EXPECT_EQ(made.within, "ProfilerStep#7");
  EXPECT_EQ(made.bytes, 6656);
  EXPECT_EQ(made.start_bytes, 4096);
  EXPECT_EQ(made.delta_bytes, 2560);
  EXPECT_EQ(made.carried_in_bytes, 4096);
  EXPECT_EQ(made.trace_bytes, 2560);
  EXPECT_EQ(made.active_bytes, 7680);
  EXPECT_EQ(made.pending_bytes, 1024);
  EXPECT_EQ(made.reserved_bytes, 0x10000);
  EXPECT_EQ(made.inactive_bytes, 0x10000 - 7680);
  EXPECT_DOUBLE_EQ(made.fragmentation, 100.0 * (0x10000 - 7680) / 0x10000);
  EXPECT_EQ(made.alloc_count, 3);
  EXPECT_EQ(made.free_count, 0) << "requested, but not completed";
  EXPECT_EQ(made.live_count, 3);
  ASSERT_EQ(made.sites.size(), 2U);
  EXPECT_EQ(made.sites[0].site, "keep@keep.py:4");
  EXPECT_EQ(made.sites[0].bytes, 4096);
  EXPECT_EQ(made.sites[1].site, "forward@head.py:7");
  EXPECT_EQ(made.sites[1].tensors, 2);
}

TEST(at, before_the_first_event) {
  moment_report const made = at(six_events(), {event(-1)});
  EXPECT_EQ(made.bytes, 4096);
  EXPECT_EQ(made.delta_bytes, 0);
  EXPECT_EQ(made.trace_bytes, 0);
  EXPECT_EQ(made.alloc_count, 0);
  EXPECT_FALSE(made.time_us.has_value());
  EXPECT_EQ(made.within, "");
  EXPECT_EQ(made.live_count, 1);
}

TEST(at, time_end_and_peaks_are_the_same_moments) {
  moment_report const end = at(six_events(), {{}});
  EXPECT_EQ(end.event, 5);
  EXPECT_EQ(end.bytes, 8192);
  EXPECT_EQ(end.free_count, 1);
  moment_report const peak = at(six_events(), {rank(1)});
  EXPECT_EQ(peak.event, 5);
  EXPECT_EQ(peak.bytes, 8192);
  EXPECT_EQ(peak.active_bytes, end.active_bytes);
  EXPECT_EQ(peak.reserved_bytes, end.reserved_bytes);
  EXPECT_EQ(peak.carried_in_bytes, end.carried_in_bytes);
  EXPECT_EQ(peak.live_count, end.live_count);
  moment_report const second = at(six_events(), {rank(2)});
  EXPECT_EQ(second.event, 2);
  EXPECT_EQ(second.bytes, 7680);
  EXPECT_EQ(at(six_events(), {{kind::time, 3e-6, 0}}).event, 3);
}

TEST(at, a_peak_that_the_curve_does_not_have) {
  EXPECT_THAT(refusal([] { static_cast<void>(at(six_events(), {rank(3)})); }),
              HasSubstr("has no peak 3; it has 2 distinct peaks"));
}

TEST(at, all_moments_add_up) {
  snapshot const input = six_events();
  for (std::int64_t number = -1; number < 6; ++number) {
    for (std::int64_t const top : {0, 1, 2, 9}) expect_sums(at(input, {event(number), top}));
  }
  expect_sums(at(input, {rank(1), 1}));
  expect_sums(at(input, {rank(2), 1}));
}

TEST(at, a_short_table_has_a_rest) {
  moment_report const made = at(six_events(), {event(2), 1});
  ASSERT_EQ(made.sites.size(), 1U);
  EXPECT_EQ(made.rest.sites, 2);
  EXPECT_EQ(made.rest.bytes, 3584);
  EXPECT_EQ(made.rest.tensors, 3);
}

TEST(at, other_measures) {
  replay_plan plan = host_plan();
  plan.what = measure::active;
  moment_report const active = at(six_events(), {event(3), 0, plan});
  EXPECT_EQ(active.bytes, 7680);
  EXPECT_EQ(active.live_count, 4);
  expect_sums(active);
  plan.what = measure::allocated;
  plan.older = carried_in::ignore;
  moment_report const own = at(six_events(), {event(3), 0, plan});
  EXPECT_EQ(own.bytes, 2560);
  EXPECT_EQ(own.carried_in_bytes, 0);
  plan.older = carried_in::include;
  plan.what = measure::reserved;
  moment_report const reserved = at(six_events(), {event(3), 0, plan});
  EXPECT_EQ(reserved.bytes, 0x10000);
  EXPECT_THAT(reserved.sites, IsEmpty());
  EXPECT_EQ(reserved.rest.bytes, 0x10000);
  EXPECT_EQ(reserved.rest.sites, 0);
}

TEST(at, homes_are_hidden_when_asked) {
  moment_report const made = at(six_events(), {{}, 0, host_plan(), true});
  for (site_row const& row : made.sites) {
    EXPECT_EQ((row.site + row.label + row.file + row.chain + row.link).find("ada"),
              std::string::npos);
  }
}

TEST(at, a_file_without_a_trace_has_an_end) {
  snapshot_builder builder;
  builder.segment(0, 8192).block(0, 4096, used, builder.stack({keep_line})).block(4096, 4096, hole);
  moment_report const made = at(builder.build(), {{}});
  EXPECT_EQ(made.event, before_trace);
  EXPECT_EQ(made.bytes, 4096);
  EXPECT_EQ(made.carried_in_bytes, 4096);
  EXPECT_EQ(made.reserved_bytes, 8192);
  ASSERT_EQ(made.sites.size(), 1U);
}

at_comparison compare_at(snapshot const& a, snapshot const& b, moment_request const& asked,
                         std::int64_t top = 0) {
  report_options options;
  options.top_contributors = top;
  auto const side = [&](snapshot const& input) {
    return testing::replay_by(input, {0}, [&](std::int32_t device) {
      return plan_at(input, device, asked, host_plan());
    });
  };
  replay_result const replayed_a = side(a);
  replay_result const replayed_b = side(b);
  return make_at_comparison({a, replayed_a, "a.pickle"}, {b, replayed_b, "b.pickle"}, host_plan(),
                            asked, site_match::site, options);
}

TEST(at_comparison, differs_where_the_snapshots_do) {
  for (std::int64_t const top : {0, 1}) {
    at_comparison const made = compare_at(six_events(), six_events(3584), {}, top);
    EXPECT_EQ(made.a.file, "a.pickle");
    EXPECT_EQ(made.b.file, "b.pickle");
    EXPECT_THAT(made.notes, IsEmpty());
    moment_comparison const& device = made.devices.at(0);
    EXPECT_EQ(device.a.bytes, 8192);
    EXPECT_EQ(device.b.bytes, 10240);
    EXPECT_EQ(device.sites.delta_bytes, 2048);
    EXPECT_EQ(device.sites.total_b, 10240);
    EXPECT_EQ(device.sites.carried_in_a, 4096);
    EXPECT_EQ(device.sites.rows.at(0).site, "loss@loss.py:3");
    EXPECT_EQ(device.sites.rows.at(0).delta_bytes, 2048);
    EXPECT_EQ(device.sites.rows.at(0).from_count_bytes, 0);
    std::int64_t delta = device.sites.rest_delta;
    for (site_delta_row const& row : device.sites.rows) delta += row.delta_bytes;
    EXPECT_EQ(delta, 2048);
  }
}

TEST(at_comparison, peaks_are_each_sides_own) {
  at_comparison const made = compare_at(six_events(), six_events(512), rank(1));
  EXPECT_EQ(made.devices.at(0).a.event, 5);
  EXPECT_EQ(made.devices.at(0).b.event, 2);
  EXPECT_EQ(made.devices.at(0).sites.delta_bytes, 7680 - 8192);
}

}  // namespace
}  // namespace memreplay
