// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The table of get runs: finds what it learnt, forgets it on demand, and tells equal hashes apart.
#include "pickle/gets_cache.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::pickle {
namespace {

using run = std::vector<std::uint8_t>;

run run_of(std::uint32_t number) {
  return {'j', static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number >> 16), 0};
}

TEST(gets_cache, finds_what_it_learnt) {
  gets_cache cache;
  EXPECT_FALSE(cache.find(run_of(1), gets_cache::hash(run_of(1))));
  for (std::uint32_t row = 0; row < 5000; ++row)
    cache.add(run_of(row), gets_cache::hash(run_of(row)), row + 1);
  for (std::uint32_t row = 0; row < 5000; ++row)
    EXPECT_EQ(cache.find(run_of(row), gets_cache::hash(run_of(row))), row + 1);
  EXPECT_FALSE(cache.find(run_of(5000), gets_cache::hash(run_of(5000))));
}

TEST(gets_cache, equal_hashes_are_told_apart) {
  gets_cache cache;
  for (std::uint32_t row = 0; row < 200; ++row) cache.add(run_of(row), 42, row);
  for (std::uint32_t row = 0; row < 200; ++row) EXPECT_EQ(cache.find(run_of(row), 42), row);
  EXPECT_FALSE(cache.find(run_of(200), 42));
  EXPECT_FALSE(cache.find(run{'h', 1}, 42));
}

TEST(gets_cache, forgets) {
  gets_cache cache;
  cache.clear();
  cache.add(run_of(1), gets_cache::hash(run_of(1)), 1);
  cache.clear();
  EXPECT_FALSE(cache.find(run_of(1), gets_cache::hash(run_of(1))));
  cache.add(run_of(1), gets_cache::hash(run_of(1)), 2);
  EXPECT_EQ(cache.find(run_of(1), gets_cache::hash(run_of(1))), 2U);
}

TEST(gets_cache, stops_learning_at_its_limit) {
  gets_cache cache;
  run const large(std::size_t{40} << 20, 'h');
  cache.add(large, 1, 1);
  cache.add(large, 2, 2);
  EXPECT_EQ(cache.find(large, 1), 1U);
  EXPECT_FALSE(cache.find(large, 2));
  cache.add(run_of(3), 3, 3);
  EXPECT_EQ(cache.find(run_of(3), 3), 3U);
}

}  // namespace
}  // namespace memreplay::pickle
