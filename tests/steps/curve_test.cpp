// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The steps on curves: accumulate, find_peaks and downsample.
#include <random>

#include "oracle/naive_replay.hpp"
#include "oracle/random_trace.hpp"
#include "tested_backend.hpp"

namespace memreplay::test {
namespace {

using values = std::vector<std::int64_t>;

class CurveTest : public StepTest {
 protected:
  naive_curve accumulate(trace const& given, measure which,
                         carried_in older = carried_in::include) const {
    replay_plan plan;
    plan.what = which;
    plan.older = older;
    return run([&](kernels::backend const& engine) {
      naive_curve made;
      made.after = engine.accumulate(given.view(), plan, made.start);
      return made;
    });
  }
  std::vector<timeline_bucket> downsample(values const& curve, std::int64_t width) const {
    return run([&](kernels::backend const& engine) { return engine.downsample(curve, width); });
  }
};

class PeaksTest : public StepTest {
 protected:
  std::vector<std::pair<event_index, std::int64_t>> peaks(
      std::int64_t start, values const& curve, replay_plan const& plan,
      std::vector<std::int64_t> const* times = nullptr) const {
    auto const found = run([&](kernels::backend const& engine) {
      return engine.find_peaks(curve, start, times == nullptr ? nullptr : times->data(), plan);
    });
    std::vector<std::pair<event_index, std::int64_t>> made;
    for (peak const& one : found) made.emplace_back(one.event, one.bytes);
    return made;
  }
};

using places = std::vector<std::pair<event_index, std::int64_t>>;

replay_plan keep_all() {
  replay_plan plan;
  plan.peak_count = 100;
  plan.dedup_ppm = 0;
  return plan;
}

TEST_P(CurveTest, DrawnExample) {
  trace given;
  given.alloc(0x200, 8).request(0x100, 4).alloc(0x300, 2).complete(0x100, 4).complete(0x200, 8);
  given.block(0x300, 2);
  naive_curve const allocated = accumulate(given, measure::allocated);
  EXPECT_EQ(allocated.start, 4);
  EXPECT_EQ(allocated.after, (values{12, 8, 10, 10, 2}));
  naive_curve const active = accumulate(given, measure::active);
  EXPECT_EQ(active.start, 4);
  EXPECT_EQ(active.after, (values{12, 12, 14, 10, 2}));
  naive_curve const own = accumulate(given, measure::active, carried_in::ignore);
  EXPECT_EQ(own.start, 0);
  EXPECT_EQ(own.after, (values{8, 8, 10, 10, 2}));
}

TEST_P(CurveTest, ReservedIsSolvedBackwards) {
  trace given;
  given.add(action::segment_alloc, 1, 100).add(action::segment_map, 2, 20).alloc(1, 5);
  given.add(action::segment_unmap, 2, 20).add(action::segment_free, 9, 50);
  given.reserved_end_bytes = 130;
  naive_curve const reserved = accumulate(given, measure::reserved);
  EXPECT_EQ(reserved.start, 80);
  EXPECT_EQ(reserved.after, (values{180, 200, 200, 180, 130}));
  EXPECT_EQ(accumulate(given, measure::reserved, carried_in::ignore).start, 0);
  given.has_segments = false;
  EXPECT_EQ(accumulate(given, measure::reserved).start, 0);
}

TEST_P(CurveTest, AllocAtAnAddressInUseEndsOneAndBeginsOne) {
  trace given;
  given.alloc(1, 10).alloc(1, 3).complete(1, 3);
  EXPECT_EQ(accumulate(given, measure::active).after, (values{10, 3, 0}));
}

TEST_P(CurveTest, NoEventsOnlyBlocks) {
  trace given;
  given.block(1, 10).block(2, 5, true);
  EXPECT_EQ(accumulate(given, measure::allocated).start, 10);
  EXPECT_EQ(accumulate(given, measure::active).start, 15);
  EXPECT_TRUE(accumulate(given, measure::active).after.empty());
}

TEST_P(CurveTest, EqualsTheNaiveReplay) {
  for (random_options const& options : random_cases(10'000)) {
    trace const given = make_random_trace(options);
    for (measure const which : {measure::allocated, measure::active, measure::reserved}) {
      for (carried_in const older : {carried_in::include, carried_in::ignore}) {
        naive_curve const expected = naive_accumulate(given.view(), which, older);
        naive_curve const found = accumulate(given, which, older);
        ASSERT_EQ(found.start, expected.start)
            << options << ", " << to_string(which) << ' ' << to_string(older);
        ASSERT_EQ(found.after, expected.after)
            << options << ", " << to_string(which) << ' ' << to_string(older);
      }
    }
  }
}

TEST_P(CurveTest, DownsampleDrawnExample) {
  std::vector<timeline_bucket> const expected{{0, 8, 12}, {2, 2, 10}};
  EXPECT_EQ(downsample({12, 8, 10, 10, 2}, 2), expected);
}

TEST_P(CurveTest, DownsampleEqualsTheNaiveReplay) {
  std::mt19937_64 random(5);
  for (std::int64_t const count : {0, 1, 2, 3, 31, 32, 33, 2047, 2048, 2049, 10'000}) {
    naive_curve curve;
    for (std::int64_t e = 0; e < count; ++e)
      curve.after.push_back(static_cast<std::int64_t>(random()));
    for (std::int64_t const width : {0, 1, 2, 3, 72, 1000, 20'000}) {
      ASSERT_EQ(downsample(curve.after, width), naive_downsample(curve, width))
          << count << " to " << width;
    }
  }
}

TEST_P(PeaksTest, DrawnExample) {
  EXPECT_EQ(peaks(4, {12, 8, 10, 10, 2}, keep_all()), (places{{0, 12}, {3, 10}}));
}

TEST_P(PeaksTest, NoEvents) {
  EXPECT_EQ(peaks(7, {}, keep_all()), (places{{before_trace, 7}}));
  EXPECT_EQ(peaks(0, {}, keep_all()), places{});
}

TEST_P(PeaksTest, TheStartIsAPlateauToo) {
  EXPECT_EQ(peaks(9, {5, 3}, keep_all()), (places{{before_trace, 9}}));
  EXPECT_EQ(peaks(9, {9, 9, 3}, keep_all()), (places{{1, 9}}));
  EXPECT_EQ(peaks(9, {9, 9}, keep_all()), (places{{1, 9}})) << "no change at all";
  EXPECT_EQ(peaks(9, {9, 10}, keep_all()), (places{{1, 10}}));
}

TEST_P(PeaksTest, TheEarliestOfEqualPeaksWins) {
  EXPECT_EQ(peaks(0, {5, 1, 5, 1, 5}, keep_all()), (places{{0, 5}})) << "equal levels are one peak";
  replay_plan plan = keep_all();
  plan.dedup_ppm = -1;
  EXPECT_EQ(peaks(0, {5, 1, 5, 1, 5}, plan), (places{{0, 5}, {2, 5}, {4, 5}}));
}

TEST_P(PeaksTest, OnlyPositiveBytes) {
  EXPECT_EQ(peaks(-5, {-1, -3, 0, -2}, keep_all()), places{});
}

TEST_P(PeaksTest, NearLevelsAreOnePeak) {
  replay_plan plan = keep_all();
  plan.dedup_ppm = 30'000;
  // 97 is exactly 3 % below 100, which counts as near; 96 is not.
  EXPECT_EQ(peaks(0, {100, 0, 97, 0, 96, 0, 94, 0, 93}, plan),
            (places{{0, 100}, {4, 96}, {8, 93}}));
  plan.dedup_ppm = 1'000'000;
  EXPECT_EQ(peaks(0, {100, 0, 1}, plan), (places{{0, 100}}));
}

TEST_P(PeaksTest, CountIsABound) {
  replay_plan plan = keep_all();
  plan.peak_count = 2;
  EXPECT_EQ(peaks(0, {1, 0, 2, 0, 3}, plan), (places{{4, 3}, {2, 2}}));
  plan.peak_count = 0;
  EXPECT_EQ(peaks(0, {1, 0, 2, 0, 3}, plan), places{});
}

TEST_P(PeaksTest, NearTimesAreOnePeak) {
  replay_plan plan = keep_all();
  plan.min_separation_us = 100;
  std::vector<std::int64_t> const times{0, 50, 60, 90, 100};
  EXPECT_EQ(peaks(0, {9, 0, 8, 0, 7}, plan, &times), (places{{0, 9}, {4, 7}}));
  EXPECT_EQ(peaks(0, {9, 0, 8, 0, 7}, plan), (places{{0, 9}, {2, 8}, {4, 7}}))
      << "no times, no rule";
  EXPECT_EQ(peaks(10, {9, 0, 8, 0, 7}, plan, &times), (places{{before_trace, 10}, {4, 7}}))
      << "the start has the time of event 0";
}

TEST_P(PeaksTest, EqualsTheBruteForce) {
  std::mt19937_64 random(11);
  for (std::int64_t const count : {0, 1, 2, 3, 31, 32, 33, 1000, 10'000}) {
    for (int round = 0; round < 24; ++round) {
      // Small steps give plateaus and ties, large ones the limits of 64 bits.
      std::uint64_t const step = round % 3 == 0   ? 2
                                 : round % 3 == 1 ? 1000
                                                  : std::uint64_t{1} << 62;
      naive_curve curve;
      curve.start = static_cast<std::int64_t>(random() % step);
      std::vector<std::int64_t> times;
      for (std::int64_t e = 0; e < count; ++e) {
        curve.after.push_back(static_cast<std::int64_t>(random() % step) *
                              (random() % 9 == 0 ? -1 : 1));
        times.push_back(round % 5 == 4 ? static_cast<std::int64_t>(random())
                                       : e * 3 - static_cast<std::int64_t>(random() % 9));
      }
      replay_plan plan;
      plan.peak_count = round % 4 == 0 ? 1000 : 6;
      plan.dedup_ppm = std::vector<std::int64_t>{
          0, 1, 30'000, 999'999, 5'000'000, -3}[static_cast<std::size_t>(round % 6)];
      plan.min_separation_us = round % 2 == 0 ? 0 : 40;
      places expected;
      for (peak const& one : naive_peaks(curve, times.data(), plan))
        expected.emplace_back(one.event, one.bytes);
      ASSERT_EQ(peaks(curve.start, curve.after, plan, &times), expected)
          << count << " values, round " << round;
    }
  }
}

MEMREPLAY_TEST_ALL_BACKENDS(CurveTest);
MEMREPLAY_TEST_ALL_BACKENDS(PeaksTest);

}  // namespace
}  // namespace memreplay::test
