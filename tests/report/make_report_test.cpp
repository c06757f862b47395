// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report model that a snapshot and its replay give.
#include <memreplay/make_report.hpp>

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <memreplay/write_report.hpp>

#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using testing::frame_text;
using testing::snapshot_builder;

constexpr frame_text model_line{"forward", "/code/proj/model.py", 42};
constexpr frame_text head_line{"forward", "/code/proj/head.py", 7};
constexpr frame_text loss_line{"loss", "/code/proj/loss.py", 3};

report_options options_of_project() {
  report_options options;
  options.site.project_root = "/code/proj";
  return options;
}

device_replay replay_of(std::int32_t device, std::int64_t events) {
  device_replay made;
  made.device = device;
  made.events = events;
  return made;
}

replay_result result_of(device_replay device) {
  replay_result made;
  made.backend = "host";
  made.devices.push_back(std::move(device));
  return made;
}

peak peak_of(event_index event, std::vector<stack_total> holders) {
  peak made;
  made.event = event;
  made.bytes =
      std::accumulate(holders.begin(), holders.end(), std::int64_t{0},
                      [](std::int64_t sum, stack_total const& row) { return sum + row.bytes; });
  made.allocated_bytes = made.active_bytes = made.reserved_bytes = made.bytes;
  made.holders = std::move(holders);
  return made;
}

void add_peak(device_replay& device, peak found) {
  device.measured.peak_bytes = std::max(device.measured.peak_bytes, found.bytes);
  device.peaks.push_back(std::move(found));
}

finding const* find_finding(device_report const& device, std::string const& kind) {
  for (finding const& row : device.findings) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

/// Three stacks, two of which have one site, and a peak at event 2.
class make_report_of_one_peak : public ::testing::Test {
 protected:
  make_report_of_one_peak() {
    snapshot_builder builder;
    stack_id const one = builder.stack({model_line, head_line});
    stack_id const two = builder.stack({model_line, loss_line});
    stack_id const three = builder.stack({loss_line});
    builder.at_time(1'000'000)
        .alloc(0x1000, 300, one)
        .alloc(0x2000, 500, two)
        .alloc(0x3000, 150, three);
    input = builder.build();
    device_replay device = replay_of(0, 3);
    add_peak(
        device,
        peak_of(2, {{two, 500, 1}, {one, 300, 2}, {three, 150, 1}, {before_trace_stack, 50, 4}}));
    device.peaks.front().carried_in_bytes = 50;
    replayed = result_of(std::move(device));
  }
  report make(std::int64_t top) const {
    report_options options = options_of_project();
    options.top_contributors = top;
    return make_report(input, replayed, {}, options, "run.pickle");
  }

  snapshot input;
  replay_result replayed;
};

TEST_F(make_report_of_one_peak, rows_are_by_site_and_sum_to_the_peak) {
  report const made = make(0);
  ASSERT_EQ(made.devices.size(), 1U);
  ASSERT_EQ(made.devices[0].peaks.size(), 1U);
  peak_report const& found = made.devices[0].peaks[0];
  ASSERT_EQ(found.sites.size(), 3U);
  EXPECT_EQ(found.sites[0].site, "model.py:42");
  EXPECT_EQ(found.sites[0].bytes, 800);
  EXPECT_EQ(found.sites[0].tensors, 3);
  EXPECT_EQ(found.sites[0].share, 80.0);
  EXPECT_EQ(found.sites[1].site, "loss.py:3");
  EXPECT_EQ(found.sites[2].site, "before the trace");
  EXPECT_EQ(found.rest.sites, 0);
  EXPECT_EQ(found.trace_bytes, 950);
  EXPECT_EQ(found.carried_in_bytes, 50);
}

TEST_F(make_report_of_one_peak, chain_is_that_of_the_rows_largest_stack) {
  EXPECT_EQ(make(0).devices[0].peaks[0].sites[0].chain, "forward:42 <- loss:3");
}

TEST_F(make_report_of_one_peak, rest_row_completes_the_shares) {
  peak_report const found = make(1).devices[0].peaks[0];
  ASSERT_EQ(found.sites.size(), 1U);
  EXPECT_EQ(found.rest.sites, 2);
  EXPECT_EQ(found.rest.bytes, 200);
  EXPECT_EQ(found.rest.tensors, 5);
  EXPECT_DOUBLE_EQ(found.sites[0].share + found.rest.share, 100.0);
}

TEST_F(make_report_of_one_peak, time_is_told_as_recorded_and_since_the_first_event) {
  peak_report const found = make(0).devices[0].peaks[0];
  EXPECT_EQ(found.time_us, 1'000'002);
  EXPECT_DOUBLE_EQ(*found.seconds, 2e-6);
}

TEST(make_report, file_without_times_has_no_seconds_instead_of_zeros) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({model_line});
  builder.without_times().annotation_start("ProfilerStep#1", 0).alloc(0x1000, 100, stack);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 1);
  add_peak(device, peak_of(0, {{stack, 100, 1}}));
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_FALSE(made.devices[0].peaks[0].seconds);
  EXPECT_FALSE(made.devices[0].span_seconds);
  EXPECT_EQ(made.devices[0].peaks[0].within, "");
}

TEST(make_report, first_event_with_time_zero_does_not_stretch_the_span) {
  snapshot_builder builder;
  builder.at_time(0)
      .alloc(0x1000, 100)
      .at_time(5'000'000)
      .alloc(0x2000, 100)
      .at_time(6'000'000)
      .alloc(0x3000, 100);
  report const made =
      make_report(builder.build(), result_of(replay_of(0, 3)), {}, options_of_project(), "f");
  EXPECT_DOUBLE_EQ(*made.devices[0].span_seconds, 1.0);
}

TEST(make_report, only_the_largest_peak_is_global) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({model_line});
  builder.alloc(0x1000, 100, stack).alloc(0x2000, 50, stack);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 2);
  add_peak(device, peak_of(1, {{stack, 150, 2}}));
  add_peak(device, peak_of(0, {{stack, 100, 1}}));
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_TRUE(made.devices[0].peaks[0].is_global);
  EXPECT_FALSE(made.devices[0].peaks[1].is_global);
}

TEST(make_report, equal_rows_are_ordered_by_site) {
  snapshot_builder builder;
  stack_id const b = builder.stack({{"f", "/code/proj/b.py", 1}});
  stack_id const a = builder.stack({{"f", "/code/proj/a.py", 1}});
  builder.alloc(0x1000, 100, b).alloc(0x2000, 100, a);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 2);
  add_peak(device, peak_of(1, {{b, 100, 1}, {a, 100, 1}}));
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_EQ(made.devices[0].peaks[0].sites[0].site, "a.py:1");
  EXPECT_EQ(made.devices[0].peaks[0].sites[1].site, "b.py:1");
}

TEST(make_report, rows_without_frames_have_no_path) {
  snapshot_builder builder;
  stack_id const empty = builder.stack({});
  builder.alloc(0x1000, 60, empty).alloc(0x2000, 40);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 2);
  add_peak(device, peak_of(1, {{empty, 60, 1}, {no_stack, 40, 1}}));
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  ASSERT_EQ(made.devices[0].peaks[0].sites.size(), 1U);
  site_row const& row = made.devices[0].peaks[0].sites[0];
  EXPECT_EQ(row.site, "<no frames>");
  EXPECT_EQ(row.bytes, 100);
  EXPECT_EQ(row.file, "");
  EXPECT_EQ(row.link, "");
  EXPECT_EQ(made.rule_note, "");
}

TEST(make_report, trace_of_zero_sizes_has_shares_of_zero) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({model_line});
  builder.alloc(0x1000, 0, stack);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 1);
  add_peak(device, peak_of(0, {{stack, 0, 1}}));
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_EQ(made.devices[0].peaks[0].sites[0].share, 0.0);
  EXPECT_EQ(made.devices[0].peaks[0].fragmentation, 0.0);
}

TEST(make_report, pending_memory_is_told_apart_from_allocated) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({model_line});
  builder.alloc(0x1000, 600, stack).free_requested(0x1000).alloc(0x2000, 400, stack);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 3);
  peak found = peak_of(2, {{stack, 1000, 2}});
  found.allocated_bytes = 400;
  found.reserved_bytes = 2000;
  add_peak(device, found);
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  peak_report const& row = made.devices[0].peaks[0];
  EXPECT_EQ(row.pending_bytes, 600);
  EXPECT_EQ(row.inactive_bytes, 1000);
  EXPECT_DOUBLE_EQ(row.fragmentation, 50.0);
  ASSERT_NE(find_finding(made.devices[0], "pending_free"), nullptr);
  EXPECT_EQ(find_finding(made.devices[0], "pending_free")->bytes, 600);
}

TEST(make_report, peak_falls_within_its_step_and_annotation) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({model_line});
  builder.at_time(100).alloc(0x1000, 100, stack);
  builder.annotation_start("ProfilerStep#3", 50).annotation_start("Optimizer.step#AdamW.step", 90);
  builder.annotation_end("Optimizer.step#AdamW.step", 110).annotation_end("ProfilerStep#3", 200);
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 1);
  add_peak(device, peak_of(0, {{stack, 100, 1}}));
  report const made =
      make_report(input, result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_EQ(made.devices[0].peaks[0].within, "ProfilerStep#3 > Optimizer.step#AdamW.step");
}

TEST(make_report, failed_requests_are_listed_with_what_the_driver_had) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({model_line});
  builder.at_time(10).alloc(0x1000, 100, stack).oom(4096, 512, stack).oom(8192, 256);
  report const made =
      make_report(builder.build(), result_of(replay_of(0, 3)), {}, options_of_project(), "f");
  device_report const& device = made.devices[0];
  EXPECT_EQ(device.oom_count, 2);
  ASSERT_EQ(device.ooms.size(), 2U);
  EXPECT_EQ(device.ooms[0].event, 1);
  EXPECT_EQ(device.ooms[0].site, "model.py:42");
  EXPECT_EQ(device.ooms[1].requested_bytes, 8192);
  EXPECT_EQ(device.ooms[1].device_free_bytes, 256);
  EXPECT_EQ(device.ooms[1].site, "");
  ASSERT_FALSE(device.findings.empty());
  EXPECT_EQ(device.findings.front().kind, "oom");
}

TEST(make_report, segments_are_those_of_the_device) {
  snapshot_builder builder;
  builder.on_device(0).segment(0x1000, 10'000).block(0x1000, 6'000, block_state::active_allocated);
  builder.block(0x2770, 1'000, block_state::active_pending_free)
      .block(0x2b58, 3'000, block_state::inactive);
  builder.on_device(1)
      .segment(0x1000, 70'000, {0, 5})
      .block(0x1000, 70'000, block_state::active_allocated);
  report const made =
      make_report(builder.build(), result_of(replay_of(0, 0)), {}, options_of_project(), "f");
  segment_summary const& sum = made.devices[0].segments;
  EXPECT_EQ(sum.count, 1);
  EXPECT_EQ(sum.total_bytes, 10'000);
  EXPECT_EQ(sum.allocated_bytes, 6'000);
  EXPECT_EQ(sum.active_bytes, 7'000);
  EXPECT_EQ(sum.pending_bytes, 1'000);
  EXPECT_EQ(sum.inactive_bytes, 3'000);
  EXPECT_EQ(sum.largest_inactive_bytes, 3'000);
  EXPECT_EQ(sum.private_pool_bytes, 0);
  EXPECT_DOUBLE_EQ(sum.fragmentation,
                   30.0);  // of active: memory that awaits a stream is not fragmentation
  EXPECT_EQ(made.devices_in_file, (std::vector<std::int32_t>{0, 1}));
}

TEST(make_report, damaged_sizes_do_not_overflow) {
  snapshot_builder builder;
  builder.segment(0x1000, ~std::uint64_t{0}).segment(0x2000, ~std::uint64_t{0});
  report const made =
      make_report(builder.build(), result_of(replay_of(0, 0)), {}, options_of_project(), "f");
  EXPECT_EQ(made.devices[0].segments.total_bytes, std::numeric_limits<std::int64_t>::max());
}

TEST(make_report, exactness_and_defects_are_passed_on) {
  snapshot_builder builder;
  builder.alloc(0x1000, 100).file_defect({"unknown_keys", severity::info, 3, 0, "m", ""});
  device_replay device = replay_of(0, 1);
  device.measured_exactness = {false, 90, 110, "block sizes estimated"};
  device.defects.push_back({"double_allocs", severity::notice, 1, 0, "m", ""});
  report const made =
      make_report(builder.build(), result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_FALSE(made.devices[0].measured_exactness.exact);
  EXPECT_EQ(made.devices[0].measured_exactness.reason, "block sizes estimated");
  EXPECT_EQ(made.devices[0].defects.front().kind, "double_allocs");
  EXPECT_EQ(made.defects.front().kind, "unknown_keys");
}

TEST(make_info, holds_top_allocators_streams_and_pools) {
  snapshot_builder builder;
  stack_id const one = builder.stack({model_line});
  stack_id const two = builder.stack({loss_line});
  builder.alloc(0x1000, 100, one).on_stream(77).alloc(0x2000, 900, two).free(0x2000).on_stream(0);
  builder.segment(0x1000, 5'000).segment(0x9000, 8'000, {0, 3});
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 4);
  device.throughput = {{two, 900, 1}, {one, 100, 1}};
  report const made = make_info(input, result_of(std::move(device)), {}, options_of_project(), "f");
  device_report const& row = made.devices[0];
  EXPECT_EQ(made.schema, "memreplay.info/1");
  EXPECT_EQ(made.rule, site_rule::user);
  ASSERT_EQ(row.top_allocators.size(), 2U);
  EXPECT_EQ(row.top_allocators[0].site, "loss@loss.py:3");
  EXPECT_DOUBLE_EQ(row.top_allocators[0].share, 90.0);
  ASSERT_EQ(row.streams.size(), 2U);
  EXPECT_EQ(row.streams[0].stream, 77U);
  EXPECT_EQ(row.streams[0].events, 3);
  EXPECT_EQ(row.streams[0].alloc_bytes, 900);
  ASSERT_EQ(row.pools.size(), 2U);
  EXPECT_EQ(row.pools[0].second, 3);
  EXPECT_EQ(row.pools[0].bytes, 8'000);
}

TEST(make_info, reserved_at_the_peak_follows_the_segment_events) {
  snapshot_builder builder;
  builder.segment_alloc(0x1000, 500).alloc(0x1000, 400).free(0x1000).segment_free(0x1000, 500);
  device_replay device = replay_of(0, 5);
  device.measured.peak_event = 1;
  device.reserved.start_bytes = 1'000;
  report const made =
      make_info(builder.build(), result_of(std::move(device)), {}, options_of_project(), "f");
  EXPECT_EQ(made.devices[0].reserved_at_peak_bytes, 1'500);
}

TEST(make_info, baseline_is_a_sum_in_one_size_basis) {
  snapshot_builder builder;
  builder.alloc(0x1000, 100)
      .segment(0x1000, 1'024)
      .block(0x1000, 512, block_state::active_allocated);
  device_replay device = replay_of(0, 1);
  device.active = {250, 350, 0, 300};
  device.counts.unmatched_free_bytes = 50;
  report const made =
      make_info(builder.build(), result_of(std::move(device)), {}, options_of_project(), "f");
  baseline_summary const& row = *made.devices[0].baseline;
  EXPECT_EQ(row.start_bytes, row.end_active_bytes - row.still_live_bytes + row.freed_bytes);
  EXPECT_EQ(row.still_live_bytes, 100);
}

TEST(make_info, lists_traces_of_devices_that_are_not_shown) {
  snapshot_builder builder;
  builder.on_device(0).alloc(0x1000, 1).on_device(2).alloc(0x1000, 2).free(0x1000);
  report const made =
      make_info(builder.build(), result_of(replay_of(2, 3)), {}, options_of_project(), "f");
  ASSERT_EQ(made.traces.size(), 2U);
  EXPECT_EQ(made.traces[0].device, 0);
  EXPECT_EQ(made.traces[1].device, 2);
  EXPECT_EQ(made.traces[1].events, 3);
  ASSERT_EQ(made.traces[1].actions.size(), 3U);
  EXPECT_EQ(made.traces[1].actions[0].action, "alloc");
}

TEST(devices, busiest_is_the_trace_with_most_events_and_not_the_first) {
  snapshot_builder builder;
  builder.on_device(1).alloc(0x1000, 1).on_device(3).alloc(0x1000, 2).free(0x1000);
  snapshot const input = builder.build();
  EXPECT_EQ(busiest_device(input), 3);
  EXPECT_EQ(devices_in(input), (std::vector<std::int32_t>{1, 3}));
}

TEST(devices, without_events_the_segments_decide) {
  snapshot_builder builder;
  builder.on_device(0).segment(0x1000, 10).on_device(2).segment(0x1000, 20);
  snapshot const input = builder.build();
  EXPECT_EQ(busiest_device(input), 2);
  EXPECT_EQ(devices_in(input), (std::vector<std::int32_t>{0, 2}));
}

TEST(devices, empty_file_has_device_zero) {
  snapshot const input = snapshot_builder().build();
  EXPECT_EQ(busiest_device(input), 0);
  EXPECT_EQ(devices_in(input), (std::vector<std::int32_t>{0}));
}

/// A trace of `events` entries that starts with `first`, and its replay.
report report_of_ring(std::int64_t events, action first, std::int64_t unmatched,
                      std::string const& key = {}, std::string const& value = {}) {
  snapshot_builder builder;
  builder.event(first, 0x1000, 8);
  for (std::int64_t count = 1; count < events; ++count) builder.event(action::alloc, 0x2000, 8);
  if (!key.empty()) builder.setting(key, value);
  device_replay device = replay_of(0, events);
  device.counts.unmatched_frees = unmatched;
  device.action_counts[static_cast<int>(action::free_requested)] = 1;
  return make_report(builder.build(), result_of(std::move(device)), {}, options_of_project(), "f");
}

bool is_truncated(report const& made) { return made.devices[0].ring_truncated; }

TEST(ring_buffer, file_that_says_so_is_believed) {
  EXPECT_TRUE(is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed", "true")));
  EXPECT_TRUE(is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed", "True")));
  EXPECT_TRUE(
      is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed", "[true, false]")));
  EXPECT_TRUE(is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed.0", "1")));
  EXPECT_FALSE(
      is_truncated(report_of_ring(10'000, action::alloc, 9, "trace_alloc_overflowed", "false")));
  EXPECT_FALSE(
      is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed", "[false, true]")));
  EXPECT_FALSE(is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed", "[]")));
  EXPECT_FALSE(
      is_truncated(report_of_ring(5, action::alloc, 0, "trace_alloc_overflowed", "nonsense")));
}

TEST(ring_buffer, full_trace_is_truncated) {
  report const full = report_of_ring(50, action::alloc, 0, "trace_alloc_max_entries", "50");
  EXPECT_TRUE(is_truncated(full));
  EXPECT_NE(full.devices[0].ring_reason.find("50"), std::string::npos);
  EXPECT_FALSE(is_truncated(report_of_ring(49, action::alloc, 3, "trace_alloc_max_entries", "50")));
}

TEST(ring_buffer, round_count_with_unmatched_frees_is_inferred) {
  EXPECT_TRUE(is_truncated(report_of_ring(10'000, action::alloc, 3)));
  EXPECT_TRUE(is_truncated(report_of_ring(16'384, action::alloc, 3)));
  EXPECT_FALSE(is_truncated(report_of_ring(10'000, action::alloc, 0)));
  EXPECT_FALSE(is_truncated(report_of_ring(10'001, action::alloc, 3)));
  EXPECT_FALSE(is_truncated(report_of_ring(100, action::alloc, 3)));
}

TEST(ring_buffer, trace_that_starts_in_the_middle_of_a_free_is_inferred) {
  EXPECT_TRUE(is_truncated(report_of_ring(1'237, action::free_completed, 1)));
  EXPECT_FALSE(is_truncated(report_of_ring(1'237, action::free_requested, 1)));
}

TEST(redaction, no_output_names_a_person) {
  snapshot_builder builder;
  stack_id const own = builder.stack({{"forward", "/home/alice/proj/model.py", 42}});
  stack_id const foreign = builder.stack({{"load", "/nfs/home/alice/tools/load.py", 1}});
  builder.at_time(10).alloc(0x1000, 600, own).alloc(0x2000, 400, foreign).oom(64, 1, foreign);
  builder.annotation_start("load /home/alice/data.bin", 1)
      .annotation_end("load /home/alice/data.bin", 99);
  builder.setting("PYTORCH_CUDA_ALLOC_CONF", "\"/Users/alice/conf\"");
  builder.file_defect({"k", severity::info, 1, 0, "in /home/alice/x", "see C:\\Users\\alice\\x"});
  snapshot const input = builder.build();
  device_replay device = replay_of(0, 3);
  add_peak(device, peak_of(1, {{own, 600, 1}, {foreign, 400, 1}}));
  device.throughput = {{own, 600, 1}, {foreign, 400, 1}};
  replay_result const replayed = result_of(std::move(device));
  report_options options;
  options.site.project_root = "/home/alice/proj";
  options.site.redact = true;
  std::string const file = "/home/alice/runs/snap.pickle";
  report const peaks = make_report(input, replayed, {}, options, file);
  report const contents = make_info(input, replayed, {}, options, file);
  for (std::string const& text : {write_markdown(peaks), write_json(peaks),
                                  write_info_text(contents), write_info_json(contents)}) {
    EXPECT_EQ(text.find("alice"), std::string::npos) << text;
  }
  EXPECT_EQ(peaks.file, "runs/snap.pickle");
}

}  // namespace
}  // namespace memreplay
