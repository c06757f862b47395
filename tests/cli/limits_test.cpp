// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Limits as the user writes them.
#include "cli/limits.hpp"

#include <string>

#include <gtest/gtest.h>

#include "cli/request.hpp"

namespace memreplay::cli {
namespace {

using kind = memory_limit::kind;

void expect_limit(std::string const& word, kind how, std::int64_t amount) {
  memory_limit const made = parse_limit(word);
  EXPECT_EQ(made.how, how) << word;
  EXPECT_EQ(made.amount, amount) << word;
  EXPECT_EQ(made.text, word);
}

TEST(limits, forms) {
  expect_limit("5%", kind::percent, 50'000);
  expect_limit("+2.5%", kind::percent, 25'000);
  expect_limit("0%", kind::percent, 0);
  expect_limit("+64MiB", kind::growth_bytes, 64 << 20);
  expect_limit("+64MB", kind::growth_bytes, 64 << 20);
  expect_limit("+0", kind::growth_bytes, 0);
  expect_limit("70GiB", kind::cap_bytes, std::int64_t{70} << 30);
  expect_limit("4096", kind::cap_bytes, 4096);
  expect_limit("1.5GiB", kind::cap_bytes, 3 << 29);
  expect_limit("1.09 GB", kind::cap_bytes, 1'170'378'588);
  expect_limit("4611686018427387904", kind::cap_bytes, std::int64_t{1} << 62);
}

TEST(limits, what_is_none) {
  for (char const* word : {"",
                           "%",
                           "+",
                           "five",
                           "-5%",
                           "nan%",
                           "inf%",
                           "-1GiB",
                           "1.5.2%",
                           "MiB",
                           "3q",
                           "++1",
                           "1e9999%",
                           "99999999999999999999",
                           "9999999999GiB",
                           "16EiB",
                           "1.2.3GiB",
                           ".5GiB",
                           "4.1EiB",
                           "4611686018427387905"}) {
    EXPECT_THROW((void)parse_limit(word), CLI::ValidationError) << word;
  }
}

request asked(std::vector<std::string> const& words) {
  parsed const line = parse_command_line(words);
  EXPECT_TRUE(line.is_request) << line.text;
  return line.asked;
}

TEST(check_request, growth_has_a_default_with_a_baseline_only) {
  request const with = asked({"check", "a", "--baseline", "b"});
  ASSERT_TRUE(with.limits.every_measure);
  EXPECT_EQ(with.limits.every_measure->amount, 50'000);
  EXPECT_FALSE(with.limits.every_site);
  EXPECT_EQ(with.common.plan.peak_count, 1);
  EXPECT_EQ(with.common.site.rule, site_rule::user);
  EXPECT_FALSE(asked({"check", "a", "--limit", "peak=1GiB"}).limits.every_measure);
}

TEST(check_request, names_of_limits_may_hold_equal_signs) {
  request const made = asked({"check", "a", "--limit", "peak=1GiB", "--limit", "f@a=b.py:3=2MiB"});
  ASSERT_EQ(made.limits.named.size(), 2U);
  EXPECT_EQ(made.limits.named[0].first, "peak");
  EXPECT_EQ(made.limits.named[1].first, "f@a=b.py:3");
  EXPECT_EQ(made.limits.named[1].second.amount, 2 << 20);
}

TEST(check_request, what_cannot_be_checked) {
  for (std::vector<std::string> const& words : std::vector<std::vector<std::string>>{
           {"check", "a"},
           {"check", "a", "--max-growth", "5%"},
           {"check", "a", "--max-site-growth", "5%"},
           {"check", "a", "--limit", "peak=+1GiB"},
           {"check", "a", "--limit", "peak"},
           {"check", "a", "--limit", "=1GiB"},
           {"check", "a", "--baseline", "b", "--max-growth", "1GiB"},
           {"check", "a", "--baseline", "b", "--measure", "reserved", "--max-site-growth", "0%"}}) {
    parsed const line = parse_command_line(words);
    EXPECT_TRUE(line.is_error) << words.back();
    EXPECT_EQ(line.text.find('\n'), line.text.size() - 1) << line.text;
  }
}

}  // namespace
}  // namespace memreplay::cli
