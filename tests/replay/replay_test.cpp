// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Snapshots in, replays out: which rows belong to which device, what the audit says, how exact a
// number is.
#include <algorithm>

#include <gtest/gtest.h>
#include <memreplay/error.hpp>
#include <memreplay/replay.hpp>

#include "replay/backend.hpp"
#include "replay/device_input.hpp"
#include "replay/device_probe.hpp"
#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using testing::snapshot_builder;

replay_plan host_plan() {
  replay_plan plan;
  plan.backend = backend_choice::host;
  return plan;
}

device_replay replay_one(snapshot const& input, replay_plan const& plan = host_plan(),
                         std::int32_t device = 0) {
  return replay(input, {device}, plan).devices.front();
}

audit_row const* find_row(audit const& rows, std::string const& kind) {
  auto const found = std::find_if(rows.begin(), rows.end(),
                                  [&](audit_row const& row) { return row.kind == kind; });
  return found == rows.end() ? nullptr : &*found;
}

bool is_clean(audit const& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](audit_row const& row) { return row.level == severity::info; });
}

/// 4096 bytes are older than the trace, 1024 come and go, 512 stay.
snapshot_builder complete_file() {
  snapshot_builder builder;
  builder.segment_alloc(0x20'0000, 2 << 20)
      .alloc(0x20'0000, 1024)
      .alloc(0x20'0400, 512)
      .free(0x20'0000);
  builder.segment(0x10'0000, 1 << 20).block(0x10'0000, 4096, block_state::active_allocated);
  builder.segment(0x20'0000, 2 << 20)
      .block(0x20'0000, 1024, block_state::inactive)
      .block(0x20'0400, 512, block_state::active_allocated);
  return builder;
}

TEST(Replay, CompleteFile) {
  snapshot const input = complete_file().build();
  device_replay const made = replay_one(input);
  EXPECT_EQ(made.events, 5);
  EXPECT_EQ(made.measured.start_bytes, 4096);
  EXPECT_EQ(made.measured.peak_bytes, 4096 + 1024 + 512);
  EXPECT_EQ(made.measured.peak_event, 2);
  EXPECT_EQ(made.measured.end_bytes, 4096 + 512);
  EXPECT_EQ(made.reserved.start_bytes, 1 << 20);
  EXPECT_EQ(made.reserved.end_bytes, 3 << 20);
  EXPECT_TRUE(made.measured_exactness.exact);
  EXPECT_EQ(made.measured_exactness.low, made.measured.peak_bytes);
  EXPECT_EQ(made.counts.never_freed, 1);
  EXPECT_TRUE(is_clean(made.defects));
  ASSERT_EQ(made.peaks.size(), 1U);
  EXPECT_EQ(made.peaks[0].carried_in_bytes, 4096);
  EXPECT_EQ(made.peaks[0].reserved_bytes, 3 << 20);
  EXPECT_EQ(made.action_counts[static_cast<int>(action::alloc)], 2);
}

TEST(Replay, CarriedInIgnored) {
  replay_plan plan = host_plan();
  plan.older = carried_in::ignore;
  device_replay const made = replay_one(complete_file().build(), plan);
  EXPECT_EQ(made.measured.start_bytes, 0);
  EXPECT_EQ(made.measured.peak_bytes, 1536);
  EXPECT_EQ(made.reserved.start_bytes, 0);
}

TEST(Replay, DevicesInTheOrderAskedFor) {
  snapshot_builder builder;
  builder.on_device(0).alloc(0x1000, 10).on_device(2).alloc(0x1000, 30).alloc(0x2000, 5);
  replay_result const made = replay(builder.build(), {2, 0, 1}, host_plan());
  ASSERT_EQ(made.devices.size(), 3U);
  EXPECT_EQ(made.devices[0].device, 2);
  EXPECT_EQ(made.devices[0].measured.peak_bytes, 35);
  EXPECT_EQ(made.devices[1].measured.peak_bytes, 10)
      << "equal addresses on two devices are two blocks";
  EXPECT_EQ(made.devices[2].events, 0);
  EXPECT_EQ(made.backend, "host");
}

TEST(Replay, UnknownDeviceIsARequestThatCannotBeSatisfied) {
  snapshot const input = complete_file().build();
  for (std::int32_t const device : {-1, 7}) {
    try {
      (void)replay(input, {device}, host_plan());
      FAIL() << "device " << device;
    } catch (error const& what) {
      EXPECT_EQ(what.code(), error_code::bad_request);
    }
  }
}

TEST(Replay, EmptyFileIsDeviceZeroWithNothing) {
  device_replay const made = replay_one(snapshot{});
  EXPECT_EQ(made.events, 0);
  EXPECT_EQ(made.measured.peak_bytes, 0);
  EXPECT_TRUE(made.peaks.empty());
  EXPECT_TRUE(made.measured_exactness.exact);
  EXPECT_TRUE(made.defects.empty());
}

TEST(Replay, SegmentsAloneAreAFlatCurve) {
  snapshot_builder builder;
  builder.segment(0x1000, 2 << 20)
      .block(0x1000, 512, block_state::active_allocated)
      .block(0x1200, 1024, block_state::active_pending_free);
  snapshot const input = builder.build();
  device_replay const made = replay_one(input);
  EXPECT_EQ(made.allocated.start_bytes, 512);
  EXPECT_EQ(made.active.peak_bytes, 1536);
  EXPECT_EQ(made.active.peak_event, before_trace);
  EXPECT_EQ(made.reserved.end_bytes, 2 << 20);
  EXPECT_TRUE(made.max_memory_allocated.exact);
  EXPECT_EQ(made.max_memory_allocated.low, 512);
  ASSERT_EQ(made.peaks.size(), 1U);
  EXPECT_EQ(made.peaks[0].event, before_trace);
}

TEST(Replay, AMissedStartValueIsSaidAndBoundsThePeak) {
  snapshot_builder builder;
  builder.alloc(0x1000, 100).alloc(0x2000, 200);
  // The end state knows only one of them: 200 bytes too few by the segments.
  builder.segment(0x1000, 2 << 20).block(0x1000, 100, block_state::active_allocated);
  device_replay const made = replay_one(builder.build());
  audit_row const* const row = find_row(made.defects, "start_value_mismatch");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->level, severity::error);
  EXPECT_EQ(row->bytes, 200);
  EXPECT_NE(row->message.find("are 0 "), std::string::npos) << row->message;
  EXPECT_NE(row->message.find("-200"), std::string::npos) << row->message;
  EXPECT_FALSE(made.measured_exactness.exact);
  EXPECT_EQ(made.measured_exactness.low, 100);
  EXPECT_EQ(made.measured_exactness.high, 300);
  EXPECT_NE(find_row(made.defects, "live_not_in_segments"), nullptr);
}

TEST(Replay, NegativeReservedStartIsSaid) {
  snapshot_builder builder;
  builder.segment_alloc(0x1000, 4 << 20);
  builder.segment(0x1000, 2 << 20);
  device_replay const made = replay_one(builder.build());
  EXPECT_EQ(made.reserved.start_bytes, -(2 << 20));
  EXPECT_NE(find_row(made.defects, "start_value_mismatch"), nullptr);
}

TEST(Replay, AFileWithoutSegmentsCannotKnowWhatIsOlder) {
  snapshot_builder builder;
  builder.alloc(0x1000, 100);
  snapshot input = builder.build();
  input.has_segments = false;
  device_replay const made = replay_one(input);
  EXPECT_NE(find_row(made.defects, "no_end_state"), nullptr);
  EXPECT_EQ(find_row(made.defects, "live_not_in_segments"), nullptr);
  EXPECT_FALSE(made.measured_exactness.exact);
  EXPECT_FALSE(made.measured_exactness.reason.empty());
}

TEST(Replay, CountsBecomeRows) {
  snapshot_builder builder;
  builder.event(action::free_completed, 0x9000, 7);   // carried in, request lost
  builder.alloc(0x1000, 10).alloc(0x1000, 20);        // double alloc
  builder.event(action::free_requested, 0x1000, 21);  // other size
  builder.event(action::free_requested, 0x1000, 20);  // second request
  builder.event(action::free_completed, 0x1000, 20);
  builder.alloc(0x2000, 5).event(action::free_requested, 0x2000, 5);  // pending at the end
  builder.segment(0x1000, 2 << 20)
      .block(0x1000, 512, block_state::active_allocated)
      .block(0x2000, 512, block_state::active_pending_free);
  device_replay const made = replay_one(builder.build());
  for (char const* const kind :
       {"unmatched_frees", "unmatched_completions", "double_allocs", "free_size_mismatches",
        "double_free_requests", "pending_at_end", "freed_but_in_segments"}) {
    audit_row const* const row = find_row(made.defects, kind);
    ASSERT_NE(row, nullptr) << kind;
    EXPECT_EQ(row->count, 1) << kind;
    EXPECT_FALSE(row->message.empty()) << kind;
  }
  EXPECT_EQ(find_row(made.defects, "unmatched_frees")->level, severity::info);
  EXPECT_EQ(find_row(made.defects, "double_allocs")->level, severity::data_loss);
}

TEST(Replay, BlockSizesAreCountedWhenAskedFor) {
  replay_plan plan = host_plan();
  plan.sizes = size_basis::block;
  snapshot_builder builder;
  builder.segment_alloc(0x20'0000, 2 << 20).alloc(0x20'0000, 1000).alloc(0x20'0400, 500);
  builder.segment(0x20'0000, 2 << 20)
      .block(0x20'0000, 1024, block_state::active_allocated)
      .block(0x20'0400, 512, block_state::active_allocated);
  device_replay const made = replay_one(builder.build(), plan);
  EXPECT_EQ(made.measured.peak_bytes, 1536);
  EXPECT_EQ(made.counts.size_mismatches, 0) << "block sizes are not compared with recorded ones";
  EXPECT_LE(made.measured_exactness.low, 1536);
  EXPECT_GE(made.measured_exactness.high, 1536);
  EXPECT_EQ(made.max_memory_allocated.low, 1536);
}

TEST(Replay, RepeatedBlocksCountOnce) {
  snapshot_builder builder;
  builder.segment(0x1000, 2 << 20).block(0x1000, 512, block_state::active_allocated);
  builder.segment(0x1000, 2 << 20).block(0x1000, 1024, block_state::active_allocated);
  device_replay const made = replay_one(builder.build());
  EXPECT_EQ(made.allocated.start_bytes, 512);
  EXPECT_NE(find_row(made.defects, "repeated_blocks"), nullptr);
}

TEST(DeviceInput, BlocksAreSortedAndInactiveOnesLeftOut) {
  snapshot_builder builder;
  builder.segment(0x5000, 4096).block(0x5000, 3, block_state::active_allocated);
  builder.segment(0x1000, 4096)
      .block(0x1000, 1, block_state::inactive)
      .block(0x1200, 2, block_state::active_pending_free);
  device_input const made = make_device_input(builder.build(), 0, size_basis::requested, {});
  EXPECT_EQ(made.block_address, (std::vector<std::uint64_t>{0x1200, 0x5000}));
  EXPECT_EQ(made.block_is_pending, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(made.end.active, 5);
  EXPECT_EQ(made.end.allocated, 3);
  EXPECT_EQ(made.end.reserved, 8192);
}

TEST(Backend, HostIsAlwaysThere) {
  chosen_backend const chosen = choose_backend(backend_choice::host);
  EXPECT_STREQ(chosen.engine->name, "host");
  EXPECT_FALSE(chosen.reason.empty());
}

TEST(Backend, AutomaticSaysWhy) {
  chosen_backend const chosen = choose_backend(backend_choice::automatic);
  ASSERT_NE(chosen.engine, nullptr);
  EXPECT_FALSE(chosen.reason.empty());
}

TEST(Backend, CudaRunsOrSaysWhyNot) {
  try {
    EXPECT_STREQ(choose_backend(backend_choice::cuda).engine->name, "cuda");
  } catch (error const& what) {
    EXPECT_EQ(what.code(), error_code::no_device);
    EXPECT_FALSE(what.hint().empty());
  }
}

TEST(Replayer, RowsTakenEarlyChangeNothing) {
  snapshot const input = complete_file().build();
  for (backend_choice const wanted : {backend_choice::host, backend_choice::automatic}) {
    replayer engine(wanted);
    for (std::size_t rows = 0; rows <= input.events.size_rows(); ++rows) {
      engine.take_rows(input.events, rows);
    }
    replay_plan plan;
    plan.backend = wanted;
    replay_result const early = engine.replay(input, {0}, plan);
    replay_result const late = replay(input, {0}, plan);
    EXPECT_EQ(early.backend, late.backend);
    EXPECT_EQ(early.devices.front().measured.peak_bytes, late.devices.front().measured.peak_bytes);
    EXPECT_EQ(early.devices.front().counts, late.devices.front().counts);
  }
}

TEST(Replayer, TellsOnlyInReplayThatTheDeviceCannotRun) {
  snapshot const input = complete_file().build();
  replayer engine(backend_choice::cuda);
  engine.take_rows(input.events, 1);
  try {
    EXPECT_EQ(engine.replay(input, {0}, {}).backend, "cuda");
  } catch (error const& problem) {
    EXPECT_EQ(problem.code(), error_code::no_device);
  }
}

TEST(Architectures, MachineCodeRunsOnLaterMinorsOfItsMajor) {
  EXPECT_TRUE(runs_on("80-real,90-real,120", 8, 0));
  EXPECT_TRUE(runs_on("80-real,90-real,120", 8, 9));
  EXPECT_TRUE(runs_on("80-real,90-real,120", 9, 0));
  EXPECT_FALSE(runs_on("80-real,90-real,120", 7, 5));
  EXPECT_FALSE(runs_on("80-real,90-real,120", 10, 0));
  EXPECT_FALSE(runs_on("86-real", 8, 0));
  EXPECT_FALSE(runs_on("", 9, 0));
}

TEST(Architectures, PortableCodeRunsOnLaterMajors) {
  EXPECT_TRUE(runs_on("80-real,90-real,120", 13, 0));
  EXPECT_TRUE(runs_on("75-virtual", 9, 0));
  EXPECT_FALSE(runs_on("90-virtual", 8, 9));
  EXPECT_TRUE(runs_on("90a", 9, 0));
  EXPECT_FALSE(runs_on("90a", 10, 0));
  EXPECT_TRUE(runs_on("100f-real", 10, 3));
}

}  // namespace
}  // namespace memreplay
