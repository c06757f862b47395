// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Settings and odd metadata: kept as JSON, within bounds even where a file shares values
// exponentially.
#include "snapshot/loose_values.hpp"

#include <chrono>

#include "snapshot/read_object.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;

snapshot read_settings(object_ptr const& settings) {
  return read(snapshot_object({}, {list({event_object("alloc", 1, 1)})},
                              {{"allocator_settings", settings}}));
}

TEST(loose_values, settings) {
  snapshot const input = read_settings(
      dict({{"PYTORCH_CUDA_ALLOC_CONF", text("max_split_size_mb:128")},
            {"max_split_size", integer(-1)},
            {"garbage_collection_threshold", real(0.5)},
            {"expandable_segments", boolean(false)},
            {"nothing", none()},
            {"roundup_power2_divisions", dict({{"1", integer(0)}, {"32768", integer(8)}})},
            {"per_device", list({integer(1), integer(2)})},
            {"triple", tuple({integer(1), integer(2), text("x")})},
            {"empty", dict({})}}));
  EXPECT_EQ(setting_of(input, "PYTORCH_CUDA_ALLOC_CONF"), "\"max_split_size_mb:128\"");
  EXPECT_EQ(setting_of(input, "max_split_size"), "-1");
  EXPECT_EQ(setting_of(input, "garbage_collection_threshold"), "0.5");
  EXPECT_EQ(setting_of(input, "expandable_segments"), "false");
  EXPECT_EQ(setting_of(input, "nothing"), "null");
  EXPECT_EQ(setting_of(input, "roundup_power2_divisions.1"), "0");
  EXPECT_EQ(setting_of(input, "roundup_power2_divisions.32768"), "8");
  EXPECT_EQ(setting_of(input, "per_device"), "[1,2]");
  EXPECT_EQ(setting_of(input, "triple"), "[1,2,\"x\"]");
  EXPECT_EQ(defect(input, "left_out_values"), 0);
}

TEST(loose_values, settings_of_the_wrong_type_are_none) {
  for (object_ptr const& odd : {none(), integer(5), list({}), text("x")})
    EXPECT_TRUE(read_settings(odd).settings.empty());
}

TEST(loose_values, texts_that_are_no_utf8_become_valid_json) {
  snapshot const input = read_settings(dict({{"conf", text("\xff")}}));
  EXPECT_EQ(setting_of(input, "conf"), "\"\xef\xbf\xbd\"");
}

TEST(loose_values, nesting_is_bounded) {
  object_ptr deep = integer(1);
  for (int level = 0; level < 100; ++level) deep = dict({{"a", deep}, {"b", deep}});
  snapshot const input = read_settings(deep);
  EXPECT_GT(defect(input, "left_out_values"), 0);
}

TEST(loose_values, laughing_containers_are_bounded) {
  // 100 levels that hold ten times the level below: 10^100 values.
  object_ptr lol = list({text("lol"), text("lol"), text("lol")});
  for (int level = 0; level < 100; ++level) lol = list(std::vector<object_ptr>(10, lol));
  auto const start = std::chrono::steady_clock::now();
  snapshot const input = read_settings(dict({{"lol", lol}, {"conf", text("kept")}}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_GT(defect(input, "left_out_values"), 0);
  EXPECT_EQ(setting_of(input, "conf"), "\"kept\"");
}

TEST(loose_values, laughing_texts_are_bounded) {
  // One text of a megabyte, named half a million times: 500 GB.
  object_ptr const wide = text(std::string(std::size_t{1} << 20, 'x'));
  object_pairs pairs{{"conf", text("kept")}};
  for (int row = 0; row < 100; ++row) {
    pairs.emplace_back("wide " + std::to_string(row), list(std::vector<object_ptr>(5000, wide)));
  }
  auto const start = std::chrono::steady_clock::now();
  snapshot const input = read_settings(dict(pairs));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_GT(defect(input, "left_out_values"), 400'000);
  EXPECT_EQ(setting_of(input, "conf"), "\"kept\"");
  std::size_t bytes = 0;
  for (setting const& entry : input.settings) bytes += entry.value.size();
  EXPECT_LT(bytes, std::size_t{100} << 20);
}

TEST(loose_values, laughing_keys_are_bounded) {
  std::string const wide(std::size_t{1} << 20, 'x');
  object_pairs pairs;
  for (int row = 0; row < 2000; ++row)
    pairs.emplace_back("row " + std::to_string(row), dict({{wide, integer(row)}}));
  snapshot const input = read_settings(dict(pairs));
  EXPECT_EQ(defect(input, "left_out_values"), 2000);
}

TEST(loose_values, shared_metadata_is_written_out_once) {
  std::vector<object_ptr> many;
  for (int row = 0; row < 9000; ++row) many.push_back(integer(row));
  object_ptr const one = dict({{"rows", list(many)}});
  object_ptr const two = dict({{"rows", list(many)}, {"other", integer(1)}});
  std::vector<object_ptr> events;
  for (int row = 0; row < 100'000; ++row)
    events.push_back(
        dict({{"action", text("alloc")}, {"user_metadata", row % 2 == 0 ? one : two}}));
  auto const start = std::chrono::steady_clock::now();
  snapshot const input = read_events(events);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_TRUE(input.strings[input.events.user_metadata[0]].starts_with("{\"rows\":[0,1,2,"));
}

}  // namespace
}  // namespace memreplay::reading
