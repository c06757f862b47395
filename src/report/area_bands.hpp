// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Splits the measured curve into stacked areas, one a site.
#pragma once

#include <cstdint>

#include <memreplay/replay.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/shown_stacks.hpp"
#include "report/sites.hpp"
#include "report/trace_clock.hpp"

namespace memreplay::reporting {

/// At the start, at the end, and where each of the replayed ranges peaks. The `most_sites` with the
/// greatest areas come first, the largest of all as the first row.
[[nodiscard]] area_bands make_area_bands(device_replay const& replayed, trace_clock const& clock,
                                         site_table& sites, stack_collector& stacks,
                                         std::int64_t most_sites);

}  // namespace memreplay::reporting
