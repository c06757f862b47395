// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Foreign text on a terminal or page, and small numbers in words.
#include "writers/plain_text.hpp"

#include <gtest/gtest.h>

namespace memreplay::writers {
namespace {

TEST(clean_line, keeps_text_of_any_language) {
  EXPECT_EQ(clean_line("for\u00e9t/\u6a21\u578b.py \U0001F525"),
            "for\u00e9t/\u6a21\u578b.py \U0001F525");
}

TEST(clean_line, makes_one_line_without_terminal_escapes) {
  EXPECT_EQ(clean_line("a\nb\tc"), "a b c");
  EXPECT_EQ(clean_line("\x1b[31mred"), "\uFFFD[31mred");
  EXPECT_EQ(clean_line("a\u202Eb"), "a\uFFFDb");
  EXPECT_EQ(clean_line("a\u200Fb\u061C"), "a\uFFFDb\uFFFD");
}

TEST(clean_line, replaces_what_is_no_utf8) {
  EXPECT_EQ(clean_line("a\xED\xA0\x80z"), "a\uFFFD\uFFFD\uFFFDz");  // a lone surrogate
  EXPECT_EQ(clean_line("\xFFz"), "\uFFFDz");
  EXPECT_EQ(clean_line("\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(clean_line("\xC0\x80"), "\uFFFD\uFFFD");
}

TEST(display_width, counts_what_a_terminal_shows) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("model.py"), 8U);
  EXPECT_EQ(display_width("for\u00e9t"), 5U);
  EXPECT_EQ(display_width("fore\u0301t"), 5U);  // the accent joins its letter
  EXPECT_EQ(display_width("\u6a21\u578b.py"), 7U);
  EXPECT_EQ(display_width("\U0001F525"), 2U);
  EXPECT_EQ(display_width("\uFFFD"), 1U);
}

TEST(count_text, groups_digits) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(-1'234), "-1,234");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(count_text(1, "event"), "1 event");
  EXPECT_EQ(count_text(2'000, "event"), "2,000 events");
}

TEST(signed_count_text, every_change_has_its_sign) {
  EXPECT_EQ(signed_count_text(0), "0");
  EXPECT_EQ(signed_count_text(1'234), "+1,234");
  EXPECT_EQ(signed_count_text(-1'234), "-1,234");
}

TEST(share_text, never_prints_something_as_nothing) {
  EXPECT_EQ(share_text(0.0), "0.0");
  EXPECT_EQ(share_text(0.001), "<0.1");
  EXPECT_EQ(share_text(12.34), "12.3");
  EXPECT_EQ(share_text(100.0), "100.0");
}

TEST(event_text, names_the_time_before_the_trace) {
  EXPECT_EQ(event_text(-1), "before the first event");
  EXPECT_EQ(event_text(12'345), "at event 12,345");
}

}  // namespace
}  // namespace memreplay::writers
