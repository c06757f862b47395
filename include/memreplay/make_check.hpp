// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Baselines and checks against them, from a report with all rows (`top_contributors` 0).
#pragma once

#include <cstdint>
#include <string>

#include <memreplay/check_report.hpp>
#include <memreplay/report.hpp>

namespace memreplay {

/// What of a report a later run is held against.
[[nodiscard]] memory_baseline make_baseline(report const& model, site_options const& options);

/// Reads a file that `write_baseline` wrote. Safe for any bytes: throws `error` (cannot_read,
/// not_a_snapshot, damaged) with one line that names the file and the key.
[[nodiscard]] memory_baseline read_baseline(std::string const& path);

struct check_options {
  site_options site;      ///< the report's
  check_limits limits;    ///< growth needs a baseline
  std::int64_t top = 15;  ///< rows of the table of sites, 0 = all
  std::string baseline_file;
};

/// Holds a report against the limits and, unless that is null, a baseline. Throws `error`
/// (bad_request) when the two were not made with the same options, when the baseline lacks a device
/// of the report, and when a limit names a site that neither has.
[[nodiscard]] check_report make_check(report const& model, memory_baseline const* baseline,
                                      check_options const& options);

}  // namespace memreplay
