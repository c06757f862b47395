// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Skipping gets 64 bytes at a time ends where one step after the other ends.
#include "pickle/gets.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "pickle/opcode.hpp"

namespace memreplay::pickle {
namespace {

using bytes = std::vector<std::uint8_t>;

std::size_t one_by_one(bytes const& run) {
  std::size_t at = 0;
  for (;;) {
    if (run.size() - at >= 5 && run[at] == opcode::long_binget) {
      at += 5;
    } else if (run.size() - at >= 2 && run[at] == opcode::binget) {
      at += 2;
    } else {
      return at;
    }
  }
}

std::size_t skipped(bytes const& run) {
  return static_cast<std::size_t>(end_of_gets(run.data(), run.data() + run.size()) - run.data());
}

TEST(gets, every_length_of_one_kind) {
  for (std::size_t length = 0; length < 400; ++length) {
    EXPECT_EQ(skipped(bytes(length, opcode::long_binget)), length / 5 * 5);
    EXPECT_EQ(skipped(bytes(length, opcode::binget)), length / 2 * 2);
  }
}

TEST(gets, operands_that_look_like_opcodes) {
  std::mt19937_64 dice(1);
  for (int times = 0; times < 20'000; ++times) {
    bytes run;
    for (std::size_t items = dice() % 80; items-- > 0;) {
      bool const is_long = dice() % 3 != 0;
      run.push_back(is_long ? opcode::long_binget : opcode::binget);
      for (int operand = is_long ? 4 : 1; operand-- > 0;) {
        static constexpr std::uint8_t lures[] = {opcode::long_binget, opcode::binget, 0, 'e'};
        run.push_back(lures[dice() % 4]);
      }
      if (dice() % 100 == 0) run.push_back(opcode::appends);
    }
    for (std::size_t rest = dice() % 8; rest-- > 0;)
      run.push_back(dice() % 2 == 0 ? opcode::long_binget : opcode::appends);
    ASSERT_EQ(skipped(run), one_by_one(run));
  }
}

}  // namespace
}  // namespace memreplay::pickle
