// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Why a request failed, and what would have helped; docs/report-schema.md has the rules.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/allocator_rules.hpp>
#include <memreplay/oom_report.hpp>

#include "report/free_space.hpp"

namespace memreplay::reporting {

/// `device` is complete but for its verdict and advice.
[[nodiscard]] oom_verdict find_verdict(oom_device_report const& device, free_space const& space);

/// Only what applies and is not set already.
[[nodiscard]] std::vector<oom_advice> find_advice(report_header const& header,
                                                  oom_device_report const& device,
                                                  free_space const& space,
                                                  allocator_rules const& rules);

}  // namespace memreplay::reporting
