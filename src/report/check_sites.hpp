// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which site of a baseline is which site of a report.
#pragma once

#include <vector>

#include <memreplay/check_report.hpp>

namespace memreplay::reporting {

/// All sites of both, each once: by text, then, of those left, by function, where the lines of both
/// sides pair up in order. By size of the change, the growing one of equals first, then by text.
[[nodiscard]] std::vector<site_growth_row> match_baseline_sites(
    std::vector<site_row> const& baseline, std::vector<site_row> const& now);

}  // namespace memreplay::reporting
