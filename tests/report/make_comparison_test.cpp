// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Two runs by hand, B with a larger batch and a cache of its own: what `compare` finds.
#include <memreplay/make_report.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/replayed.hpp"
#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::host_plan;
using ::testing::IsEmpty;
using testing::refusal;
using testing::snapshot_builder;
using kind = span_request::kind;

constexpr std::int64_t origin = 1'000'000;

/// Two steps of four events: `blocks` blocks of `bytes` in the model, one of the head. The second
/// step's head takes twice as much.
struct run_of {
  std::uint64_t bytes = 1024;
  std::uint64_t line = 42;
  std::int64_t first_step = 0;
  bool marks_steps = true;
  bool has_cache = false;
  char const* file = "/code/proj/model.py";
};

snapshot_builder make_run(run_of const& how) {
  snapshot_builder builder;
  stack_id const model = builder.stack({{"forward", how.file, how.line}});
  stack_id const head = builder.stack({{"head", how.file, 7}});
  stack_id const cache = builder.stack({{"cache", how.file, 90}});
  builder.at_time(origin);
  std::int64_t now = origin;
  for (std::int64_t step = 0; step < 2; ++step) {
    std::int64_t const start = now;
    builder.alloc(0x1'0000, how.bytes, model).alloc(0x2'0000, how.bytes, model);
    builder.alloc(0x3'0000, 2048 * static_cast<std::uint64_t>(step + 1), head);
    now += 3;
    if (how.has_cache) {
      builder.alloc(0x10'0000 + 0x1'0000 * static_cast<std::uint64_t>(step), 512, cache);
      ++now;
    }
    builder.free(0x3'0000).free(0x2'0000).free(0x1'0000);
    now += 6;
    if (!how.marks_steps) continue;
    std::string const name = "ProfilerStep#" + std::to_string(how.first_step + step);
    builder.annotation_start(name, start).annotation_end(name, now);
  }
  return builder;
}

struct question {
  span_request spans = {};
  std::optional<std::int64_t> step = std::nullopt;
  std::int64_t top = 0;
  std::vector<std::int32_t> devices_a{0}, devices_b{0};
  replay_plan plan = host_plan();
};

/// As the command does it.
comparison compare(snapshot const& a, snapshot const& b, question const& how = {}) {
  report_options options;
  options.top_contributors = how.top;
  std::vector<paired_spans> cuts;
  for (std::size_t row = 0; row < std::min(how.devices_a.size(), how.devices_b.size()); ++row)
    cuts.push_back(pair_spans(a, how.devices_a[row], b, how.devices_b[row], how.spans));
  std::size_t next = 0;
  replay_result const replayed_a = testing::replay_by(a, how.devices_a, [&](std::int32_t) {
    return plan_comparison(next < cuts.size() ? cuts[next++].a : span_list{}, how.plan);
  });
  next = 0;
  replay_result const replayed_b = testing::replay_by(b, how.devices_b, [&](std::int32_t) {
    return plan_comparison(next < cuts.size() ? cuts[next++].b : span_list{}, how.plan);
  });
  comparison const made = make_comparison({a, replayed_a, "a.pickle"}, {b, replayed_b, "b.pickle"},
                                          cuts, how.plan, {how.spans, how.step}, options);
  EXPECT_EQ(made.schema, comparison_schema_version);
  return made;
}

std::vector<std::string> kinds(device_comparison const& device) {
  std::vector<std::string> found;
  for (finding const& one : device.findings) found.push_back(one.kind);
  return found;
}

void expect_sums(device_comparison const& made) {
  std::int64_t a = made.sites.rest_a;
  std::int64_t b = made.sites.rest_b;
  std::int64_t delta = made.sites.rest_delta;
  for (site_delta_row const& row : made.sites.rows) {
    a += row.bytes_a;
    b += row.bytes_b;
    delta += row.delta_bytes;
    EXPECT_EQ(row.from_count_bytes + row.from_size_bytes, row.delta_bytes);
  }
  EXPECT_EQ(a, made.sites.total_a);
  EXPECT_EQ(b, made.sites.total_b);
  EXPECT_EQ(delta, made.sites.delta_bytes);
  EXPECT_EQ(made.sites.total_b - made.sites.total_a, made.sites.delta_bytes);
}

TEST(compare, steps_side_by_side) {
  snapshot const a = make_run({}).build();
  snapshot const b = make_run({.bytes = 3072, .line = 45, .has_cache = true}).build();
  for (std::int64_t const top : {0, 1, 2}) {
    comparison const made = compare(a, b, {.top = top});
    device_comparison const& device = made.devices.at(0);
    EXPECT_EQ(device.by, "profiler steps");
    ASSERT_EQ(device.spans.size(), 2U);
    EXPECT_EQ(device.spans[0].a.absolute_peak, 4096);
    EXPECT_EQ(device.spans[0].b.absolute_peak, 8704);
    EXPECT_EQ(device.spans[1].a.absolute_peak, 6144);
    EXPECT_EQ(device.spans[1].b.absolute_peak, 11264);
    EXPECT_EQ(device.looked_into, 1) << "5120 apart, against 4608";
    EXPECT_EQ(device.event_a, 11);
    EXPECT_EQ(device.event_b, 13);
    EXPECT_EQ(device.sites.total_a, 6144);
    EXPECT_EQ(device.sites.total_b, 11264);
    expect_sums(device);
    site_delta_row const& model = device.sites.rows.at(0);
    EXPECT_EQ(model.site, "forward@model.py:42->45");
    EXPECT_EQ(model.delta_bytes, 4096);
    EXPECT_EQ(model.from_count_bytes, 0);
    EXPECT_EQ(device.sites.only_b.sites, 1);
    EXPECT_EQ(device.sites.only_b.bytes, 1024);
    EXPECT_EQ(device.sites.only_b.tensors, 2);
    EXPECT_EQ(device.sites.only_a.sites, 0);
    EXPECT_THAT(kinds(device), ElementsAre("largest_difference"));
  }
}

TEST(compare, summaries_of_whole_traces) {
  device_comparison const made = compare(make_run({}).build(), make_run({}).build()).devices.at(0);
  EXPECT_EQ(made.a.events, 18);
  EXPECT_EQ(made.a.measured.peak_bytes, 6144);
  EXPECT_EQ(made.a.peak_delta, 6144);
  EXPECT_EQ(made.a.alloc_count, 6);
  EXPECT_EQ(made.a.throughput_bytes, 4 * 1024 + 2048 + 4096);
  EXPECT_THAT(kinds(made), ElementsAre("no_difference"));
}

TEST(compare, the_step_that_is_asked_for) {
  snapshot const a = make_run({}).build();
  snapshot const b = make_run({.bytes = 3072}).build();
  EXPECT_EQ(compare(a, b, {.step = 0}).devices.at(0).sites.total_a, 4096);
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(a, b, {.step = 2})); }),
              HasSubstr("number 2 in common among their profiler steps; they share 0 to 1"));
}

TEST(compare, a_step_of_files_that_are_not_cut) {
  snapshot const a = make_run({.marks_steps = false}).build();
  snapshot const b = make_run({}).build();
  std::string const said = refusal([&] { static_cast<void>(compare(a, b, {.step = 1})); });
  EXPECT_THAT(said, HasSubstr("whole traces"));
  EXPECT_THAT(said, HasSubstr("--by"));
}

TEST(compare, only_common_steps_are_compared) {
  device_comparison const made =
      compare(make_run({}).build(), make_run({.first_step = 1}).build()).devices.at(0);
  ASSERT_EQ(made.spans.size(), 1U);
  EXPECT_EQ(made.spans[0].number, 1);
  EXPECT_EQ(made.spans[0].a.absolute_peak, 6144);
  EXPECT_EQ(made.spans[0].b.absolute_peak, 4096);
  EXPECT_EQ(made.only_a_spans, 1);
  EXPECT_EQ(made.only_b_spans, 1);
  EXPECT_THAT(kinds(made), ElementsAre("largest_difference", "step_counts_differ"));
}

TEST(compare, without_common_steps_traces_are_compared) {
  snapshot const a = make_run({}).build();
  for (run_of const& other : {run_of{.first_step = 7}, run_of{.marks_steps = false}}) {
    snapshot const b = make_run(other).build();
    device_comparison const made = compare(a, b).devices.at(0);
    EXPECT_THAT(made.spans, IsEmpty());
    EXPECT_FALSE(made.looked_into.has_value());
    EXPECT_EQ(made.sites.total_a, 6144);
    EXPECT_EQ(made.sites.total_b, 6144);
  }
  snapshot const far = make_run({.first_step = 7}).build();
  EXPECT_THAT(refusal([&] {
                static_cast<void>(compare(a, far, {.spans = {kind::steps, {}}}));
              }),
              HasSubstr("A has 0 to 1, B has 7 to 8"));
  snapshot const unmarked = make_run({.marks_steps = false}).build();
  EXPECT_THAT(refusal([&] {
                static_cast<void>(compare(a, unmarked, {.spans = {kind::steps, {}}}));
              }),
              HasSubstr("B: this file has no ProfilerStep annotations"));
  EXPECT_THAT(refusal([&] {
                static_cast<void>(compare(unmarked, a, {.spans = {kind::annotation, "f"}}));
              }),
              HasSubstr("A: this file has no annotation f"));
}

TEST(compare, windows_are_as_long_on_both_sides) {
  snapshot const a = make_run({.marks_steps = false}).build();
  snapshot const b = make_run({.marks_steps = false, .has_cache = true}).build();
  device_comparison const made = compare(a, b, {.spans = {kind::time, {}}}).devices.at(0);
  EXPECT_EQ(made.by, "windows of 0.000 s");
  ASSERT_FALSE(made.spans.empty());
  for (span_pair const& pair : made.spans) {
    EXPECT_EQ(pair.a.where.start_us.value_or(0), pair.b.where.start_us.value_or(1));
    EXPECT_EQ(pair.a.where.end_us.value_or(0), pair.b.where.end_us.value_or(1));
  }
  expect_sums(made);
}

TEST(compare, settings) {
  snapshot_builder a = make_run({});
  a.setting("same", "1").setting("max_split_size", "-1").setting("old", "true");
  snapshot_builder b = make_run({});
  b.setting("same", "1").setting("max_split_size", "128").setting("new", "7");
  comparison const made = compare(a.build(), b.build());
  ASSERT_EQ(made.settings.size(), 3U);
  EXPECT_EQ(made.settings[0].key, "max_split_size");
  EXPECT_EQ(made.settings[0].a, "-1");
  EXPECT_EQ(made.settings[0].b, "128");
  EXPECT_EQ(made.settings[1].key, "new");
  EXPECT_FALSE(made.settings[1].a.has_value());
  EXPECT_EQ(made.settings[2].key, "old");
  EXPECT_FALSE(made.settings[2].b.has_value());
  EXPECT_THAT(kinds(made.devices.at(0)), ElementsAre("no_difference", "settings_differ"));
}

TEST(compare, another_model) {
  device_comparison const made =
      compare(make_run({}).build(), make_run({.bytes = 4096, .file = "/code/other/net.py"}).build())
          .devices.at(0);
  EXPECT_EQ(made.sites.only_a.bytes, made.sites.total_a);
  EXPECT_EQ(made.sites.only_b.bytes, made.sites.total_b);
  EXPECT_THAT(kinds(made), ::testing::Contains("few_sites_in_common"));
  expect_sums(made);
}

TEST(compare, devices_of_one_file_only) {
  snapshot_builder two = make_run({});
  two.on_device(1).alloc(0x1000, 512);
  snapshot const b = two.build();
  snapshot const a = make_run({}).build();
  comparison const made = compare(a, b, {.devices_b = {0, 1}});
  EXPECT_EQ(made.devices.size(), 1U);
  EXPECT_THAT(made.notes, ElementsAre("only B has device 1"));
  comparison const crossed = compare(a, b, {.devices_b = {1}});
  EXPECT_THAT(crossed.notes, ElementsAre("device 0 of A is set against device 1 of B"));
}

TEST(compare, a_file_without_a_trace_by_its_end) {
  snapshot_builder builder;
  stack_id const keep = builder.stack({{"keep", "/code/proj/keep.py", 4}});
  builder.segment(0, 8192).block(0, 4096, block_state::active_allocated, keep);
  builder.block(4096, 4096, block_state::inactive);
  snapshot const state = builder.build();
  snapshot const traced = make_run({}).build();
  comparison const both = compare(state, traced);
  EXPECT_THAT(both.notes, ElementsAre(HasSubstr("device 0 of A has no events")));
  device_comparison const& made = both.devices.at(0);
  EXPECT_EQ(made.event_a, before_trace);
  EXPECT_EQ(made.sites.total_a, 4096);
  EXPECT_EQ(made.sites.total_b, 6144);
  expect_sums(made);
  EXPECT_THAT(refusal([&] { static_cast<void>(compare(state, traced, {.step = 0})); }),
              HasSubstr("whole traces"));
}

TEST(compare, the_reserved_measure_has_no_sites) {
  replay_plan plan = host_plan();
  plan.what = measure::reserved;
  snapshot_builder a = make_run({});
  a.segment_alloc(0x100'0000, 2 << 20);
  snapshot_builder b = make_run({});
  b.segment_alloc(0x100'0000, 20 << 20);
  comparison const made = compare(a.build(), b.build(), {.spans = {kind::whole, {}}, .plan = plan});
  device_comparison const& device = made.devices.at(0);
  EXPECT_EQ(device.b.measured.peak_bytes - device.a.measured.peak_bytes, 18 << 20);
  EXPECT_EQ(device.sites.delta_bytes, 18 << 20);
  EXPECT_THAT(device.sites.rows, IsEmpty());
  expect_sums(device);
  EXPECT_THAT(kinds(device), IsEmpty());
}

}  // namespace
}  // namespace memreplay
