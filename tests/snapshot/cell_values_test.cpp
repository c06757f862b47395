// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Values of the wrong type, sign or size.
#include <chrono>

#include "snapshot/read_object.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;

snapshot read_size(object_ptr const& size, std::string_view action = "alloc") {
  return read_events({with(event_object(action, 4096, 1), {{"size", size}})});
}

TEST(cell_values, integers_may_be_floats) {
  EXPECT_EQ(read_size(real(1024.0)).events.size[0], 1024U);
  EXPECT_EQ(read_size(real(1024.75)).events.size[0], 1024U);
  EXPECT_EQ(read_size(boolean(true)).events.size[0], 1U);
  snapshot const input = read_events({dict({{"action", text("alloc")},
                                            {"addr", real(140'000'000'000'000.0)},
                                            {"size", real(512)},
                                            {"stream", real(0)},
                                            {"time_us", real(1'700'000'000'000'000.0)}})});
  EXPECT_EQ(input.events.address[0], 140'000'000'000'000U);
  EXPECT_EQ(input.events.time_us[0], 1'700'000'000'000'000);
  EXPECT_EQ(defect(input, "malformed_values"), 0);
}

TEST(cell_values, wrong_types_read_as_missing) {
  for (object_ptr const& odd : {text("512"), list({}), dict({{"a", integer(1)}}), real(1e300),
                                real(std::numeric_limits<double>::quiet_NaN()),
                                real(-std::numeric_limits<double>::infinity())}) {
    snapshot const input = read_size(odd);
    EXPECT_EQ(input.events.size[0], 0U);
    EXPECT_EQ(defect(input, "malformed_values"), 1);
  }
  snapshot const nothing = read_size(none());
  EXPECT_EQ(nothing.events.size[0], 0U);
  EXPECT_EQ(defect(nothing, "malformed_values"), 0);
}

TEST(cell_values, integers_beyond_64_bits_read_as_missing) {
  std::string bytes = write_python_pickle(
      snapshot_object({}, {list({event_object("alloc", 4096, 0x7bad'cafe'0000)})}), 4);
  pickle_writer const place = pickle_writer{}.long1({0, 0, 0xfe, 0xca, 0xad, 0x7b});
  pickle_writer const huge = pickle_writer{}.long1({0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  std::size_t const at = bytes.find(place.text());
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, place.text().size(), huge.text());
  snapshot const input = read_bytes(bytes);
  EXPECT_EQ(input.events.size[0], 0U);
  EXPECT_EQ(defect(input, "malformed_values"), 1);
}

TEST(cell_values, negative_sizes_read_as_zero) {
  for (object_ptr const& size : {integer(-5), integer(INT64_MIN), real(-5.0)}) {
    snapshot const input = read_size(size);
    EXPECT_EQ(input.events.size[0], 0U);
    EXPECT_EQ(defect(input, "negative_sizes"), 1);
  }
}

TEST(cell_values, huge_sizes_are_refused) {
  std::int64_t const limit = std::int64_t{1} << 48;
  EXPECT_EQ(read_size(integer(limit)).events.size[0], static_cast<std::uint64_t>(limit));
  for (char const* action : {"alloc", "segment_unmap", "oom", "snapshot"}) {
    for (object_ptr const& size : {integer(limit + 1), unsigned_integer(UINT64_MAX), real(1e19)}) {
      error const problem = failure_of(
          snapshot_object({}, {list({with(event_object(action, 4096, 1), {{"size", size}})})}));
      EXPECT_EQ(problem.code(), error_code::refused) << action;
    }
  }
  EXPECT_EQ(failure_of(snapshot_object({}, {list({dict({{"action", text("oom")},
                                                        {"device_free", integer(limit + 1)},
                                                        {"size", integer(1)}})})}))
                .code(),
            error_code::refused);
  EXPECT_EQ(
      failure_of(snapshot_object({segment_object(0, {}, {{"total_size", integer(limit + 1)}})}, {}))
          .code(),
      error_code::refused);
  EXPECT_EQ(
      failure_of(snapshot_object({segment_object(0, {block_object(0, limit + 1, "inactive")})}, {}))
          .code(),
      error_code::refused);
}

TEST(cell_values, sums_of_sizes_are_bounded) {
  std::vector<object_ptr> const events((std::size_t{1} << 14) + 1,
                                       event_object("alloc", 4096, std::int64_t{1} << 48));
  EXPECT_EQ(failure_of(snapshot_object({}, {list(events)})).code(), error_code::refused);
}

TEST(cell_values, stale_requests_of_inactive_blocks_do_not_matter) {
  snapshot const input = read(
      snapshot_object({segment_object(0,
                                      {with(block_object(0, 512, "inactive"),
                                            {{"requested_size", unsigned_integer(UINT64_MAX)}})},
                                      {{"requested_size", integer(0)}})},
                      {}));
  EXPECT_EQ(input.blocks.size(), 1U);
}

TEST(cell_values, texts_that_are_no_utf8_survive) {
  snapshot const input = read_events({event_object(
      "alloc", 1, 1, {{"frames", list({frame_object("a\xed\xa0\x80", "\xff\xfe.py", 1)})}})});
  EXPECT_EQ(stack_text(input, input.events.stack[0]), "[a\xed\xa0\x80@\xff\xfe.py:1]");
}

TEST(cell_values, texts_of_the_wrong_type) {
  snapshot const input = read_events({event_object(
      "alloc", 1, 1,
      {{"frames",
        list({dict({{"name", integer(5)}, {"filename", none()}, {"line", text("x")}})})}})});
  EXPECT_EQ(stack_text(input, input.events.stack[0]), "[5@:0]");
}

TEST(cell_values, a_long_text_is_hashed_once_not_once_a_row) {
  // 4 MiB of text that 100'000 events share twice.
  object_ptr const one = text(std::string(std::size_t{4} << 20, 'x'));
  object_ptr const two = text(std::string(std::size_t{4} << 20, 'y'));
  object_ptr const odd = dict({{"a", text(std::string(500'000, 'z'))}});
  std::vector<object_ptr> events;
  for (int row = 0; row < 100'000; ++row) {
    events.push_back(dict({{"action", text("alloc")},
                           {"user_metadata", row % 3 == 0   ? one
                                             : row % 3 == 1 ? two
                                                            : odd},
                           {"compile_context", two}}));
  }
  auto const start = std::chrono::steady_clock::now();
  snapshot const input = read_events(events);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(input.strings[input.events.compile_context[5]].size(), std::size_t{4} << 20);
}

}  // namespace
}  // namespace memreplay::reading
