// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Integers of any length, and the numbers and strings of protocol 0.
#include "pickle/number_text.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::pickle {
namespace {

value from_bytes(std::vector<std::uint8_t> const& bytes) { return integer_from_bytes(bytes); }

void expect_integer(value const& number, std::int64_t expected) {
  EXPECT_EQ(number.kind, value_kind::integer);
  EXPECT_EQ(static_cast<std::int64_t>(number.bits), expected);
}

TEST(number_text, integers_from_bytes) {
  expect_integer(from_bytes({}), 0);
  expect_integer(from_bytes({0x00}), 0);
  expect_integer(from_bytes({0xff}), -1);
  expect_integer(from_bytes({0x34, 0x12}), 0x1234);
  expect_integer(from_bytes({0, 0, 0, 0, 0, 0, 0, 0x80}), INT64_MIN);
  expect_integer(from_bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), INT64_MAX);
  expect_integer(from_bytes({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), 1);
  expect_integer(from_bytes(std::vector<std::uint8_t>(200, 0xff)), -1);
}

TEST(number_text, integers_beyond_63_bits) {
  value const half = from_bytes({0, 0, 0, 0, 0, 0, 0, 0x80, 0});
  EXPECT_EQ(half.kind, value_kind::unsigned_integer);
  EXPECT_EQ(half.bits, std::uint64_t{1} << 63);
  value const all = from_bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0});
  EXPECT_EQ(all.kind, value_kind::unsigned_integer);
  EXPECT_EQ(all.bits, ~std::uint64_t{0});
  EXPECT_EQ(from_bytes({0, 0, 0, 0, 0, 0, 0, 0, 1}).kind, value_kind::huge_integer);
  // -2^64 and -2^63 - 1 have no 64 bits either.
  EXPECT_EQ(from_bytes({0, 0, 0, 0, 0, 0, 0, 0, 0xff}).kind, value_kind::huge_integer);
  EXPECT_EQ(from_bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff}).kind,
            value_kind::huge_integer);
}

TEST(number_text, integers_from_text) {
  value number;
  ASSERT_TRUE(parse_integer("0", number));
  expect_integer(number, 0);
  ASSERT_TRUE(parse_integer("+12", number));
  expect_integer(number, 12);
  ASSERT_TRUE(parse_integer("-9223372036854775808", number));
  expect_integer(number, INT64_MIN);
  ASSERT_TRUE(parse_integer("9223372036854775808", number));
  EXPECT_EQ(number.kind, value_kind::unsigned_integer);
  ASSERT_TRUE(parse_integer("18446744073709551616", number));
  EXPECT_EQ(number.kind, value_kind::huge_integer);
  ASSERT_TRUE(parse_integer("-9223372036854775809", number));
  EXPECT_EQ(number.kind, value_kind::huge_integer);
  for (char const* text : {"", "+", "-", "x", "1x", " 1", "0x10", "1.0"})
    EXPECT_FALSE(parse_integer(text, number)) << text;
}

TEST(number_text, memo_indices) {
  std::uint64_t number = 0;
  EXPECT_TRUE(parse_unsigned("17", number));
  EXPECT_EQ(number, 17U);
  for (char const* text : {"", "-1", "1 ", "99999999999999999999"})
    EXPECT_FALSE(parse_unsigned(text, number)) << text;
}

TEST(number_text, reals) {
  double number = 0;
  EXPECT_TRUE(parse_real("1.5", number));
  EXPECT_EQ(number, 1.5);
  EXPECT_TRUE(parse_real("+2e3", number));
  EXPECT_EQ(number, 2000.0);
  EXPECT_TRUE(parse_real("-inf", number));
  EXPECT_LT(number, 0.0);
  for (char const* text : {"", "e", "1,5", "1.5x"}) EXPECT_FALSE(parse_real(text, number)) << text;
}

TEST(number_text, escaped_unicode) {
  EXPECT_EQ(unescape_unicode(""), "");
  EXPECT_EQ(unescape_unicode("model.py"), "model.py");
  EXPECT_EQ(unescape_unicode("\\u000a\\u005c"), "\n\\");
  EXPECT_EQ(unescape_unicode("\xe9"), "\xc3\xa9");
  EXPECT_EQ(unescape_unicode("\\u20ac"), "\xe2\x82\xac");
  EXPECT_EQ(unescape_unicode("\\U0001f600"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(unescape_unicode("\\ud800"), "\xed\xa0\x80");
  for (char const* text : {"\\", "\\u", "\\u12", "\\uzzzz", "\\U0001f60", "\\n", "C:\\temp"})
    EXPECT_EQ(unescape_unicode(text), text);
}

TEST(number_text, escaped_strings) {
  EXPECT_EQ(unescape_string("'alloc'"), "alloc");
  EXPECT_EQ(unescape_string("\"alloc\""), "alloc");
  EXPECT_EQ(unescape_string("'a\\n\\t\\r\\\\\\''"), "a\n\t\r\\'");
  EXPECT_EQ(unescape_string("'\\x41\\101'"), "AA");
  EXPECT_EQ(unescape_string("''"), "");
  EXPECT_EQ(unescape_string("bare"), "bare");
  EXPECT_EQ(unescape_string("'"), "'");
  EXPECT_EQ(unescape_string("'a\\'"), "a\\");
  EXPECT_EQ(unescape_string("'\\xzz'"), "xzz");
}

}  // namespace
}  // namespace memreplay::pickle
