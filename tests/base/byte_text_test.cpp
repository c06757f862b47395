// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How amounts of bytes read.
#include "base/byte_text.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace memreplay::base {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;
constexpr std::int64_t gib = 1024 * mib;

TEST(byte_text, takes_the_largest_unit_that_is_full) {
  EXPECT_EQ(byte_text(0), "0 B");
  EXPECT_EQ(byte_text(1), "1 B");
  EXPECT_EQ(byte_text(512), "512 B");
  EXPECT_EQ(byte_text(1023), "1023 B");
  EXPECT_EQ(byte_text(kib), "1.00 KiB");
  EXPECT_EQ(byte_text(1536), "1.50 KiB");
  EXPECT_EQ(byte_text(300 * kib), "300.00 KiB");
  EXPECT_EQ(byte_text(mib), "1.00 MiB");
  EXPECT_EQ(byte_text(12'354'803'704), "11.506 GiB");
  EXPECT_EQ(byte_text(1024 * gib), "1.000 TiB");
}

TEST(byte_text, rounding_up_moves_to_the_next_unit) {
  EXPECT_EQ(byte_text(mib - 1), "1.00 MiB");
  EXPECT_EQ(byte_text(gib - 1), "1.000 GiB");
  EXPECT_EQ(byte_text(1024 * gib - 1), "1.000 TiB");
  EXPECT_EQ(byte_text(mib - 6 * kib), "1018.00 KiB");
}

TEST(byte_text, negative_values_and_limits) {
  EXPECT_EQ(byte_text(-1536), "-1.50 KiB");
  EXPECT_EQ(byte_text(std::numeric_limits<std::int64_t>::max()), "8.000 EiB");
  EXPECT_EQ(byte_text(std::numeric_limits<std::int64_t>::min()), "-8.000 EiB");
}

TEST(signed_byte_text, every_change_has_its_sign) {
  EXPECT_EQ(signed_byte_text(0), "0 B");
  EXPECT_EQ(signed_byte_text(19 * gib / 2), "+9.500 GiB");
  EXPECT_EQ(signed_byte_text(-16 * mib / 5), "-3.20 MiB");
  EXPECT_EQ(signed_byte_text(1), "+1 B");
  EXPECT_EQ(signed_byte_text(std::numeric_limits<std::int64_t>::min()), "-8.000 EiB");
}

TEST(byte_range_text, shares_a_unit) {
  EXPECT_EQ(byte_range_text(12'337'293'558, 12'369'505'812), "11.49-11.52 GiB");
  EXPECT_EQ(byte_range_text(100, 200), "100-200 B");
  EXPECT_EQ(byte_range_text(0, 200), "0-200 B");
}

TEST(byte_range_text, takes_more_digits_to_tell_the_ends_apart) {
  EXPECT_EQ(byte_range_text(gib, gib + 512), "1.0000000-1.0000005 GiB");
}

TEST(byte_range_text, different_units_and_equal_ends) {
  EXPECT_EQ(byte_range_text(900 * mib, 2 * gib), "900.00 MiB - 2.000 GiB");
  EXPECT_EQ(byte_range_text(2 * gib, 2 * gib), "2.000 GiB");
}

}  // namespace
}  // namespace memreplay::base
