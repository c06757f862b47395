// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How a device's memory was cut up, at a few moments of its trace.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

#include "report/trace_view.hpp"

namespace memreplay::reporting {

/// At most twelve moments at equal distances, and the end: ascending, none twice.
[[nodiscard]] std::vector<event_index> fragmentation_moments(std::int64_t events);

/// A row for each map of the replay, by event, those of one event once. None where no segment is
/// known at all.
[[nodiscard]] std::vector<fragmentation_row> make_fragmentation(snapshot const& input,
                                                                trace_view const& trace,
                                                                device_replay const& replayed);

}  // namespace memreplay::reporting
