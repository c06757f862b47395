// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What stands out between two runs, each with its numbers.
#pragma once

#include <vector>

#include <memreplay/comparison.hpp>

namespace memreplay::reporting {

/// `device` is complete but for its findings.
[[nodiscard]] std::vector<finding> make_comparison_findings(
    device_comparison const& device, std::vector<setting_difference> const& settings);

}  // namespace memreplay::reporting
