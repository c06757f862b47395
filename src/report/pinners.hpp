// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Who keeps nearly empty segments from being returned, and who holds the memory at all.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/oom_report.hpp>
#include <memreplay/replay.hpp>

#include "report/sites.hpp"

namespace memreplay::reporting {

struct pinners {
  std::vector<pinner_row> rows;  ///< stranded bytes descending, then site
  pinner_rest_row rest;
  std::int64_t pinned_bytes = 0;
  std::int64_t empty_segments = 0, empty_bytes = 0;  ///< without any block in use
};

/// Segments of which at least half is free. Each one's free bytes are charged to the site that
/// holds most bytes in it.
[[nodiscard]] pinners find_pinners(site_table& sites, address_map const& map, std::int64_t limit);

/// Bytes of all blocks in use by stack.
[[nodiscard]] std::vector<stack_total> total_in_use(address_map const& map);

}  // namespace memreplay::reporting
