// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What `memreplay oom` says of small memories made by hand.
#include <memreplay/make_oom_report.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>
#include <memreplay/write_report.hpp>

#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using testing::frame_text;
using testing::snapshot_builder;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr frame_text keeper{"keep", "/code/proj/keep.py", 4};
constexpr frame_text model{"forward", "/code/proj/model.py", 42};
constexpr auto used = block_state::active_allocated;
constexpr auto hole = block_state::inactive;

oom_device_report ask(snapshot const& input, failed_request const& asked = {},
                      std::int64_t reserved_start = 0, std::vector<address_map> maps = {}) {
  replay_result replayed;
  replayed.devices.emplace_back();
  replayed.devices.front().reserved.start_bytes = reserved_start;
  replayed.devices.front().maps = std::move(maps);
  return make_oom_report(input, replayed, {}, asked, {}, "s.pickle").devices.front();
}

/// A segment of 100 MiB whose ends are in use, with a hole of `free` MiB between them.
void add_segment(snapshot_builder& builder, std::uint64_t address, std::uint64_t free, stack_id who,
                 pool_id pool = {}) {
  std::uint64_t const low = (100 - free) / 2 * mib;
  std::uint64_t const high = 100 * mib - low - free * mib;
  builder.segment(address, 100 * mib, pool)
      .block(address, low, used, who)
      .block(address + low, free * mib, hole)
      .block(address + low + free * mib, high, used, who);
}

free_space_row const* find_row(oom_device_report const& made, std::string const& why) {
  auto const found = std::ranges::find(made.free_space, why, &free_space_row::why);
  return found == made.free_space.end() ? nullptr : &*found;
}

bool advises(oom_device_report const& made, std::string const& kind) {
  return std::ranges::any_of(made.advice,
                             [&kind](oom_advice const& row) { return row.kind == kind; });
}

std::int64_t sum_of_reasons(oom_device_report const& made) {
  return std::accumulate(
      made.free_by_reason.begin(), made.free_by_reason.end(), std::int64_t{0},
      [](std::int64_t sum, free_reason_row const& row) { return sum + row.bytes; });
}

TEST(oom_report, calls_full_memory_capacity) {
  snapshot_builder builder;
  stack_id const who = builder.stack({keeper});
  builder.segment_alloc(0x1000'0000, 100 * mib).oom(40 * mib, 5 * mib, builder.stack({model}));
  add_segment(builder, 0x1000'0000, 10, who);
  auto const made = ask(builder.build());
  EXPECT_EQ(made.verdict.cause, oom_cause::capacity);
  EXPECT_EQ(made.verdict.sure, confidence::certain);
  EXPECT_EQ(made.request.origin, request_origin::oom_event);
  EXPECT_EQ(made.request.bytes, 40 * mib);
  EXPECT_EQ(made.request.site, "forward@model.py:42");
  EXPECT_EQ(made.event, 1);
  EXPECT_EQ(made.memory.driver_free_bytes, 5 * mib);
  EXPECT_EQ(made.memory.allocated_bytes, 90 * mib);
  EXPECT_EQ(made.memory.inactive_bytes, 10 * mib);
  EXPECT_EQ(sum_of_reasons(made), 10 * mib);
  ASSERT_EQ(made.holders.size(), 1U);
  EXPECT_EQ(made.holders.front().bytes, 90 * mib);
  EXPECT_TRUE(advises(made, "smaller_batch"));
}

TEST(oom_report, calls_many_small_holes_fragmentation) {
  snapshot_builder builder;
  stack_id const who = builder.stack({keeper});
  builder.oom(120 * mib, 0);
  for (std::uint64_t index = 0; index < 3; ++index) {
    add_segment(builder, (index + 1) << 32, 80, who);
  }
  auto const made = ask(builder.build());
  EXPECT_EQ(made.verdict.cause, oom_cause::fragmentation);
  ASSERT_NE(find_row(made, "too_fragmented"), nullptr);
  EXPECT_EQ(find_row(made, "too_fragmented")->holes, 3);
  ASSERT_EQ(made.pinners.size(), 1U);
  EXPECT_EQ(made.pinners.front().site, "keep@keep.py:4");
  EXPECT_EQ(made.pinners.front().stranded_bytes, 240 * mib);
  EXPECT_EQ(made.pinners.front().live_bytes, 60 * mib);
  EXPECT_EQ(made.pinned_bytes, 240 * mib);
  EXPECT_TRUE(advises(made, "expandable_segments"));
}

TEST(oom_report, does_not_advise_what_is_set) {
  snapshot_builder builder;
  builder.setting("expandable_segments", "true");
  builder.setting("PYTORCH_CUDA_ALLOC_CONF",
                  "\"expandable_segments:True,garbage_collection_threshold:0.8\"");
  builder.oom(120 * mib, 0);
  add_segment(builder, std::uint64_t{1} << 32, 80, builder.stack({keeper}));
  add_segment(builder, std::uint64_t{2} << 32, 80, builder.stack({keeper}));
  auto const made = ask(builder.build());
  EXPECT_EQ(made.verdict.cause, oom_cause::fragmentation);
  EXPECT_FALSE(advises(made, "expandable_segments"));
  EXPECT_FALSE(advises(made, "garbage_collection"));
}

TEST(oom_report, finds_the_hole_of_another_stream) {
  snapshot_builder builder;
  stack_id const who = builder.stack({keeper});
  builder.oom(60 * mib, 0);
  add_segment(builder, std::uint64_t{1} << 32, 4, who);
  builder.on_stream(7);
  add_segment(builder, std::uint64_t{2} << 32, 70, who);
  auto const made = ask(builder.build());
  EXPECT_EQ(made.verdict.cause, oom_cause::other_stream);
  ASSERT_NE(find_row(made, "other_stream"), nullptr);
  EXPECT_EQ(find_row(made, "other_stream")->stream, 7U);
  EXPECT_EQ(made.largest_hole_bytes, 4 * mib);
}

TEST(oom_report, finds_the_hole_of_a_private_pool) {
  snapshot_builder builder;
  stack_id const who = builder.stack({keeper});
  builder.oom(60 * mib, 0);
  add_segment(builder, std::uint64_t{1} << 32, 4, who);
  add_segment(builder, std::uint64_t{2} << 32, 70, who, {0, 1});
  auto const made = ask(builder.build());
  EXPECT_EQ(made.verdict.cause, oom_cause::private_pool);
  EXPECT_EQ(made.memory.private_pool_bytes, 100 * mib);
  ASSERT_NE(find_row(made, "private_pool"), nullptr);
}

TEST(oom_report, believes_the_driver) {
  snapshot_builder builder;
  builder.oom(60 * mib, 500 * mib);
  add_segment(builder, std::uint64_t{1} << 32, 4, builder.stack({keeper}));
  EXPECT_EQ(ask(builder.build()).verdict.cause, oom_cause::memory_limit);
}

TEST(oom_report, proves_that_others_took_memory) {
  snapshot_builder builder;
  builder.segment_alloc(0x1000, 500 * mib).segment_free(0x1000, 500 * mib).oom(60 * mib, 10 * mib);
  add_segment(builder, std::uint64_t{1} << 32, 4, builder.stack({keeper}));
  auto const made = ask(builder.build(), {}, 100 * static_cast<std::int64_t>(mib));
  EXPECT_EQ(made.verdict.cause, oom_cause::outside);
  EXPECT_EQ(made.verdict.sure, confidence::certain);
  EXPECT_EQ(made.memory.available_earlier_bytes, 600 * mib);
  EXPECT_EQ(made.memory.taken_since_bytes, 490 * mib);
}

TEST(oom_report, knows_a_huge_request) {
  snapshot_builder builder;
  builder.oom(9000 * mib, 50 * mib);
  add_segment(builder, std::uint64_t{1} << 32, 4, builder.stack({keeper}));
  EXPECT_EQ(ask(builder.build()).verdict.cause, oom_cause::huge_request);
}

TEST(oom_report, calls_nothing_huge_without_knowing_the_device) {
  snapshot_builder builder;
  add_segment(builder, std::uint64_t{1} << 32, 4, builder.stack({keeper}));
  failed_request asked;
  asked.bytes = 9000 * mib;
  snapshot const input = builder.build();
  EXPECT_EQ(ask(input, asked).verdict.cause, oom_cause::capacity);
  EXPECT_EQ(ask(input, asked).verdict.sure, confidence::likely);
  asked.capacity_bytes = 8000 * mib;
  EXPECT_EQ(ask(input, asked).verdict.cause, oom_cause::huge_request);
}

TEST(oom_report, invents_no_cause) {
  snapshot_builder builder;
  builder.segment_alloc(0x1000, 100 * mib).alloc(0x1000, 50 * mib);
  add_segment(builder, 0x1000, 40, builder.stack({keeper}));
  snapshot const input = builder.build();
  EXPECT_EQ(ask(input).verdict.cause, oom_cause::none);
  EXPECT_EQ(ask(input).largest_hole_bytes, 40 * mib);
  // A request that a hole serves would not have failed.
  failed_request asked;
  asked.bytes = 30 * mib;
  EXPECT_EQ(ask(input, asked).verdict.cause, oom_cause::none);
  EXPECT_NE(find_row(ask(input, asked), "would_fit"), nullptr);
}

TEST(oom_report, sees_the_last_resort_at_the_end) {
  snapshot_builder builder;
  builder.alloc(0x1000, mib).segment_free(0x9000, 20 * mib).segment_free(0x8000, 20 * mib);
  add_segment(builder, std::uint64_t{1} << 32, 4, builder.stack({keeper}));
  auto const made = ask(builder.build());
  EXPECT_EQ(made.verdict.cause, oom_cause::unknown_request);
  ASSERT_TRUE(made.before.has_value());
  EXPECT_EQ(made.before->burst_frees, 2);
  EXPECT_EQ(made.before->burst_bytes, 40 * mib);
}

TEST(oom_report, takes_an_emptied_cache_for_no_failure) {
  snapshot_builder builder;
  stack_id const emptied = builder.stack({{"empty_cache", "/torch/cuda/memory.py", 170}});
  builder.alloc(0x1000, mib).event(action::segment_free, 0x9000, 20 * mib, emptied);
  add_segment(builder, std::uint64_t{1} << 32, 4, builder.stack({keeper}));
  EXPECT_EQ(ask(builder.build()).verdict.cause, oom_cause::none);
}

TEST(oom_report, looks_at_the_map_of_the_moment) {
  snapshot_builder builder;
  builder.oom(60 * mib, 0).segment_alloc(0x1000, mib);
  snapshot const input = builder.build();
  EXPECT_EQ(plan_oom(input, 0, {}, {}).maps, std::vector<event_index>{0});
  address_map map;
  map.event = 0;
  map.segments.push_back({.total_size = 100 * mib, .first_block = 0, .block_count = 2});
  map.blocks.push_back({.size = 30 * mib, .requested_size = 30 * mib, .state = used});
  map.blocks.push_back({.address = 30 * mib, .size = 70 * mib, .state = hole});
  auto const made = ask(input, {}, 0, {map});
  EXPECT_EQ(made.memory.reserved_bytes, 100 * mib);
  EXPECT_TRUE(made.memory.exact);
  ASSERT_NE(find_row(made, "would_fit"), nullptr);
}

TEST(oom_report, survives_hostile_sizes) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  snapshot_builder builder;
  builder.segment_alloc(0x1000, most).segment_alloc(0x2000, most).oom(most, most);
  builder.segment(0x1000, most).block(0x1000, most, hole).block(0x2000, most, used);
  snapshot input = builder.build();
  input.segments.front().block_count = 1'000'000;
  auto const made = ask(input);
  EXPECT_GT(*made.request.bytes, 0);
  EXPECT_FALSE(made.verdict.text.empty());
}

TEST(oom_report, refuses_what_it_cannot_answer) {
  EXPECT_THROW(ask(snapshot_builder().build()), error);
  snapshot_builder builder;
  builder.oom(60 * mib, 0);
  snapshot const input = builder.build();
  failed_request asked;
  asked.event = 7;
  EXPECT_THROW(ask(input, asked), error);
  asked.event.reset();
  asked.bytes = 0;
  EXPECT_THROW(ask(input, asked), error);
  // Without segments the request is still told.
  EXPECT_FALSE(ask(input).has_map);
  EXPECT_EQ(ask(input).memory.allocated_bytes, std::nullopt);
}

TEST(oom_report, is_written_with_verdict_and_request) {
  snapshot_builder builder;
  builder.segment_alloc(0x1000'0000, 100 * mib).oom(40 * mib, 5 * mib, builder.stack({model}));
  add_segment(builder, 0x1000'0000, 10, builder.stack({keeper}));
  snapshot const input = builder.build();
  replay_result replayed;
  replayed.devices.emplace_back();
  oom_report const made = make_oom_report(input, replayed, {}, {}, {}, "s.pickle");
  std::string const text = write_oom(made, text_format::text);
  EXPECT_TRUE(text.starts_with("memreplay oom: s.pickle"));
  EXPECT_NE(text.find("capacity (certain)"), std::string::npos);
  EXPECT_NE(text.find("40.00 MiB (rounded)"), std::string::npos);
  std::string const written = write_oom_json(made);
  EXPECT_NE(written.find("\"schema\": \"memreplay.oom/1\""), std::string::npos);
  EXPECT_NE(written.find("\"cause\": \"capacity\""), std::string::npos);
}

}  // namespace
}  // namespace memreplay
