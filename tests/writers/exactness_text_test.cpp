// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How a number says how well it is known.
#include "writers/exactness_text.hpp"

#include <gtest/gtest.h>

namespace memreplay::writers {
namespace {

TEST(exactness_text, exact_value_stands_alone) {
  EXPECT_EQ(exactness_text({true, 12'354'803'704, 12'354'803'704, ""}), "11.506 GiB");
}

TEST(exactness_text, interval_carries_its_reason) {
  EXPECT_EQ(exactness_text({false, 12'337'293'558, 12'369'505'812, "block sizes estimated"}),
            "11.49-11.52 GiB (block sizes estimated)");
  EXPECT_EQ(exactness_text({false, 100, 200, ""}), "100-200 B");
}

TEST(exactness_text, inexact_value_without_width_is_about) {
  EXPECT_EQ(exactness_text({false, 512, 512, "file cut"}), "about 512 B (file cut)");
}

TEST(exactness_text, digits_are_for_comparing_with_a_log) {
  EXPECT_EQ(exact_digits_text({true, 12'354'803'704, 12'354'803'704, ""}),
            " (12,354,803,704 bytes)");
  EXPECT_EQ(exact_digits_text({true, 512, 512, ""}), "");
  EXPECT_EQ(exact_digits_text({false, 4096, 8192, "file cut"}), "");
}

}  // namespace
}  // namespace memreplay::writers
