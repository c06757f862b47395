// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What holds for every replay, whatever the trace: tested on random ones, on every back end.
#include <algorithm>
#include <map>
#include <random>

#include "oracle/random_trace.hpp"
#include "oracle/results_equal.hpp"
#include "steps/tested_backend.hpp"

namespace memreplay::test {
namespace {

constexpr measure all_measures[] = {measure::allocated, measure::active, measure::reserved};

class ReplayLaws : public StepTest {
 protected:
  kernels::kernel_result replay(trace const& given, replay_plan const& plan) const {
    return run(
        [&](kernels::backend const& engine) { return engine.run(given.view(), plan, nullptr); });
  }
};

replay_plan many_peaks(measure what) {
  replay_plan plan;
  plan.what = what;
  plan.peak_count = 20;
  plan.dedup_ppm = 1000;
  plan.throughput = true;
  return plan;
}

std::int64_t sum_of(std::vector<stack_total> const& totals) {
  std::uint64_t sum = 0;
  for (stack_total const& total : totals) sum += static_cast<std::uint64_t>(total.bytes);
  return static_cast<std::int64_t>(sum);
}

TEST_P(ReplayLaws, TheLiveSetSumsToTheCurveAtEveryPeak) {
  for (random_options const& options : random_cases(1000)) {
    trace const given = make_random_trace(options);
    for (measure const what : {measure::allocated, measure::active}) {
      for (carried_in const older : {carried_in::include, carried_in::ignore}) {
        replay_plan plan = many_peaks(what);
        plan.older = older;
        for (peak const& found : replay(given, plan).peaks) {
          ASSERT_EQ(sum_of(found.holders), found.bytes) << options;
          ASSERT_EQ(found.bytes,
                    what == measure::allocated ? found.allocated_bytes : found.active_bytes)
              << options;
          if (older == carried_in::ignore) {
            ASSERT_EQ(found.carried_in_bytes, 0) << options;
          }
        }
      }
    }
  }
}

TEST_P(ReplayLaws, TheLiveSetSumsToTheCurveAnywhere) {
  std::mt19937_64 random(7);
  for (random_options const& options : random_cases(1000)) {
    trace const given = make_random_trace(options);
    for (measure const what : {measure::allocated, measure::active}) {
      replay_plan plan = many_peaks(what);
      std::int64_t start = 0;
      auto const curve =
          run([&](kernels::backend const& on) { return on.accumulate(given.view(), plan, start); });
      auto const lifetimes = run([&](kernels::backend const& on) {
        replay_counts counts;
        return on.pair(given.view(), counts);
      });
      for (int round = 0; round < 5; ++round) {
        event_index const event = static_cast<event_index>(random() % (curve.size() + 1)) - 1;
        auto const live = run(
            [&](kernels::backend const& on) { return on.live_by_stack(lifetimes, event, plan); });
        ASSERT_EQ(sum_of(live), event < 0 ? start : curve[static_cast<std::size_t>(event)])
            << options << " at " << event;
      }
    }
  }
}

TEST_P(ReplayLaws, ThroughputIsTheSumOfAllAllocs) {
  for (random_options const& options : random_cases(1000)) {
    trace const given = make_random_trace(options);
    std::uint64_t bytes = 0;
    std::int64_t count = 0;
    for (std::size_t e = 0; e < given.what.size(); ++e) {
      if (given.what[e] != action::alloc) continue;
      bytes += given.size[e];
      ++count;
    }
    auto const totals = replay(given, many_peaks(measure::active)).throughput;
    std::int64_t counted = 0;
    for (stack_total const& total : totals) counted += total.count;
    ASSERT_EQ(sum_of(totals), static_cast<std::int64_t>(bytes)) << options;
    ASSERT_EQ(counted, count) << options;
  }
}

TEST_P(ReplayLaws, NothingIsBornAfterItsDeath) {
  for (random_options const& options : random_cases(10'000)) {
    trace const given = make_random_trace(options);
    auto const rows = run([&](kernels::backend const& on) {
      replay_counts counts;
      return on.pair(given.view(), counts);
    });
    for (std::size_t row = 0; row < rows.birth.size(); ++row) {
      if (rows.birth[row] == before_trace) {
        ASSERT_LE(before_trace, rows.allocated_end[row]) << options;
      } else {
        ASSERT_LT(rows.birth[row], rows.allocated_end[row]) << options;
      }
      ASSERT_LE(rows.allocated_end[row], rows.active_end[row]) << options;
      ASSERT_GT(rows.active_end[row], before_trace) << options;
    }
  }
}

TEST_P(ReplayLaws, ActiveIsNeverLessThanAllocated) {
  for (random_options const& options : random_cases(1000)) {
    if (options.kind == disorder::huge_sizes) continue;  // sums that wrap around know no order
    trace const given = make_random_trace(options);
    auto const curve_of = [&](measure what) {
      std::int64_t start = 0;
      auto curve = run([&](kernels::backend const& on) {
        return on.accumulate(given.view(), many_peaks(what), start);
      });
      curve.push_back(start);
      return curve;
    };
    auto const allocated = curve_of(measure::allocated);
    auto const active = curve_of(measure::active);
    for (std::size_t e = 0; e < active.size(); ++e)
      ASSERT_LE(allocated[e], active[e]) << options << " at " << e;
  }
}

TEST_P(ReplayLaws, RenumberedStacksChangeNothingElse) {
  // A mapping that turns the order of ids around, the markers apart.
  auto const renumber = [](stack_id id) {
    return id == no_stack || id == before_trace_stack ? id : stack_id{1000 - to_row(id)};
  };
  for (random_options const& options : random_cases(1000)) {
    trace const given = make_random_trace(options);
    trace renamed = given;
    for (stack_id& id : renamed.stack) id = renumber(id);
    for (stack_id& id : renamed.block_stack) id = renumber(id);
    replay_plan const plan = many_peaks(measure::active);
    auto expected = replay(given, plan);
    for (peak& found : expected.peaks) {
      for (stack_total& total : found.holders) total.stack = renumber(total.stack);
      std::sort(found.holders.begin(), found.holders.end(), [](auto const& a, auto const& b) {
        return a.bytes > b.bytes || (a.bytes == b.bytes && a.stack < b.stack);
      });
    }
    for (stack_total& total : expected.throughput) total.stack = renumber(total.stack);
    std::sort(expected.throughput.begin(), expected.throughput.end(),
              [](auto const& a, auto const& b) {
                return a.bytes > b.bytes || (a.bytes == b.bytes && a.stack < b.stack);
              });
    ASSERT_TRUE(results_equal(replay(renamed, plan), expected)) << options;
  }
}

TEST_P(ReplayLaws, DoubledSizesDoubleAllBytes) {
  for (random_options const& options : random_cases(1000)) {
    if (options.kind == disorder::huge_sizes) continue;
    trace const given = make_random_trace(options);
    trace doubled = given;
    for (std::size_t e = 0; e < doubled.size.size(); ++e) doubled.size[e] *= 2;
    for (std::uint64_t& size : doubled.block_size) size *= 2;
    doubled.reserved_end_bytes *= 2;
    for (measure const what : all_measures) {
      auto const once = replay(given, many_peaks(what));
      auto const twice = replay(doubled, many_peaks(what));
      auto const expect_doubled = [&](curve_summary const& a, curve_summary const& b) {
        ASSERT_EQ(a.start_bytes * 2, b.start_bytes) << options;
        ASSERT_EQ(a.peak_bytes * 2, b.peak_bytes) << options;
        ASSERT_EQ(a.peak_event, b.peak_event) << options;
        ASSERT_EQ(a.end_bytes * 2, b.end_bytes) << options;
      };
      expect_doubled(once.allocated, twice.allocated);
      expect_doubled(once.active, twice.active);
      ASSERT_EQ(once.counts.lifetimes, twice.counts.lifetimes);
      ASSERT_EQ(once.counts.unmatched_free_bytes * 2, twice.counts.unmatched_free_bytes);
      ASSERT_EQ(once.peaks.size(), twice.peaks.size()) << options;
      for (std::size_t row = 0; row < once.peaks.size(); ++row) {
        ASSERT_EQ(once.peaks[row].event, twice.peaks[row].event) << options;
        ASSERT_EQ(once.peaks[row].bytes * 2, twice.peaks[row].bytes) << options;
        ASSERT_EQ(once.peaks[row].holders.size(), twice.peaks[row].holders.size()) << options;
      }
    }
  }
}

TEST_P(ReplayLaws, TheTimelineReachesTheExtremes) {
  for (random_options const& options : random_cases(10'000)) {
    trace const given = make_random_trace(options);
    for (measure const what : all_measures) {
      auto const found = replay(given, many_peaks(what));
      if (found.timeline.empty()) continue;
      std::int64_t highest = found.measured.start_bytes;
      for (timeline_bucket const& bucket : found.timeline)
        highest = std::max(highest, bucket.high_bytes);
      ASSERT_EQ(highest, found.measured.peak_bytes) << options;
      ASSERT_LE(found.timeline.back().low_bytes, found.measured.end_bytes) << options;
      ASSERT_GE(found.timeline.back().high_bytes, found.measured.end_bytes) << options;
    }
  }
}

TEST_P(ReplayLaws, EveryBackEndGivesTheSameBytes) {
  for (random_options const& options : random_cases(10'000)) {
    trace const given = make_random_trace(options);
    for (measure const what : all_measures) {
      replay_plan const plan = many_peaks(what);
      ASSERT_TRUE(results_equal(replay(given, plan),
                                kernels::host_backend().run(given.view(), plan, nullptr)))
          << options;
    }
  }
}

TEST_P(ReplayLaws, ALongTraceToo) {
  // More rows than any one block of a parallel algorithm takes.
  for (disorder const kind : {disorder::carried_in, disorder::everything}) {
    random_options const options{99, 300'000, 20'000, kind};
    trace const given = make_random_trace(options);
    replay_plan const plan = many_peaks(measure::active);
    auto const found = replay(given, plan);
    ASSERT_TRUE(results_equal(found, kernels::host_backend().run(given.view(), plan, nullptr)));
    for (peak const& one : found.peaks) ASSERT_EQ(sum_of(one.holders), one.bytes);
  }
}

MEMREPLAY_TEST_ALL_BACKENDS(ReplayLaws);

}  // namespace
}  // namespace memreplay::test
