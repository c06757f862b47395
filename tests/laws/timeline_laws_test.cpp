// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a drawn timeline may not break, whatever the trace and however little may be drawn: on
// random traces, on files of the snapshot maker and on real ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <memreplay/make_report.hpp>
#include <memreplay/read_snapshot.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/write_report.hpp>

#include "oracle/random_trace.hpp"
#include "report/live_sets.hpp"
#include "support/snapshot_builder.hpp"
#include "support/temporary_folder.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

timeline_budget tiny_budget() {
  timeline_budget made;
  made.buckets = 7;
  made.moments = 6;
  made.area_sites = 2;
  made.lifetimes = 30;
  made.vertices = 40;
  made.flame_moments = 3;
  made.flame_rows = 4;
  made.segments = 2;
  made.blocks = 9;
  made.marks = 1;
  made.text_bytes = 400;
  return made;
}

/// One device's timeline, and what it was made from.
struct drawn {
  timeline_run run;
  device_replay replayed;
  curve_timelines after;  ///< each event

  [[nodiscard]] device_timeline const& device() const { return run.devices.front(); }
  /// Of the measured curve.
  [[nodiscard]] std::int64_t bytes_at(event_index event) const {
    if (event < 0) return replayed.measured.start_bytes;
    auto const& measured = run.plan.what == measure::allocated ? after.allocated
                           : run.plan.what == measure::active  ? after.active
                                                               : after.reserved;
    return measured.at(static_cast<std::size_t>(event)).high_bytes;
  }
  /// Segment events of a random trace may sum to anything, lifetimes to no less than nothing.
  [[nodiscard]] bool is_sum() const { return run.plan.what != measure::reserved; }
  [[nodiscard]] std::int64_t reserved_at(event_index event) const {
    return event < 0 ? replayed.reserved.start_bytes
                     : after.reserved.at(static_cast<std::size_t>(event)).high_bytes;
  }
};

drawn draw(snapshot const& input, std::int32_t device, replay_plan const& basis,
           timeline_budget const& budget) {
  timeline_options const asked{"a run", budget, {}};
  replay_plan const plan = plan_timeline(input, device, asked, basis);
  replay_result const found = replay(input, {device}, plan);
  replay_plan fine = basis;
  fine.curve_width = found.devices.front().events;
  drawn made;
  made.run = make_timeline(input, found, plan, asked, {}, "file.pickle");
  made.replayed = found.devices.front();
  made.after = replay(input, {device}, fine).devices.front().curves;
  return made;
}

void expect_curve(timeline_curves const& curves, timeline_curve const& curve) {
  std::size_t const buckets = curves.first_event.size() - 1;
  ASSERT_EQ(curve.low_bytes.size(), buckets);
  ASSERT_EQ(curve.high_bytes.size(), buckets);
  std::int64_t highest = curve.start_bytes;
  for (std::size_t at = 0; at < buckets; ++at) {
    EXPECT_LE(curve.low_bytes[at], curve.high_bytes[at]);
    highest = std::max(highest, curve.high_bytes[at]);
  }
  EXPECT_EQ(highest, curve.peak_bytes);
}

void expect_curves(drawn const& made) {
  timeline_curves const& curves = made.device().curves;
  EXPECT_EQ(curves.first_event.back(), made.device().events);
  EXPECT_TRUE(std::is_sorted(curves.first_event.begin(), curves.first_event.end()));
  EXPECT_TRUE(std::is_sorted(curves.seconds.begin(), curves.seconds.end()));
  EXPECT_EQ(curves.seconds.empty(), !made.device().has_times);
  expect_curve(curves, curves.allocated);
  expect_curve(curves, curves.active);
  expect_curve(curves, curves.reserved);
  for (peak_report const& peak : made.device().peaks)
    EXPECT_EQ(peak.bytes, made.bytes_at(peak.event));
}

void expect_areas(drawn const& made, timeline_budget const& budget) {
  area_bands const& areas = made.device().areas;
  std::size_t const columns = areas.event.size();
  std::size_t const sites = areas.sites.size();
  ASSERT_EQ(areas.bytes.size(), (sites + 2) * columns);
  EXPECT_TRUE(std::adjacent_find(areas.event.begin(), areas.event.end(), std::greater_equal<>()) ==
              areas.event.end());
  live_history const& history = made.replayed.history;
  auto const live = reporting::read_live_sets(history, [](std::size_t) { return false; });
  for (std::size_t column = 0; column < columns; ++column) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < sites + 2; ++row) {
      std::int64_t const bytes = areas.bytes[row * columns + column];
      if (made.is_sum()) {
        EXPECT_GE(bytes, 0);
      }
      sum += bytes;
    }
    event_index const event = areas.event[column];
    EXPECT_EQ(sum, made.bytes_at(event)) << "after event " << event;
    EXPECT_EQ(areas.bytes[(sites + 1) * columns + column],
              live[history.row_of(event)].carried_in_bytes);
    bool const has_all = static_cast<std::int64_t>(sites) < budget.area_sites;
    if (has_all && made.run.plan.what != measure::reserved) {
      EXPECT_EQ(areas.bytes[sites * columns + column], 0);
    }
  }
  // The highest of all is among the moments.
  if (columns > 0) {
    std::int64_t highest = made.bytes_at(areas.event.front());
    for (event_index const event : areas.event) highest = std::max(highest, made.bytes_at(event));
    EXPECT_EQ(highest, made.replayed.measured.peak_bytes);
  }
}

/// The lower edge is the sum of what lies below, at every vertex; the top stays below the curve.
void expect_lifetimes(drawn const& made, timeline_budget const& budget) {
  lifetime_stack const& stack = made.device().lifetimes;
  std::size_t const count = stack.birth.size();
  EXPECT_LE(static_cast<std::int64_t>(count), budget.lifetimes);
  EXPECT_LE(static_cast<std::int64_t>(stack.vertex_event.size()), budget.vertices);
  auto const is_live = [&](std::size_t row, event_index event) {
    return stack.birth[row] <= event && event < stack.end[row];
  };
  std::map<event_index, std::int64_t> tops;
  for (std::size_t row = 0; row < count; ++row) {
    EXPECT_LT(stack.birth[row], stack.end[row]);
    if (row > 0) {
      EXPECT_LE(stack.birth[row - 1], stack.birth[row]);
    }
    std::int64_t const first = stack.first_vertex[row];
    std::int64_t const end = stack.first_vertex[row + 1];
    ASSERT_LT(first, end);
    EXPECT_EQ(stack.vertex_event[static_cast<std::size_t>(first)], stack.birth[row]);
    for (auto at = static_cast<std::size_t>(first); at < static_cast<std::size_t>(end); ++at) {
      event_index const event = stack.vertex_event[at];
      EXPECT_TRUE(is_live(row, event));
      std::int64_t below = 0;
      bool const is_looked_at = stack.vertex_event.size() < 2000 || at % 97 == 0;
      if (!is_looked_at) continue;
      for (std::size_t lower = 0; lower < row; ++lower)
        below += is_live(lower, event) ? stack.bytes[lower] : 0;
      EXPECT_EQ(stack.vertex_bytes[at], below);
      tops[event] = std::max(tops[event], below + stack.bytes[row]);
    }
  }
  for (auto const& [event, top] : tops) EXPECT_LE(top, made.bytes_at(event)) << event;
}

void expect_flames(drawn const& made, timeline_budget const& budget) {
  flame_rows const& flames = made.device().flames;
  EXPECT_TRUE(std::is_sorted(flames.event.begin(), flames.event.end()));
  for (std::size_t at = 0; at < flames.event.size(); ++at) {
    auto const first = static_cast<std::size_t>(flames.first_row[at]);
    auto const end = static_cast<std::size_t>(flames.first_row[at + 1]);
    EXPECT_LE(static_cast<std::int64_t>(end - first), budget.flame_rows);
    std::int64_t sum = flames.rest_bytes[at];
    for (std::size_t row = first; row < end; ++row) {
      EXPECT_LT(flames.stack[row], made.run.stacks.site.size());
      EXPECT_GT(flames.tensors[row], 0);
      sum += flames.bytes[row];
    }
    EXPECT_EQ(sum, made.bytes_at(flames.event[at]));
    if (made.is_sum()) {
      EXPECT_GE(flames.rest_bytes[at], 0);
    }
    EXPECT_GE(flames.rest_tensors[at], 0);
  }
}

void expect_map(drawn const& made, timeline_budget const& budget) {
  if (!made.device().map) return;
  segment_map const& map = *made.device().map;
  address_map const& whole = made.replayed.maps.front();
  EXPECT_LE(static_cast<std::int64_t>(map.segments.size()), budget.segments);
  EXPECT_LE(static_cast<std::int64_t>(map.block_bytes.size()),
            std::max(budget.blocks, static_cast<std::int64_t>(map.segments.size())));
  std::int64_t sum = map.other_bytes;
  std::int64_t next_block = 0;
  for (map_segment const& one : map.segments) {
    sum += one.bytes;
    EXPECT_EQ(one.first_block, next_block);
    next_block += one.blocks;
    std::int64_t filled = 0;
    for (std::int64_t at = one.first_block; at < next_block; ++at) {
      EXPECT_LE(map.block_offset[static_cast<std::size_t>(at)], one.bytes);
      filled += map.block_bytes[static_cast<std::size_t>(at)];
    }
    if (map.is_exact) {
      EXPECT_EQ(filled, one.bytes);
    }
  }
  EXPECT_EQ(next_block, static_cast<std::int64_t>(map.block_bytes.size()));
  if (map.is_exact && made.run.plan.older == carried_in::include) {
    EXPECT_EQ(sum, made.reserved_at(map.event));
  }
  if (map.other_segments > 0) return;
  std::int64_t requested = 0;
  for (block const& one : whole.blocks)
    requested +=
        one.state == block_state::inactive ? 0 : static_cast<std::int64_t>(one.requested_size);
  EXPECT_EQ(
      std::accumulate(map.block_requested.begin(), map.block_requested.end(), std::int64_t{0}),
      requested);
}

void expect_stacks(drawn const& made) {
  shown_stacks const& stacks = made.run.stacks;
  ASSERT_EQ(stacks.first.size(), stacks.site.size() + 1);
  EXPECT_EQ(stacks.first.back(), static_cast<std::int64_t>(stacks.frame.size()));
  for (std::uint32_t const frame : stacks.frame) EXPECT_LT(frame, stacks.frames.size());
  for (std::uint32_t const site : stacks.site) EXPECT_LT(site, stacks.sites.size());
  for (std::uint32_t const site : made.device().areas.sites) EXPECT_LT(site, stacks.sites.size());
  for (std::uint32_t const stack : made.device().lifetimes.stack)
    EXPECT_TRUE(stack == no_row || stack < stacks.site.size());
}

/// What a page's data may take at most: columns in base64, objects, texts.
std::int64_t bound_of(timeline_budget const& budget, std::int64_t peaks) {
  std::int64_t const columns = (budget.buckets + 1) * (4 + 8 + 6 * 8) +
                               budget.moments * (4 + 8 + (budget.area_sites + 2) * 8) +
                               budget.lifetimes * (4 + 4 + 8 + 4 + 4) + budget.vertices * 12 +
                               (budget.flame_moments + peaks) * (20 + budget.flame_rows * 16) +
                               budget.blocks * (8 + 8 + 8 + 1 + 4);
  return columns / 3 * 4 + budget.text_bytes + budget.segments * 180 + 2 * budget.marks * 110 +
         30'000;
}

void expect_laws(snapshot const& input, std::int32_t device, replay_plan const& plan) {
  for (timeline_budget const& budget : {timeline_budget{}, tiny_budget()}) {
    SCOPED_TRACE(std::to_string(budget.buckets) + " buckets of " + to_string(plan.what));
    drawn const made = draw(input, device, plan, budget);
    EXPECT_LE(static_cast<std::int64_t>(made.device().curves.first_event.size()),
              budget.buckets + 1);
    expect_curves(made);
    expect_areas(made, budget);
    expect_lifetimes(made, budget);
    expect_flames(made, budget);
    expect_map(made, budget);
    expect_stacks(made);
    timeline_report page;
    page.runs.push_back(made.run);
    EXPECT_LE(static_cast<std::int64_t>(write_timeline_json(page).size()), bound_of(budget, 6));
    EXPECT_FALSE(write_timeline_svg(page).empty());
  }
}

TEST(timeline_budget, keeps_a_page_below_8_megabytes) {
  EXPECT_LT(bound_of(timeline_budget{}, 6), 8'000'000);
  for (std::int64_t const shares : {2, 8, 64}) {
    std::int64_t const each = bound_of(share_of(timeline_budget{}, shares), 6);
    EXPECT_LT(each * std::min<std::int64_t>(shares, 8), 10'000'000) << shares;
  }
}

/// The trace as a file would have it; stack n of the trace is a frame of its own.
snapshot snapshot_of(test::trace const& given) {
  testing::snapshot_builder builder;
  auto const stack_of = [&builder](stack_id id) {
    if (id == no_stack) return no_stack;
    return builder.stack({{"run", "/code/step.py", 1 + to_row(id)}, {"main", "/code/main.py", 9}});
  };
  for (std::size_t at = 0; at < given.what.size(); ++at)
    builder.event(given.what[at], given.address[at], given.size[at], stack_of(given.stack[at]));
  for (std::size_t at = 0; given.has_segments && at < given.block_address.size(); ++at) {
    builder.segment(given.block_address[at], given.block_size[at]);
    builder.block(given.block_address[at], given.block_size[at],
                  given.block_is_pending[at] != 0 ? block_state::active_pending_free
                                                  : block_state::active_allocated,
                  stack_of(given.block_stack[at]));
  }
  return builder.build();
}

TEST(timelines_of_random_traces, hold) {
  int round = 0;
  for (test::random_options const& options : test::random_cases(1000)) {
    if (options.kind == test::disorder::huge_sizes) continue;  // sums that wrap around
    std::ostringstream name;
    name << options;
    SCOPED_TRACE(name.str());
    replay_plan plan;
    ++round;
    plan.what = std::vector{measure::allocated, measure::active,
                            measure::reserved}[static_cast<std::size_t>(round % 3)];
    plan.older = round % 4 == 0 ? carried_in::ignore : carried_in::include;
    expect_laws(snapshot_of(test::make_random_trace(options)), 0, plan);
  }
}

TEST(timelines_of_random_traces, bear_sizes_of_any_bits) {
  for (test::random_options const& options : test::random_cases(1000)) {
    if (options.kind != test::disorder::huge_sizes) continue;
    snapshot const input = snapshot_of(test::make_random_trace(options));
    timeline_report page;
    page.runs.push_back(draw(input, 0, {}, tiny_budget()).run);
    EXPECT_FALSE(write_timeline_json(page).empty());
    EXPECT_FALSE(write_timeline_svg(page).empty());
  }
}

void expect_laws_of_file(std::string const& path) {
  snapshot const input = read_snapshot(path);
  for (std::int32_t const device : devices_in(input)) {
    for (measure const what : {measure::allocated, measure::active, measure::reserved}) {
      replay_plan plan;
      plan.what = what;
      plan.sizes = what == measure::active ? size_basis::block : size_basis::requested;
      expect_laws(input, device, plan);
    }
  }
}

struct maker_case {
  char const* name;
  char const* options;
  friend void PrintTo(maker_case const& one, std::ostream* out) { *out << one.options; }
};

class timelines_of_the_maker : public ::testing::TestWithParam<maker_case> {};

TEST_P(timelines_of_the_maker, hold) {
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'") != 0) {
    GTEST_SKIP() << "no python3 to make snapshots with";
  }
  testing::temporary_folder const folder;
  fs::path const file = folder.path() / "snapshot.pickle";
  std::string const command = "python3 -B '" MEMREPLAY_SOURCE_DIR "/tools/make_snapshot.py' -o '" +
                              file.string() + "' " + GetParam().options;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  expect_laws_of_file(file.string());
}

constexpr maker_case cases[] = {
    {"whole", "--steps 3"},
    {"streams", "--steps 3 --streams 3 --private-pool"},
    {"devices", "--steps 2 --devices 2"},
    {"ring", "--steps 6 --max-entries 3000"},
    {"oom", "--steps 6 --capacity 3GiB --max-entries 5000"},
    {"state_only", "--steps 3 --state-only"},
};

INSTANTIATE_TEST_SUITE_P(options, timelines_of_the_maker, ::testing::ValuesIn(cases),
                         [](auto const& one) { return std::string(one.param.name); });

TEST(timelines_of_real_files, hold) {
  char const* const named = std::getenv("MEMREPLAY_CORPUS");
  fs::path const folder = fs::path(named != nullptr ? named : MEMREPLAY_CORPUS_FOLDER) / "real";
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus at " << folder;
  for (fs::directory_entry const& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    expect_laws_of_file(entry.path().string());
  }
}

}  // namespace
}  // namespace memreplay
