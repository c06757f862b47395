// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Compares two kernel results to the byte, and names the first part that differs.
#pragma once

#include <gtest/gtest.h>

#include "kernels/kernel_api.hpp"

namespace memreplay::test {

[[nodiscard]] ::testing::AssertionResult results_equal(kernels::kernel_result const& left,
                                                       kernels::kernel_result const& right);

}  // namespace memreplay::test
