// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What happened shortly before a moment of a trace.
#pragma once

#include <cstdint>

#include <memreplay/oom_report.hpp>
#include <memreplay/snapshot.hpp>

#include "report/sites.hpp"
#include "report/trace_view.hpp"

namespace memreplay::reporting {

/// The events of the last `seconds` up to `moment`; the last 1000 where there are no times.
[[nodiscard]] last_events find_last_events(snapshot const& input, trace_view const& trace,
                                           event_index moment, double seconds, site_table& sites,
                                           std::int64_t limit);

}  // namespace memreplay::reporting
