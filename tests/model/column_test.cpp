// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The growing array of the event columns.
#include <memreplay/column.hpp>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(column, begins_empty) {
  column<std::int32_t> const values;
  EXPECT_TRUE(values.empty());
  EXPECT_EQ(values.size(), 0U);
  EXPECT_EQ(values.begin(), values.end());
  EXPECT_TRUE(values.view().empty());
}

TEST(column, grows_by_one) {
  column<std::int64_t> values;
  for (std::int64_t row = 0; row < 10'000; ++row) {
    values.push_back(row);
    ASSERT_EQ(values.back(), row);
  }
  EXPECT_EQ(values.size(), 10'000U);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), 49'995'000);
}

TEST(column, pushes_its_own_values) {
  column<std::int64_t> values;
  values.push_back(7);
  for (int row = 0; row < 1000; ++row) values.push_back(values[0]);
  EXPECT_EQ(values.back(), 7);
}

TEST(column, appends_many) {
  column<char> values;
  values.append({});
  EXPECT_TRUE(values.empty());
  std::vector<char> const many(100'000, 'x');
  values.append(std::span<char const>{many});
  values.append(std::span<char const>{many}.first(1));
  EXPECT_EQ(values.size(), 100'001U);
  EXPECT_EQ(values[100'000], 'x');
}

TEST(column, resizes_with_a_value) {
  column<std::uint8_t> values;
  values.resize(3, 9);
  values.resize(5, 1);
  EXPECT_EQ(std::vector<std::uint8_t>(values.begin(), values.end()),
            (std::vector<std::uint8_t>{9, 9, 9, 1, 1}));
  values.resize(2, 0);
  EXPECT_EQ(values.size(), 2U);
  values.resize(3, 4);
  EXPECT_EQ(values[2], 4);
}

TEST(column, gives_room_back) {
  column<std::int32_t> values;
  values.shrink_to_fit();
  values.resize(10, 3);
  values.shrink_to_fit();
  EXPECT_EQ(values.size(), 10U);
  values.clear();
  EXPECT_TRUE(values.empty());
  values.shrink_to_fit();
  EXPECT_TRUE(values.empty());
  values.push_back(1);
  EXPECT_EQ(values[0], 1);
}

TEST(column, moves) {
  column<std::int32_t> first;
  first.push_back(1);
  column<std::int32_t> second(std::move(first));
  EXPECT_EQ(second.size(), 1U);
  column<std::int32_t> third;
  third.push_back(2);
  third.push_back(3);
  third = std::move(second);
  ASSERT_EQ(third.size(), 1U);
  EXPECT_EQ(third[0], 1);
}

}  // namespace
}  // namespace memreplay
