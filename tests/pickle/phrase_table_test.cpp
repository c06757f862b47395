// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The table of phrases: one number a phrase, and equal hashes are told apart.
#include "pickle/phrase_table.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::pickle {
namespace {

using bytes = std::vector<std::uint8_t>;

bytes run_of(std::uint32_t number) {
  return {'j', static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number >> 16), 0};
}

TEST(phrase_table, numbers_in_order_of_first_appearance) {
  phrase_table table;
  for (std::uint32_t row = 0; row < 5000; ++row) EXPECT_EQ(table.intern(run_of(row)), row);
  for (std::uint32_t row = 0; row < 5000; ++row) EXPECT_EQ(table.intern(run_of(row)), row);
  EXPECT_EQ(table.size(), 5000U);
}

TEST(phrase_table, keeps_its_bytes_where_they_are) {
  phrase_table table;
  std::vector<phrase> kept;
  for (std::uint32_t row = 0; row < 200'000; ++row) {
    kept.push_back(table[table.intern(run_of(row))]);
  }
  for (std::uint32_t row = 0; row < 200'000; ++row)
    EXPECT_TRUE(std::ranges::equal(kept[row], run_of(row)));
}

TEST(phrase_table, equal_hashes_are_told_apart) {
  phrase_table table;
  for (std::uint32_t row = 0; row < 200; ++row) EXPECT_EQ(table.intern(run_of(row), 42), row);
  for (std::uint32_t row = 0; row < 200; ++row) EXPECT_EQ(table.intern(run_of(row), 42), row);
  EXPECT_EQ(table.intern(bytes{'h', 1}, 42), 200U);
}

TEST(phrase_table, stops_learning_at_its_limit) {
  phrase_table table;
  bytes large(std::size_t{40} << 20, 'h');
  EXPECT_EQ(table.intern(large), 0U);
  large.back() = 'x';
  EXPECT_EQ(table.intern(large), phrase_table::absent);
  EXPECT_EQ(table.intern(run_of(3)), 1U);
}

}  // namespace
}  // namespace memreplay::pickle
