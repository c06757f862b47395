// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// JSON tells the same listener the same things as a pickle.
#include "input/json_feed.hpp"

#include <bit>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/pickle_writer.hpp"
#include "support/sources.hpp"

namespace memreplay::input {
namespace {

using pickle::value;
using pickle::value_kind;
using testing::source_of;
using testing::stream_of;

/// Spells containers out; payloads are rows of `texts_`.
class spelling_sink final : public pickle::sink {
 public:
  std::uint64_t text(std::string_view content) override {
    names_.emplace_back(content);
    return names_.size() - 1;
  }
  std::uint64_t dict_items(std::uint64_t current, std::span<value const> items,
                           bool is_cut) override {
    EXPECT_EQ(items.size() % 2, 0U);
    std::string content;
    for (std::size_t at = 0; at + 1 < items.size(); at += 2)
      content += (at == 0 ? "" : ", ") + spell(items[at]) + ": " + spell(items[at + 1]);
    return add(current, content + (is_cut ? " CUT" : ""));
  }
  std::uint64_t list_items(std::uint64_t current, std::span<value const> items) override {
    largest_batch = std::max(largest_batch, items.size());
    std::string content;
    for (value const& item : items) content += (content.empty() ? "" : ", ") + spell(item);
    return add(current, content);
  }
  std::uint64_t tuple_items(std::span<value const> /*items*/) override {
    ADD_FAILURE() << "JSON has no tuples";
    return 1;
  }
  std::string spell(value const& item) const {
    switch (item.kind) {
      case value_kind::none: return "None";
      case value_kind::boolean: return item.bits != 0 ? "True" : "False";
      case value_kind::integer: return std::to_string(static_cast<std::int64_t>(item.bits));
      case value_kind::unsigned_integer: return std::to_string(item.bits) + "u";
      case value_kind::real: return fmt::format("{}f", std::bit_cast<double>(item.bits));
      case value_kind::text: return fmt::format("'{}'", names_.at(item.bits));
      case value_kind::list: return "[" + content_of(item.bits) + "]";
      case value_kind::dict: return "{" + content_of(item.bits) + "}";
      default: return "?";
    }
  }
  std::size_t largest_batch = 0;

 private:
  std::string content_of(std::uint64_t payload) const {
    return payload == 0 ? "" : texts_.at(payload - 1);
  }
  std::uint64_t add(std::uint64_t current, std::string const& more) {
    std::string const head = content_of(current);
    texts_.push_back(head + (head.empty() || more.empty() ? "" : ", ") + more);
    return texts_.size();
  }
  std::vector<std::string> names_;
  std::vector<std::string> texts_;
};

std::string spelled(std::string_view text, bool salvage = false) {
  spelling_sink listener;
  json_feed feed;
  value const root = feed.run(*source_of(text), listener, {.salvage = salvage, .on_read = {}});
  return listener.spell(root);
}

error failure_of(std::string_view text) {
  try {
    (void)spelled(text);
    ADD_FAILURE() << "no error: " << text.substr(0, 100);
  } catch (error const& problem) {
    return problem;
  }
  return {error_code::cannot_read, "none"};
}

TEST(json_feed, values) {
  EXPECT_EQ(spelled("[null, true, false, -1, 0, 1.5, 1e3, \"a\\u00e9\\n\"]"),
            "[None, True, False, -1, 0, 1.5f, 1000f, 'a\xc3\xa9\n']");
  EXPECT_EQ(spelled("[9223372036854775807, 9223372036854775808, 18446744073709551615]"),
            "[9223372036854775807, 9223372036854775808u, 18446744073709551615u]");
  EXPECT_EQ(spelled("[18446744073709551616]"), "[1.8446744073709552e+19f]");
  EXPECT_EQ(spelled("{\"a\": {\"b\": []}, \"c\": {}, \"a\": 2}"),
            "{'a': {'b': []}, 'c': {}, 'a': 2}");
  EXPECT_EQ(spelled("5"), "5");
}

TEST(json_feed, long_lists_come_in_batches) {
  std::string text = "[";
  std::string expected = "[";
  for (int row = 0; row < 2500; ++row) {
    text += (row == 0 ? "" : ",") + std::to_string(row);
    expected += (row == 0 ? "" : ", ") + std::to_string(row);
  }
  spelling_sink listener;
  json_feed feed;
  EXPECT_EQ(listener.spell(feed.run(*source_of(text + "]"), listener, {})), expected + "]");
  EXPECT_EQ(listener.largest_batch, 1000U);
}

TEST(json_feed, padding_is_ignored) {
  EXPECT_EQ(spelled(std::string_view("[1]\0\0\0", 6)), "[1]");
  EXPECT_EQ(spelled("\xef\xbb\xbf[1]\n"), "[1]");
}

TEST(json_feed, damage_has_a_place) {
  for (char const* text : {"", "[", "[1", "[1,", "{\"a\"", "{\"a\": }", "[1] 2", "nul",
                           "[\"\xff\"]", "[\"\\ud800\"]", "{1: 2}"}) {
    error const problem = failure_of(text);
    EXPECT_EQ(problem.code(), error_code::damaged) << text;
    EXPECT_TRUE(std::string(problem.what()).starts_with("damaged JSON: ")) << problem.what();
    EXPECT_TRUE(problem.byte_offset().has_value());
    EXPECT_LE(*problem.byte_offset(), std::string_view(text).size() + 1);
  }
}

TEST(json_feed, depth_is_bounded) {
  EXPECT_EQ(spelled(std::string(256, '[') + std::string(256, ']')).size(), 512U);
  EXPECT_EQ(failure_of(std::string(257, '[')).code(), error_code::refused);
  EXPECT_EQ(failure_of(std::string(std::size_t{4} << 20, '[')).code(), error_code::refused);
}

TEST(json_feed, one_value_is_bounded) {
  std::size_t const large = std::size_t{17} << 20;
  std::string const blanks(large, ' ');
  for (std::string const& text : {"[\"" + std::string(large, 'x') + "\"]", "[" + blanks + "]",
                                  "[1]" + blanks, "[" + std::string(large, '1') + "]"}) {
    EXPECT_EQ(failure_of(text).code(), error_code::refused);
  }
  std::string const most(std::size_t{15} << 20, 'x');
  EXPECT_EQ(spelled("[\"" + most + "\"]"), "['" + most + "']");
}

TEST(json_feed, pieces_of_any_size_tell_where_they_are) {
  std::string text = "[";
  while (text.size() < 1'000'000) text += "1, ";
  int reads = 0;
  spelling_sink listener;
  json_feed feed;
  (void)feed.run(*stream_of(text + "2]"), listener,
                 {.salvage = false, .on_read = [&] { ++reads; }});
  EXPECT_GT(reads, 4);
  error const problem = failure_of(text + "x]");
  EXPECT_EQ(problem.byte_offset(), text.size() + 1);
}

TEST(json_feed, salvage_closes_what_is_open) {
  EXPECT_EQ(spelled("[1, 2", true), "[1, 2]");
  EXPECT_EQ(spelled("{\"a\": 1, \"b\": [1, {\"c\": 2", true), "{'a': 1, 'b': [1] CUT}");
  EXPECT_EQ(spelled("{\"a\": 1, \"b", true), "{'a': 1 CUT}");
  EXPECT_EQ(spelled("", true), "None");
  json_feed feed;
  spelling_sink listener;
  (void)feed.run(*source_of("[1"), listener, {.salvage = true, .on_read = {}});
  EXPECT_TRUE(feed.is_cut());
  json_feed whole;
  (void)whole.run(*source_of("[1]"), listener, {.salvage = true, .on_read = {}});
  EXPECT_FALSE(whole.is_cut());
}

TEST(json_feed, truncated_at_every_byte) {
  std::string const whole = testing::write_json(testing::small_snapshot());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::vector<char> const cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    std::string_view const text(cut.data(), cut.size());
    EXPECT_EQ(failure_of(text).code(), error_code::damaged) << length;
    EXPECT_NO_THROW((void)spelled(text, true)) << length;
  }
}

}  // namespace
}  // namespace memreplay::input
