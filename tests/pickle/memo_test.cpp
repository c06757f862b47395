// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The memo gives back the words it was given, whatever they are.
#include "pickle/memo.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace memreplay::pickle {
namespace {

TEST(memo, words_of_every_shape) {
  std::mt19937_64 dice(1);
  memo slots;
  std::map<std::uint64_t, std::uint64_t> expected;
  EXPECT_EQ(slots[0], memo::unset);
  for (int times = 0; times < 100'000; ++times) {
    // More kinds than there are groups, and numbers too large for a cell.
    auto const kind = static_cast<std::uint8_t>(dice() % 12);
    std::uint64_t payload = dice() % 5 << 48 | dice() % 1000;
    if (dice() % 10 == 0) payload = dice() & memo::payload_mask;
    if (dice() % 10 == 0) payload = (std::uint64_t{1} << 27) - dice() % 3;
    std::uint64_t const word = dice() % 20 == 0 ? 0 : memo::word(kind, payload);
    if (dice() % 3 == 0) {
      expected[slots.size()] = word;
      slots.append(word);
    } else {
      std::uint64_t const slot = dice() % 50'000;
      expected[slot] = word;
      slots.store(slot, word, 40'000);
    }
  }
  for (std::uint64_t slot = 0; slot < 120'000; ++slot) {
    auto const found = expected.find(slot);
    ASSERT_EQ(slots[slot], found == expected.end() ? memo::unset : found->second) << slot;
  }
}

}  // namespace
}  // namespace memreplay::pickle
