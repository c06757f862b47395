// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Events of every layout become rows.
#include "snapshot/read_object.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;

TEST(event_rows, every_action) {
  std::vector<object_ptr> events;
  for (int row = 0; row < static_cast<int>(action::oom); ++row)
    events.push_back(event_object(to_string(static_cast<action>(row)), 4096 * row, row + 1));
  events.push_back(event_object("snapshot", 0, 70'000));
  events.push_back(event_object("annotate", 4096, 0));
  snapshot const input = read_events(events);
  ASSERT_EQ(input.events.size_rows(), 9U);
  for (std::size_t row = 0; row < 7; ++row) {
    EXPECT_EQ(input.events.what[row], static_cast<action>(row));
    EXPECT_EQ(input.events.address[row], 4096 * row);
    EXPECT_EQ(input.events.size[row], row + 1);
  }
  EXPECT_EQ(input.events.what[7], action::snapshot);
  EXPECT_EQ(input.events.what[8], action::annotate);
  EXPECT_EQ(defect(input, "unknown_actions"), 0);
}

TEST(event_rows, oom_has_no_address) {
  snapshot const input = read_events({dict({{"action", text("oom")},
                                            {"device_free", integer(12'345)},
                                            {"size", integer(1 << 21)},
                                            {"stream", integer(0)}})});
  EXPECT_EQ(input.events.what[0], action::oom);
  EXPECT_EQ(input.events.address[0], 12'345U);
  EXPECT_EQ(input.events.size[0], std::uint64_t{1} << 21);
}

TEST(event_rows, layout_2_0_has_no_times) {
  snapshot const input = read_events({event_object("alloc", 1, 2), event_object("alloc", 3, 4)});
  EXPECT_TRUE(input.events.time_us.empty());
  EXPECT_EQ(defect(input, "events_without_time"), 2);
  EXPECT_TRUE(input.events.pool.empty());
  EXPECT_TRUE(input.events.user_metadata.empty());
  EXPECT_TRUE(input.events.compile_context.empty());
}

TEST(event_rows, times_that_are_missing_here_and_there) {
  snapshot const input = read_events(
      {event_object("alloc", 1, 2), event_object("alloc", 3, 4, {{"time_us", integer(7)}}),
       event_object("alloc", 5, 6, {{"time_us", none()}}), event_object("alloc", 7, 8)});
  ASSERT_EQ(input.events.time_us.size(), 4U);
  EXPECT_EQ(input.events.time_us[1], 7);
  EXPECT_EQ(input.events.time_us[2], 0);
  EXPECT_EQ(defect(input, "events_without_time"), 3);
}

TEST(event_rows, nanoseconds_become_microseconds) {
  snapshot const input =
      read_events({event_object("alloc", 1, 2, {{"time_us", integer(1'700'000'000'000'000'123)}}),
                   event_object("alloc", 3, 4, {{"time_us", integer(1'700'000'000'000'001)}})});
  EXPECT_EQ(input.events.time_us[0], 1'700'000'000'000'000);
  EXPECT_EQ(input.events.time_us[1], 1'700'000'000'000'001);
}

TEST(event_rows, times_that_step_back) {
  std::vector<object_ptr> events;
  for (std::int64_t const time : {100, 100, 40, 90, 30})
    events.push_back(event_object("alloc", 1, 2, {{"time_us", integer(time)}}));
  snapshot const input = read_events(events);
  EXPECT_EQ(defect(input, "time_steps_back"), 2);
  EXPECT_NE(defect_message(input, "time_steps_back").find("60 us"), std::string::npos);
}

TEST(event_rows, stacks_are_absent_empty_or_shared) {
  object_ptr const stack = list({frame_object("f", "a.py", 1), frame_object("g", "a.py", 2)});
  snapshot const input =
      read_events({event_object("alloc", 1, 1), event_object("alloc", 2, 1, {{"frames", list({})}}),
                   event_object("alloc", 3, 1, {{"frames", stack}}),
                   event_object("free_requested", 3, 1, {{"frames", stack}}),
                   event_object("alloc", 4, 1, {{"frames", none()}})});
  EXPECT_EQ(input.events.stack[0], no_stack);
  ASSERT_NE(input.events.stack[1], no_stack);
  EXPECT_TRUE(input.stacks[input.events.stack[1]].empty());
  EXPECT_EQ(stack_text(input, input.events.stack[2]), "[f@a.py:1 <- g@a.py:2]");
  EXPECT_EQ(input.events.stack[3], input.events.stack[2]);
  EXPECT_EQ(input.events.stack[4], no_stack);
  EXPECT_EQ(defect(input, "malformed_values"), 0);
}

TEST(event_rows, one_frame_named_twice_in_one_dictionary) {
  // The list of one frame is complete before its dictionary is.
  object_ptr const stack = list({frame_object("f", "a.py", 1)});
  snapshot const input = read_events(
      {dict({{"forward_frames", stack}, {"action", text("alloc")}, {"frames", stack}})});
  EXPECT_EQ(stack_text(input, input.events.stack[0]), "[f@a.py:1]");
}

TEST(event_rows, equal_stacks_have_one_id) {
  std::vector<object_ptr> events;
  for (int row = 0; row < 5; ++row) {
    // Fresh objects, as PyTorch writes them.
    events.push_back(event_object(
        "alloc", row, 1,
        {{"frames", list({frame_object("f", "a.py", 1), frame_object("g", "a.py", 2)})}}));
  }
  events.push_back(event_object(
      "alloc", 9, 1,
      {{"frames", list({frame_object("g", "a.py", 2), frame_object("f", "a.py", 1)})}}));
  snapshot const input = read_events(events);
  EXPECT_EQ(input.frames.size(), 2U);
  EXPECT_EQ(input.stacks.size(), 3U);  // the empty one, too
  for (std::size_t row = 1; row < 5; ++row)
    EXPECT_EQ(input.events.stack[row], input.events.stack[0]);
  EXPECT_NE(input.events.stack[5], input.events.stack[0]);
}

TEST(event_rows, deep_stacks) {
  for (std::size_t const depth : {999UL, 1000UL, 1001UL, 2600UL}) {
    std::vector<object_ptr> frames;
    object_ptr const one = frame_object("f", "a.py", 1);
    object_ptr const other = frame_object("g", "a.py", 1);
    for (std::size_t row = 0; row < depth; ++row) frames.push_back(row % 2 == 0 ? one : other);
    object_ptr const stack = list(frames);
    object_ptr const twin = list(frames);
    snapshot const input = read_events({event_object("alloc", 1, 1, {{"frames", stack}}),
                                        event_object("alloc", 2, 1, {{"frames", twin}}),
                                        event_object("alloc", 3, 1, {{"frames", stack}})});
    EXPECT_EQ(input.stacks[input.events.stack[0]].size(), depth);
    EXPECT_EQ(input.events.stack[0], input.events.stack[1]);
    EXPECT_EQ(input.events.stack[0], input.events.stack[2]);
  }
}

TEST(event_rows, absurdly_deep_stacks_lose_their_outermost_frames) {
  std::vector<object_ptr> const frames(20'000, frame_object("f", "a.py", 1));
  snapshot const input = read_events({event_object("alloc", 1, 1, {{"frames", list(frames)}})});
  EXPECT_EQ(input.stacks[input.events.stack[0]].size(), 16'384U);
  EXPECT_EQ(defect(input, "left_out_frames"), 20'000 - 16'384);
}

TEST(event_rows, lines_of_every_kind) {
  auto const line_of = [](object_ptr const& line) {
    snapshot const input = read_events({event_object(
        "alloc", 1, 1, {{"frames", list({with(frame_object("f", "a", 0), {{"line", line}})})}})});
    return input.frames[0].line;
  };
  EXPECT_EQ(line_of(integer(0)), 0U);
  EXPECT_EQ(line_of(integer(5'000'000'000)), 5'000'000'000U);
  EXPECT_EQ(line_of(unsigned_integer(~std::uint64_t{0})), ~std::uint64_t{0});
  EXPECT_EQ(line_of(integer(-1)), ~std::uint64_t{0});  // as the C++ writer says the same
  EXPECT_EQ(line_of(real(42.0)), 42U);
  EXPECT_EQ(line_of(none()), 0U);
}

TEST(event_rows, extra_keys_of_frames_are_counted) {
  snapshot const input = read_events({event_object(
      "alloc", 1, 1,
      {{"frames", list({with(frame_object("f", "a", 1), {{"fx_node_op", text("call")}})})}})});
  EXPECT_EQ(input.frames.size(), 1U);
  EXPECT_EQ(defect(input, "unknown_keys"), 1);
}

TEST(event_rows, metadata) {
  snapshot const input =
      read_events({event_object("alloc", 1, 1, {{"user_metadata", text("")}}),
                   event_object("alloc", 2, 1, {{"user_metadata", text("layer 1")}}),
                   event_object("alloc", 3, 1, {{"user_metadata", dict({{"layer", integer(2)}})}}),
                   event_object("alloc", 4, 1, {{"user_metadata", none()}})});
  ASSERT_EQ(input.events.user_metadata.size(), 4U);
  auto const metadata = [&](std::size_t row) {
    return input.strings[input.events.user_metadata[row]];
  };
  EXPECT_EQ(metadata(0), "");
  EXPECT_EQ(metadata(1), "layer 1");
  EXPECT_EQ(metadata(2), "{\"layer\":2}");
  EXPECT_EQ(metadata(3), "");
  EXPECT_EQ(defect(input, "malformed_values"), 0);
}

TEST(event_rows, no_metadata_no_column) {
  snapshot const input =
      read_events({event_object("alloc", 1, 1, {{"user_metadata", text("")}}),
                   event_object("alloc", 2, 1, {{"compile_context", text("N/A")}})});
  EXPECT_TRUE(input.events.user_metadata.empty());
  EXPECT_TRUE(input.events.compile_context.empty());
}

TEST(event_rows, compile_contexts) {
  snapshot const input =
      read_events({event_object("alloc", 1, 1, {{"compile_context", text("N/A")}}),
                   event_object("alloc", 2, 1, {{"compile_context", text("Region 0/0")}}),
                   event_object("alloc", 3, 1)});
  ASSERT_EQ(input.events.compile_context.size(), 3U);
  EXPECT_EQ(input.strings[input.events.compile_context[0]], "");
  EXPECT_EQ(input.strings[input.events.compile_context[1]], "Region 0/0");
  EXPECT_EQ(input.strings[input.events.compile_context[2]], "");
}

TEST(event_rows, pools) {
  auto const pool = [](std::int64_t first, std::int64_t second) {
    return tuple({integer(first), integer(second)});
  };
  snapshot const input = read_events({event_object("alloc", 1, 1, {{"pool_id", pool(0, 0)}}),
                                      event_object("alloc", 2, 1, {{"pool_id", pool(0, 3)}}),
                                      event_object("alloc", 3, 1, {{"pool_id", pool(1, 0)}}),
                                      event_object("alloc", 4, 1, {{"pool_id", pool(0, 3)}}),
                                      event_object("alloc", 5, 1, {{"pool_id", text("?")}})});
  ASSERT_EQ(input.events.pool.size(), 5U);
  auto const pool_of = [&](std::size_t row) { return input.pools[to_row(input.events.pool[row])]; };
  EXPECT_EQ(pool_of(0), (pool_id{0, 0}));
  EXPECT_EQ(pool_of(1), (pool_id{0, 3}));
  EXPECT_EQ(pool_of(2), (pool_id{1, 0}));
  EXPECT_EQ(input.events.pool[1], input.events.pool[3]);
  EXPECT_EQ(pool_of(4), (pool_id{0, 0}));
}

TEST(event_rows, pools_as_lists) {
  for (object_ptr const& pair :
       {list({integer(2), integer(5)}), list({real(2), real(5)}), tuple({integer(2), real(5)})}) {
    snapshot const input = read_events({event_object("alloc", 1, 1, {{"pool_id", pair}})});
    ASSERT_EQ(input.events.pool.size(), 1U);
    EXPECT_EQ(input.pools[to_row(input.events.pool[0])], (pool_id{2, 5}));
  }
  snapshot const odd = read_events({event_object(
      "alloc", 1, 1, {{"pool_id", list({real(1e300), unsigned_integer(UINT64_MAX)})}})});
  EXPECT_TRUE(odd.events.pool.empty());
}

TEST(event_rows, many_pools_as_lists_do_not_run_out_of_room) {
  // A JSON file of PyTorch 2.12 has one such list for every event.
  std::string json = "{\"device_traces\": [[";
  constexpr int count = 600'000;
  for (int row = 0; row < count; ++row)
    json += std::string(row == 0 ? "" : ",") + "{\"action\":\"alloc\",\"pool_id\":[0,7]}";
  snapshot const input = read_bytes(json + "]]}");
  ASSERT_EQ(input.events.pool.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(input.pools[to_row(input.events.pool[count - 1])], (pool_id{0, 7}));
  EXPECT_EQ(defect(input, "left_out_values"), 0);
}

TEST(event_rows, streams) {
  snapshot const input =
      read_events({with(event_object("alloc", 1, 1), {{"stream", integer(123'288'560)}}),
                   event_object("alloc", 2, 1),
                   with(event_object("alloc", 3, 1), {{"stream", unsigned_integer(UINT64_MAX)}}),
                   with(event_object("alloc", 4, 1), {{"stream", nullptr}}),
                   with(event_object("alloc", 5, 1), {{"stream", integer(123'288'560)}})});
  EXPECT_EQ(input.streams, (std::vector<std::uint64_t>{123'288'560, 0, UINT64_MAX}));
  EXPECT_EQ(input.events.stream[0], input.events.stream[4]);
  EXPECT_EQ(input.events.stream[1], input.events.stream[3]);
}

TEST(event_rows, unknown_actions_and_keys_are_counted) {
  snapshot const input =
      read_events({event_object("workspace_snapshot", 1, 5), event_object("user_defined", 1, 5),
                   event_object("workspace_snapshot", 1, 5, {{"brand_new", integer(1)}})});
  ASSERT_EQ(input.events.size_rows(), 3U);
  for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(input.events.what[row], action::other);
  EXPECT_EQ(defect(input, "unknown_actions"), 3);
  EXPECT_NE(defect_message(input, "unknown_actions").find("user_defined, workspace_snapshot"),
            std::string::npos);
  EXPECT_NE(defect_message(input, "unknown_keys").find("brand_new"), std::string::npos);
}

TEST(event_rows, names_in_the_audit_are_harmless) {
  std::string const evil = "\x1b[31m\x9b" + std::string(500, 'x') + "\n";
  snapshot const input =
      read_events({event_object(evil, 1, 5), event_object("alloc", 1, 5, {{evil, integer(1)}})});
  for (char const* kind : {"unknown_actions", "unknown_keys"}) {
    std::string const message = defect_message(input, kind);
    EXPECT_FALSE(message.empty());
    EXPECT_LT(message.size(), 250U);
    for (char const letter : message) EXPECT_TRUE(letter >= ' ' && letter <= '~');
  }
}

TEST(event_rows, keys_in_another_order_and_missing_keys) {
  snapshot const input =
      read_events({dict({{"size", integer(5)}, {"addr", integer(9)}, {"action", text("alloc")}}),
                   dict({{"action", text("alloc")}}), dict({{"action", none()}})});
  ASSERT_EQ(input.traces.at(0).count, 3);
  auto const first = static_cast<std::size_t>(input.traces[0].first);
  EXPECT_EQ(input.events.size[first], 5U);
  EXPECT_EQ(input.events.address[first], 9U);
  EXPECT_EQ(input.events.size[first + 1], 0U);
  EXPECT_EQ(input.events.what[first + 2], action::other);
}

TEST(event_rows, addresses_up_to_the_last) {
  snapshot const input =
      read_events({with(event_object("alloc", 0, 1), {{"addr", unsigned_integer(UINT64_MAX)}}),
                   event_object("alloc", -1, 1)});
  EXPECT_EQ(input.events.address[0], UINT64_MAX);
  EXPECT_EQ(input.events.address[1], UINT64_MAX);  // a signed writer's spelling
}

}  // namespace
}  // namespace memreplay::reading
