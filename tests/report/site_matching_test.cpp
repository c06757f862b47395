// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which site of A is which of B: equal lines, moved lines, lines nobody can tell apart; and deltas
// whose rows and rest add up.
#include "report/site_matching.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::reporting {
namespace {

side_site at(std::string const& function, std::string const& file, std::int64_t line,
             std::int64_t bytes, std::int64_t tensors = 1) {
  side_site made;
  made.where.function_key = function + "@" + file;
  made.where.file_key = file;
  made.where.text = made.where.function_key + ":" + std::to_string(line);
  made.where.line = line;
  made.bytes = bytes;
  made.tensors = tensors;
  return made;
}

using side = std::vector<side_site>;

/// `text A|B`, - where a side is missing, sorted.
std::vector<std::string> told(side const& a, side const& b, site_match how) {
  auto const bytes = [](std::optional<side_site> const& one) {
    return one ? std::to_string(one->bytes) : std::string("-");
  };
  std::vector<std::string> lines;
  for (matched_sites const& pair : match_sites(a, b, how))
    lines.push_back(pair.text + " " + bytes(pair.a) + "|" + bytes(pair.b));
  std::sort(lines.begin(), lines.end());
  return lines;
}

using lines = std::vector<std::string>;

TEST(match_sites, equal_lines_are_one_site) {
  EXPECT_EQ(told({at("f", "m.py", 4, 10)}, {at("f", "m.py", 4, 30)}, site_match::site),
            (lines{"f@m.py:4 10|30"}));
}

TEST(match_sites, a_line_that_moved_is_followed) {
  EXPECT_EQ(told({at("f", "m.py", 4, 10)}, {at("f", "m.py", 9, 30)}, site_match::site),
            (lines{"f@m.py:4->9 10|30"}));
  EXPECT_EQ(told({at("f", "m.py", 20, 2), at("f", "m.py", 4, 10)},
                 {at("f", "m.py", 9, 30), at("f", "m.py", 25, 3)}, site_match::site),
            (lines{"f@m.py:20->25 2|3", "f@m.py:4->9 10|30"}));
}

TEST(match_sites, a_new_line_beside_old_ones_is_new) {
  EXPECT_EQ(told({at("f", "m.py", 4, 10)}, {at("f", "m.py", 4, 10), at("f", "m.py", 9, 30)},
                 site_match::site),
            (lines{"f@m.py:4 10|10", "f@m.py:9 -|30"}));
  EXPECT_EQ(told({at("f", "m.py", 4, 10), at("f", "m.py", 9, 30)}, {at("f", "m.py", 9, 5)},
                 site_match::site),
            (lines{"f@m.py:4 10|-", "f@m.py:9 30|5"}));
}

TEST(match_sites, lines_that_nobody_can_tell_apart_are_their_function) {
  EXPECT_EQ(told({at("f", "m.py", 4, 10), at("f", "m.py", 8, 1)}, {at("f", "m.py", 9, 30)},
                 site_match::site),
            (lines{"f@m.py 11|30"}));
}

TEST(match_sites, functions_and_files_of_other_names_stay_apart) {
  side const a{at("f", "m.py", 4, 10)};
  side const b{at("g", "m.py", 4, 30), at("f", "n.py", 4, 7)};
  EXPECT_EQ(told(a, b, site_match::site),
            (lines{"f@m.py:4 10|-", "f@n.py:4 -|7", "g@m.py:4 -|30"}));
  EXPECT_EQ(told(a, b, site_match::function), (lines{"f@m.py 10|-", "f@n.py -|7", "g@m.py -|30"}));
  EXPECT_EQ(told(a, b, site_match::file), (lines{"m.py 10|30", "n.py -|7"}));
}

TEST(match_sites, function_joins_lines_and_file_joins_functions) {
  side const a{at("f", "m.py", 4, 10, 2), at("f", "m.py", 5, 20, 3), at("g", "m.py", 8, 1)};
  std::vector<matched_sites> const by_function = match_sites(a, {}, site_match::function);
  ASSERT_EQ(by_function.size(), 2U);
  EXPECT_EQ(by_function[0].a->bytes, 30);
  EXPECT_EQ(by_function[0].a->tensors, 5);
  EXPECT_FALSE(by_function[0].b.has_value());
  EXPECT_EQ(told(a, a, site_match::file), (lines{"m.py 31|31"}));
}

TEST(match_sites, duplicates_of_one_text_are_one_site) {
  EXPECT_EQ(told({at("f", "m.py", 4, 10), at("f", "m.py", 4, 5)}, {at("f", "m.py", 4, 30)},
                 site_match::site),
            (lines{"f@m.py:4 15|30"}));
}

TEST(match_sites, places_without_code) {
  side_site older;
  older.where.text = older.where.function_key = older.where.file_key = before_trace_text;
  older.bytes = 100;
  for (site_match const how : {site_match::site, site_match::function, site_match::file}) {
    EXPECT_EQ(told({older}, {older}, how), (lines{"before the trace 100|100"}));
    EXPECT_EQ(told({}, {older}, how), (lines{"before the trace -|100"}));
    EXPECT_TRUE(told({}, {}, how).empty());
  }
}

TEST(site_deltas, split_into_number_and_size) {
  site_deltas const made = make_site_deltas({at("f", "m.py", 4, 2048, 2)},
                                            {at("f", "m.py", 9, 6144, 3)}, site_match::site, 0);
  ASSERT_EQ(made.rows.size(), 1U);
  site_delta_row const& row = made.rows.front();
  EXPECT_EQ(row.site, "f@m.py:4->9");
  EXPECT_EQ(row.delta_bytes, 4096);
  EXPECT_EQ(row.from_count_bytes, 1024);
  EXPECT_EQ(row.from_size_bytes, 3072);
}

TEST(site_deltas, what_one_side_lacks_is_all_number) {
  site_deltas const made = make_site_deltas({at("f", "m.py", 4, 500, 5)},
                                            {at("g", "m.py", 4, 700, 7)}, site_match::site, 0);
  ASSERT_EQ(made.rows.size(), 2U);
  EXPECT_EQ(made.rows[0].site, "g@m.py:4");
  EXPECT_EQ(made.rows[0].from_count_bytes, 700);
  EXPECT_EQ(made.rows[1].from_count_bytes, -500);
  EXPECT_EQ(made.rows[0].from_size_bytes, 0);
  EXPECT_EQ(made.only_a.sites, 1);
  EXPECT_EQ(made.only_a.bytes, 500);
  EXPECT_EQ(made.only_a.tensors, 5);
  EXPECT_EQ(made.only_b.bytes, 700);
  EXPECT_EQ(made.only_b.tensors, 7);
}

TEST(site_deltas, a_short_list_keeps_the_largest_of_both_directions) {
  side const a{at("f", "a.py", 1, 1000), at("f", "b.py", 1, 100), at("f", "c.py", 1, 50)};
  side const b{at("f", "b.py", 1, 990), at("f", "c.py", 1, 60), at("f", "d.py", 1, 1)};
  site_deltas const made = make_site_deltas(a, b, site_match::site, 2);
  ASSERT_EQ(made.rows.size(), 2U);
  EXPECT_EQ(made.rows[0].delta_bytes, 890);
  EXPECT_EQ(made.rows[1].delta_bytes, -1000);
  EXPECT_EQ(made.rest_sites, 2);
  EXPECT_EQ(made.rest_a, 50);
  EXPECT_EQ(made.rest_b, 61);
  EXPECT_EQ(made.rest_delta, 11);
  EXPECT_EQ(made.only_b.bytes, 1) << "the rest counts, too";
}

TEST(site_deltas, rows_and_rest_are_exactly_the_totals) {
  std::mt19937 random(7);
  auto const below = [&random](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  auto const draw = [&below] {
    side made;
    for (int row = below(12); row > 0; --row) {
      made.push_back(
          at(std::string(1, "fgh"[below(3)]), "m.py", below(6), below(10'000), 1 + below(9)));
    }
    return made;
  };
  auto const sum_of = [](side const& sites) {
    std::int64_t sum = 0;
    for (side_site const& one : sites) sum += one.bytes;
    return sum;
  };
  for (int round = 0; round < 200; ++round) {
    side const a = draw();
    side const b = draw();
    for (site_match const how : {site_match::site, site_match::function, site_match::file}) {
      for (std::int64_t const limit : {0, 1, 3}) {
        site_deltas const made = make_site_deltas(a, b, how, limit);
        EXPECT_EQ(made.total_a, sum_of(a));
        EXPECT_EQ(made.total_b, sum_of(b));
        EXPECT_EQ(made.delta_bytes, made.total_b - made.total_a);
        std::int64_t bytes_a = made.rest_a, bytes_b = made.rest_b, delta = made.rest_delta;
        for (site_delta_row const& row : made.rows) {
          bytes_a += row.bytes_a;
          bytes_b += row.bytes_b;
          delta += row.delta_bytes;
          EXPECT_EQ(row.delta_bytes, row.bytes_b - row.bytes_a);
          EXPECT_EQ(row.from_count_bytes + row.from_size_bytes, row.delta_bytes);
        }
        EXPECT_EQ(bytes_a, made.total_a);
        EXPECT_EQ(bytes_b, made.total_b);
        EXPECT_EQ(delta, made.delta_bytes);
        EXPECT_TRUE(std::is_sorted(made.rows.begin(), made.rows.end(),
                                   [](site_delta_row const& left, site_delta_row const& right) {
                                     return left.delta_bytes > right.delta_bytes;
                                   }));
      }
    }
  }
}

}  // namespace
}  // namespace memreplay::reporting
