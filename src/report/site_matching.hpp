// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which site of one snapshot is which of another, though the code between them has moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/moment_report.hpp>
#include <memreplay/questions.hpp>

#include "report/sites.hpp"

namespace memreplay::reporting {

/// What one side holds at one site.
struct side_site {
  site where;
  std::int64_t bytes = 0;
  std::int64_t tensors = 0;
};

/// One of the two may be missing.
struct matched_sites {
  std::string text;
  std::optional<side_site> a, b;
};

/// Every site of both sides is in exactly one row. Rows are in no particular order.
///
/// `function` and `file` join the sites that share them. `site` goes function by function: where
/// the lines of one side are among those of the other, equal lines are one site; else, with as many
/// lines on both sides, the code has moved and they belong together in their order; else nobody can
/// tell, and the function is one row.
[[nodiscard]] std::vector<matched_sites> match_sites(std::vector<side_site> const& a,
                                                     std::vector<side_site> const& b,
                                                     site_match how);

/// Of two live sets. At most `limit` rows (0 = all), the others as the rest.
[[nodiscard]] site_deltas make_site_deltas(std::vector<side_site> const& a,
                                           std::vector<side_site> const& b, site_match how,
                                           std::int64_t limit);

}  // namespace memreplay::reporting
