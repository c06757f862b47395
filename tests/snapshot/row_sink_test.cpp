// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What containers are told by, lists that share rows, and files that share without end.
#include "snapshot/row_sink.hpp"

#include <chrono>

#include "snapshot/read_object.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;

TEST(row_sink, top_levels) {
  snapshot const both = read(snapshot_object({segment_object(0, {})}, {list({}), list({})}));
  EXPECT_TRUE(both.has_segments);
  EXPECT_TRUE(both.has_traces);
  EXPECT_EQ(both.traces.size(), 2U);

  snapshot const segments_only = read(dict({{"segments", list({segment_object(0, {})})}}));
  EXPECT_TRUE(segments_only.has_segments);
  EXPECT_FALSE(segments_only.has_traces);
  EXPECT_EQ(segments_only.segments.size(), 1U);

  snapshot const traces_only =
      read(dict({{"device_traces", list({list({event_object("alloc", 1, 1)})})}}));
  EXPECT_FALSE(traces_only.has_segments);
  EXPECT_TRUE(traces_only.has_traces);
  EXPECT_EQ(traces_only.events.size_rows(), 1U);

  snapshot const bare = read(list({segment_object(0, {}), segment_object(4096, {})}));
  EXPECT_TRUE(bare.has_segments);
  EXPECT_FALSE(bare.has_traces);
  EXPECT_EQ(bare.segments.size(), 2U);
  EXPECT_TRUE(read(list({})).segments.empty());
  EXPECT_TRUE(read(dict({{"segments", none()}, {"device_traces", none()}})).traces.empty());
}

TEST(row_sink, what_is_no_snapshot) {
  for (object_ptr const& document :
       {dict({}), none(), integer(5), text("segments"), tuple({}), dict({{"a", integer(1)}}),
        list({integer(1)}), list({event_object("alloc", 1, 1)}), event_object("alloc", 1, 1),
        segment_object(0, {}), dict({{"rank0", snapshot_object({}, {})}}),
        list({snapshot_object({}, {})}), list({list({event_object("alloc", 1, 1)})})}) {
    error const problem = failure_of(document);
    EXPECT_EQ(problem.code(), error_code::not_a_snapshot) << write_json(document);
    EXPECT_FALSE(problem.hint().empty());
  }
}

TEST(row_sink, top_level_values_of_the_wrong_type) {
  for (object_ptr const& odd : {none(), integer(5), text("x"), dict({}), list({integer(1)}),
                                list({text("x"), list({})}), tuple({integer(1), integer(2)})}) {
    snapshot const input = read(dict({{"segments", odd},
                                      {"device_traces", odd},
                                      {"allocator_settings", odd},
                                      {"external_annotations", odd},
                                      {"host_segments", odd},
                                      {"host_traces", odd}}));
    EXPECT_TRUE(input.segments.empty());
    EXPECT_EQ(input.events.size_rows(), 0U);
    EXPECT_TRUE(input.annotations.empty());
  }
}

TEST(row_sink, several_devices) {
  snapshot const input = read(snapshot_object(
      {}, {list({}), list({event_object("alloc", 1, 1), event_object("alloc", 2, 2)}), list({}),
           list({event_object("alloc", 3, 3)})}));
  ASSERT_EQ(input.traces.size(), 4U);
  EXPECT_EQ(input.traces[0].count, 0);
  EXPECT_EQ(input.traces[1].count, 2);
  EXPECT_EQ(input.traces[3].count, 1);
  EXPECT_EQ(input.events.size[static_cast<std::size_t>(input.traces[3].first)], 3U);
}

TEST(row_sink, traces_of_the_wrong_type_keep_their_place) {
  snapshot const input = read(
      snapshot_object({}, {list({}), none(), integer(7), list({event_object("alloc", 3, 3)})}));
  ASSERT_EQ(input.traces.size(), 4U);
  EXPECT_EQ(input.traces[3].count, 1);
}

TEST(row_sink, an_event_that_appears_twice) {
  object_ptr const shared =
      event_object("alloc", 1, 11, {{"time_us", integer(5)}, {"user_metadata", text("m")}});
  object_ptr const other = event_object("alloc", 2, 22);
  snapshot const input =
      read(snapshot_object({}, {list({shared, other, shared}), list({other, shared})}));
  auto const sizes = [&](std::size_t device) {
    std::vector<std::uint64_t> found;
    for (std::int64_t row = 0; row < input.traces[device].count; ++row) {
      found.push_back(
          input.events.size[static_cast<std::size_t>(input.traces[device].first + row)]);
    }
    return found;
  };
  EXPECT_EQ(sizes(0), (std::vector<std::uint64_t>{11, 22, 11}));
  EXPECT_EQ(sizes(1), (std::vector<std::uint64_t>{22, 11}));
  ASSERT_EQ(input.events.time_us.size(), input.events.size_rows());
  auto const last = static_cast<std::size_t>(input.traces[1].first + 1);
  EXPECT_EQ(input.events.time_us[last], 5);
  EXPECT_EQ(input.strings[input.events.user_metadata[last]], "m");
}

TEST(row_sink, one_trace_for_two_devices) {
  object_ptr const trace = list({event_object("alloc", 1, 11), event_object("alloc", 2, 22)});
  snapshot const input = read(snapshot_object({}, {trace, trace}));
  EXPECT_EQ(input.traces[0].first, input.traces[1].first);
  EXPECT_EQ(input.traces[1].count, 2);
}

TEST(row_sink, traces_in_many_batches) {
  for (std::size_t const count : {1UL, 2UL, 999UL, 1000UL, 1001UL, 2000UL, 3500UL}) {
    std::vector<object_ptr> events;
    for (std::size_t row = 0; row < count; ++row)
      events.push_back(event_object("alloc", static_cast<std::int64_t>(row), 1));
    snapshot const input = read_events(events);
    ASSERT_EQ(input.traces.at(0).count, static_cast<std::int64_t>(count));
    for (std::size_t row = 0; row < count; ++row)
      ASSERT_EQ(input.events.address[static_cast<std::size_t>(input.traces[0].first) + row], row);
  }
}

TEST(row_sink, foreign_items_of_lists_are_counted) {
  snapshot const input = read_events({event_object("alloc", 1, 1), integer(7), list({}),
                                      frame_object("f", "a", 1), event_object("alloc", 2, 1)});
  EXPECT_EQ(input.traces[0].count, 2);
  EXPECT_EQ(defect(input, "foreign_items"), 3);
}

TEST(row_sink, annotations) {
  auto const mark = [](std::string_view name, std::string_view stage, std::int64_t time) {
    return dict({{"name", text(name)},
                 {"stage", text(stage)},
                 {"device", integer(1)},
                 {"time_us", integer(time)}});
  };
  object_ptr const shared = mark("step", "START", 1);
  snapshot const input = read(snapshot_object(
      {}, {},
      {{"external_annotations",
        list({shared, mark("step", "END", 2), shared, dict({{"stage", text("END")}})})}}));
  ASSERT_EQ(input.annotations.size(), 4U);
  EXPECT_TRUE(input.annotations[0].is_start);
  EXPECT_EQ(input.annotations[0].device, 1);
  EXPECT_FALSE(input.annotations[1].is_start);
  EXPECT_EQ(input.annotations[1].time_us, 2);
  EXPECT_EQ(input.strings[input.annotations[2].name], "step");
  EXPECT_EQ(input.strings[input.annotations[3].name], "");
}

TEST(row_sink, host_memory_is_counted_and_left_out) {
  snapshot const input = read(snapshot_object(
      {segment_object(0, {})}, {list({event_object("alloc", 1, 1)})},
      {{"host_segments", list({segment_object(4096, {}), segment_object(8192, {})})},
       {"host_traces", list({list({event_object("alloc", 7, 7)}), list({})})}}));
  EXPECT_EQ(input.segments.size(), 1U);
  EXPECT_EQ(input.traces.size(), 1U);
  EXPECT_EQ(input.traces[0].count, 1);
  EXPECT_EQ(defect(input, "host_memory_not_analysed"), 3);
  snapshot const flat =
      read(snapshot_object({}, {list({event_object("alloc", 1, 1)})},
                           {{"host_traces", list({event_object("alloc", 7, 7)})}}));
  EXPECT_EQ(defect(flat, "host_memory_not_analysed"), 1);
  // Host memory may come first, and alone.
  snapshot const host_first = read(dict({{"host_segments", list({segment_object(4096, {})})},
                                         {"segments", list({segment_object(0, {})})}}));
  ASSERT_EQ(host_first.segments.size(), 1U);
  EXPECT_EQ(host_first.segments[0].address, 0U);
}

TEST(row_sink, overflow_flags_at_top_level) {
  snapshot const scalar = read(snapshot_object(
      {}, {},
      {{"trace_alloc_overflowed", boolean(true)}, {"trace_alloc_max_entries", integer(1000)}}));
  EXPECT_EQ(setting_of(scalar, "trace_alloc_overflowed"), "true");
  EXPECT_EQ(setting_of(scalar, "trace_alloc_max_entries"), "1000");
  snapshot const lists =
      read(snapshot_object({}, {},
                           {{"trace_alloc_overflowed", list({boolean(false), boolean(true)})},
                            {"trace_alloc_max_entries", list({integer(10), integer(20)})}}));
  EXPECT_EQ(setting_of(lists, "trace_alloc_overflowed"), "[false,true]");
  EXPECT_EQ(setting_of(lists, "trace_alloc_max_entries"), "[10,20]");
}

TEST(row_sink, unknown_keys_at_top_level) {
  snapshot const input = read(snapshot_object({}, {}, {{"snapshot_metadata", dict({})}}));
  EXPECT_NE(defect_message(input, "unknown_keys").find("snapshot_metadata"), std::string::npos);
}

TEST(row_sink, dictionaries_that_look_alike) {
  // Same width, other keys; and more shapes than are remembered.
  std::vector<object_ptr> events;
  for (int row = 0; row < 100; ++row) {
    object_pairs pairs{{"action", text("alloc")}};
    for (int bit = 0; bit < 7; ++bit) {
      if ((row >> bit & 1) == 0) pairs.emplace_back("extra" + std::to_string(bit), integer(row));
    }
    pairs.emplace_back("addr", integer(row));
    events.push_back(dict(pairs));
    events.push_back(dict(pairs));
  }
  snapshot const input = read_events(events);
  ASSERT_EQ(input.events.size_rows(), 200U);
  for (std::size_t row = 0; row < 200; ++row) EXPECT_EQ(input.events.address[row], row / 2);
}

TEST(row_sink, dictionaries_wider_than_any_row) {
  object_pairs pairs{{"action", text("alloc")}};
  for (int row = 0; row < 40; ++row)
    pairs.emplace_back("extra" + std::to_string(row), integer(row));
  snapshot const input = read_events({event_object("alloc", 1, 1), dict(pairs)});
  EXPECT_EQ(input.traces[0].count, 1);
  EXPECT_EQ(defect(input, "foreign_items"), 1);
}

// ---- sharing without end

/// Refused, or read: but neither slowly nor with much memory.
template <class ActT>
void expect_quick(ActT act) {
  auto const start = std::chrono::steady_clock::now();
  act();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(row_sink, one_long_trace_for_ten_thousand_devices_is_refused) {
  std::vector<object_ptr> events(50'000, event_object("alloc", 1, 1));
  object_ptr const trace = list(events);
  expect_quick([&] {
    EXPECT_EQ(failure_of(snapshot_object({}, std::vector<object_ptr>(10'000, trace))).code(),
              error_code::refused);
  });
}

TEST(row_sink, one_long_block_list_for_ten_thousand_segments_is_refused) {
  object_ptr const blocks = list(std::vector<object_ptr>(50'000, block_object(0, 512, "inactive")));
  std::vector<object_ptr> segments;
  for (int row = 0; row < 10'000; ++row)
    segments.push_back(dict({{"blocks", blocks}, {"address", integer(row)}}));
  expect_quick(
      [&] { EXPECT_EQ(failure_of(snapshot_object(segments, {})).code(), error_code::refused); });
  object_ptr const one = dict({{"blocks", blocks}, {"address", integer(0)}});
  expect_quick([&] {
    EXPECT_EQ(failure_of(snapshot_object(std::vector<object_ptr>(10'000, one), {})).code(),
              error_code::refused);
  });
}

TEST(row_sink, too_many_devices_are_refused) {
  EXPECT_EQ(failure_of(snapshot_object({}, std::vector<object_ptr>(65'537, list({})))).code(),
            error_code::refused);
}

TEST(row_sink, a_list_of_frames_that_grows_by_one_is_bounded) {
  pickle_writer pickle;
  pickle.proto(2).empty_dict().mark().short_binunicode("filename").short_binunicode("a.py");
  pickle.setitems().binput(0).pop().empty_dict().short_binunicode("segments").empty_list();
  pickle.binput(1);
  for (int row = 0; row < 500'000; ++row) {
    pickle.mark().binget(0).appends();
    if (row % 5 == 0) pickle.binput(1);
  }
  pickle.setitem().stop();
  expect_quick([&] {
    snapshot const input = read_bytes(pickle.text());
    std::size_t frames = 0;
    for (std::uint32_t row = 0; row < input.stacks.size(); ++row)
      frames += input.stacks[stack_id{row}].size();
    EXPECT_LT(frames, 2'000'000U);
  });
}

TEST(row_sink, settings_said_over_and_over_are_bounded) {
  pickle_writer pickle;
  pickle.proto(2).empty_list().mark();
  for (int row = 0; row < 9000; ++row) pickle.binint2(row);
  pickle.appends().binput(0).pop().short_binunicode("trace_alloc_overflowed").binput(1).pop();
  pickle.empty_dict().mark().short_binunicode("segments").empty_list().setitems();
  for (int row = 0; row < 200'000; ++row) pickle.mark().binget(1).binget(0).setitems();
  pickle.stop();
  expect_quick([&] { EXPECT_EQ(read_bytes(pickle.text()).settings.size(), 1U); });
}

TEST(row_sink, a_block_list_that_grows_between_uses_is_bounded) {
  pickle_writer pickle;
  pickle.proto(2).empty_dict().mark();
  pickle.short_binunicode("size").binint1(1).short_binunicode("state").short_binunicode("inactive");
  pickle.setitems().binput(0).pop().short_binunicode("blocks").binput(1).pop();
  pickle.empty_list().binput(2);
  pickle.mark();
  for (int row = 0; row < 100'000; ++row) pickle.binget(0);
  pickle.appends();
  for (int row = 0; row < 20'000; ++row) {
    pickle.empty_dict().mark().binget(1).binget(2).setitems().pop();
    pickle.mark();
    for (int times = 0; times < 600; ++times) pickle.binget(0);
    pickle.appends();
    if (row > 500) break;
  }
  pickle.pop().empty_dict().short_binunicode("segments").empty_list().setitem().stop();
  expect_quick([&] {
    try {
      (void)read_bytes(pickle.text());
    } catch (error const& problem) {
      EXPECT_TRUE(problem.code() == error_code::refused || problem.code() == error_code::damaged);
    }
  });
}

}  // namespace
}  // namespace memreplay::reading
