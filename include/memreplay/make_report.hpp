// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Joins a snapshot and its replay into the report model.
#pragma once

#include <string>

#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay {

/// `report`: the peaks and who holds them. `file` is the name to show.
[[nodiscard]] report make_report(snapshot const& input, replay_result const& replayed,
                                 replay_plan const& plan, report_options const& options,
                                 std::string const& file);

/// `info`: what is in the file. Same model, without peaks, with top allocators, streams, pools and
/// steps.
[[nodiscard]] report make_info(snapshot const& input, replay_result const& replayed,
                               replay_plan const& plan, report_options const& options,
                               std::string const& file);

/// Ordinal of the trace with most events (the earliest of equals); when no trace has events, the
/// device with most segment bytes; 0 in an empty file.
[[nodiscard]] std::int32_t busiest_device(snapshot const& input);
/// Every ordinal with events or segments, ascending; {0} in an empty file.
[[nodiscard]] std::vector<std::int32_t> devices_in(snapshot const& input);

}  // namespace memreplay
