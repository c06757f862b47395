// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Rolls totals by stack up into a table by site.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>

#include "report/sites.hpp"

namespace memreplay::reporting {

/// What the stacks of one site hold together.
struct site_total {
  site_id id{};
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  stack_total largest;  ///< gives the call chain
};

/// In no particular order.
[[nodiscard]] std::vector<site_total> total_by_site(site_table& sites,
                                                    std::vector<stack_total> const& totals);

struct site_rows {
  std::vector<site_row> rows;  ///< bytes descending, then site, file, line
  rest_row rest;
};

/// At most `limit` rows (0 = all) and the rest; shares are of `whole_bytes`. Without any totals, as
/// of segments, which belong to no site, the whole is the rest.
[[nodiscard]] site_rows make_site_rows(site_table& sites, std::vector<stack_total> const& totals,
                                       std::int64_t whole_bytes, std::int64_t limit);

}  // namespace memreplay::reporting
