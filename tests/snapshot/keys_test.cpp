// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Spellings and sets of keys.
#include "snapshot/keys.hpp"

#include <string>

#include <gtest/gtest.h>

namespace memreplay::reading {
namespace {

TEST(keys, spellings) {
  EXPECT_EQ(find_key("action"), key::action);
  EXPECT_EQ(find_key("addr"), key::addr);
  EXPECT_EQ(find_key("address"), key::address);
  EXPECT_EQ(find_key("time_us"), key::time_us);
  EXPECT_EQ(find_key("segment_pool_id"), key::segment_pool_id);
  EXPECT_EQ(find_key("trace_alloc_max_entries"), key::trace_alloc_max_entries);
  for (std::string const text : {"", "Action", "action ", "brand_new"})
    EXPECT_EQ(find_key(text), key::unknown) << text;
  EXPECT_EQ(find_key(std::string(1'000'000, 'x')), key::unknown);
}

TEST(keys, sets) {
  key_set set(key::addr, key::size);
  EXPECT_TRUE(set.has(key::addr));
  EXPECT_FALSE(set.has(key::action));
  EXPECT_TRUE(set.has_any(key_set(key::action, key::size)));
  EXPECT_FALSE(set.has_any(key_set(key::action, key::frames)));
  set.insert(key::trace_alloc_max_entries);
  EXPECT_TRUE(set.has(key::trace_alloc_max_entries));
  set.erase(key::addr);
  EXPECT_FALSE(set.has(key::addr));
  EXPECT_TRUE(set.has(key::size));
}

}  // namespace
}  // namespace memreplay::reading
