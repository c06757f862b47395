// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `pair`: each rule in a trace of a few rows, then against the naive replay on random
// ones.
#include "oracle/naive_replay.hpp"
#include "oracle/random_trace.hpp"
#include "tested_backend.hpp"

namespace memreplay::test {
namespace {

constexpr std::uint64_t A = 0x7f00'0000'0200;
constexpr std::uint64_t B = 0x7f00'0000'0400;
constexpr std::uint64_t C = 0x7f00'0000'0600;

struct paired {
  kernels::host_lifetimes rows;
  replay_counts counts;
};

class PairTest : public StepTest {
 protected:
  paired pair(trace const& given) const {
    return run([&](kernels::backend const& engine) {
      paired made;
      made.rows = engine.pair(given.view(), made.counts);
      return made;
    });
  }
};

using events = std::vector<event_index>;

TEST_P(PairTest, FindsTheLifetimesOfTheDrawnExample) {
  trace given;
  given.alloc(B, 8, 1).request(A, 4, 2).alloc(C, 2, 3).complete(A, 4, 2).complete(B, 8, 4);
  given.block(C, 2, false, 3);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.birth, (events{before_trace, 0, 2}));
  EXPECT_EQ(rows.allocated_end, (events{1, 4, never}));
  EXPECT_EQ(rows.active_end, (events{3, 4, never}));
  EXPECT_EQ(rows.size, (std::vector<std::uint64_t>{4, 8, 2}));
  EXPECT_EQ(rows.stack, (std::vector<stack_id>{stack_id{2}, stack_id{1}, stack_id{3}}));
  replay_counts expected;
  expected.lifetimes = 2;
  expected.unmatched_frees = 1;
  expected.unmatched_free_bytes = 4;
  EXPECT_EQ(counts, expected);
}

TEST_P(PairTest, EmptyTraceHasNoLifetimes) {
  auto const [rows, counts] = pair(trace{});
  EXPECT_TRUE(rows.birth.empty());
  EXPECT_EQ(counts, replay_counts{});
}

TEST_P(PairTest, BlocksAloneAreCarriedIn) {
  trace given;
  given.block(A, 10, false, 5).block(B, 20, true, to_row(no_stack));
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.birth, (events{before_trace, before_trace}));
  EXPECT_EQ(rows.allocated_end, (events{never, before_trace}));
  EXPECT_EQ(rows.active_end, (events{never, never}));
  EXPECT_EQ(rows.stack, (std::vector<stack_id>{stack_id{5}, before_trace_stack}));
  EXPECT_EQ(counts.never_freed_bytes, 10);
  EXPECT_EQ(counts.pending_carried_in_bytes, 20);
}

TEST_P(PairTest, ReusedAddressGivesOneLifetimeEach) {
  trace given;
  for (int round = 0; round < 3; ++round) given.alloc(A, 1).request(A, 1).complete(A, 1);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.birth, (events{0, 3, 6}));
  EXPECT_EQ(rows.allocated_end, (events{1, 4, 7}));
  EXPECT_EQ(rows.active_end, (events{2, 5, 8}));
}

TEST_P(PairTest, SecondAllocClosesAnOpenLifetime) {
  trace given;
  given.alloc(A, 1).alloc(A, 2).request(A, 2).complete(A, 2);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.birth, (events{0, 1}));
  EXPECT_EQ(rows.allocated_end, (events{1, 2}));
  EXPECT_EQ(rows.active_end, (events{1, 3}));
  EXPECT_EQ(counts.double_allocs, 1);
}

TEST_P(PairTest, AllocOverAPendingFreeIsADoubleAlloc) {
  trace given;
  given.alloc(A, 1).request(A, 1).alloc(A, 2).alloc(B, 1).complete(B, 1);
  given.block(A, 2);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.allocated_end, (events{1, never, 4}));
  EXPECT_EQ(rows.active_end, (events{2, never, 4}));
  EXPECT_EQ(counts.double_allocs, 1);
}

TEST_P(PairTest, SecondRequestHasNoEffect) {
  trace given;
  given.alloc(A, 1).request(A, 1).request(A, 1).request(A, 1).complete(A, 1);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.allocated_end, events{1});
  EXPECT_EQ(rows.active_end, events{4});
  EXPECT_EQ(counts.double_free_requests, 2);
  EXPECT_EQ(counts.unmatched_frees, 0);
}

TEST_P(PairTest, LoneCompletionLostItsRequest) {
  trace given;
  given.complete(A, 5).alloc(B, 1).request(B, 1).complete(B, 1);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.allocated_end.front(), before_trace);
  EXPECT_EQ(rows.active_end.front(), 0);
  EXPECT_EQ(counts.unmatched_completed_only, 1);
  EXPECT_EQ(counts.unmatched_completed_only_bytes, 5);
}

TEST_P(PairTest, LoneCompletionLostNothingWhereRequestsWereNotRecorded) {
  trace given;
  given.complete(A, 5).alloc(B, 1).complete(B, 1);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.allocated_end, (events{0, 2}));
  EXPECT_EQ(rows.active_end, (events{0, 2}));
}

TEST_P(PairTest, OneEventTraceOfALoneCompletion) {
  trace given;
  given.complete(A, 5);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.allocated_end, events{before_trace});
}

TEST_P(PairTest, RequestsEndEverythingWhereNoCompletionsWereRecorded) {
  trace given;
  given.alloc(A, 1).request(A, 1).alloc(A, 2).request(A, 2).request(B, 3);
  given.block(A, 2, true);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.allocated_end, (events{1, 3, 4}));
  EXPECT_EQ(rows.active_end, (events{1, 3, 4}));
  EXPECT_EQ(counts.double_allocs, 0);
  EXPECT_EQ(counts.pending_at_end, 0);
  EXPECT_EQ(counts.freed_but_in_segments, 0) << "a pending block fits to a request";
}

TEST_P(PairTest, FreeOfAnotherSizeCountsTheAllocsSize) {
  trace given;
  given.alloc(A, 10).request(A, 11).complete(A, 12);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.size, std::vector<std::uint64_t>{10});
  EXPECT_EQ(counts.size_mismatches, 2);
}

TEST_P(PairTest, EndStateConfirmsOrContradicts) {
  trace given;
  given.alloc(A, 1).alloc(B, 2).request(B, 2).alloc(C, 3).request(C, 3).complete(C, 3);
  given.block(A, 9).block(C, 4);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(counts.end_size_mismatches, 1);
  EXPECT_EQ(counts.live_not_in_segments, 1);
  EXPECT_EQ(counts.live_not_in_segments_bytes, 2);
  EXPECT_EQ(counts.pending_at_end, 1);
  EXPECT_EQ(counts.freed_but_in_segments, 1);
  EXPECT_EQ(counts.freed_but_in_segments_bytes, 4);
  EXPECT_EQ(rows.birth.size(), 3U) << "a confirmed or contradicted block is no lifetime of its own";
}

TEST_P(PairTest, WithoutSegmentsNothingIsMissing) {
  trace given;
  given.has_segments = false;
  given.alloc(A, 1);
  EXPECT_EQ(pair(given).counts.live_not_in_segments, 0);
}

TEST_P(PairTest, OtherEventsAreNoRows) {
  trace given;
  given.add(action::segment_alloc, A, 100)
      .alloc(A, 1)
      .add(action::oom, A, 7)
      .add(action::snapshot, 0, 1);
  given.add(action::annotate, A, 0).request(A, 1).add(action::other, A, 1).complete(A, 1);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.birth, events{1});
  EXPECT_EQ(rows.allocated_end, events{5});
  EXPECT_EQ(rows.active_end, events{7});
}

TEST_P(PairTest, CarriedInWithoutStackIsBeforeTheTrace) {
  trace given;
  given.request(A, 1, to_row(no_stack)).complete(A, 1).alloc(A, 1, to_row(no_stack));
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.stack, (std::vector<stack_id>{before_trace_stack, no_stack}));
}

TEST_P(PairTest, ExtremeAddresses) {
  trace given;
  given.alloc(0, 1).alloc(~std::uint64_t{0}, 2).alloc(std::uint64_t{1} << 63, 3).complete(0, 1);
  given.complete(~std::uint64_t{0}, 2);
  auto const [rows, counts] = pair(given);
  EXPECT_EQ(rows.size, (std::vector<std::uint64_t>{1, 3, 2}));
  EXPECT_EQ(rows.active_end, (events{3, never, 4}));
}

TEST_P(PairTest, EqualsTheNaiveReplay) {
  for (random_options const& options : random_cases(10'000)) {
    trace const given = make_random_trace(options);
    auto const [rows, counts] = pair(given);
    naive_lifetimes const expected = naive_pair(given.view(), true);
    ASSERT_EQ(rows.birth, expected.rows.birth) << options;
    ASSERT_EQ(rows.allocated_end, expected.rows.allocated_end) << options;
    ASSERT_EQ(rows.active_end, expected.rows.active_end) << options;
    ASSERT_EQ(rows.size, expected.rows.size) << options;
    ASSERT_EQ(rows.stack, expected.rows.stack) << options;
    ASSERT_EQ(counts, expected.counts) << options;
  }
}

MEMREPLAY_TEST_ALL_BACKENDS(PairTest);

}  // namespace
}  // namespace memreplay::test
