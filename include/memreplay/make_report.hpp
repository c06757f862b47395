// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Joins a snapshot and its replay into the report model.
#pragma once

#include <string>

#include <memreplay/questions.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>
#include <memreplay/segment_report.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay {

/// `report`: the peaks and who holds them. `file` is the name to show.
[[nodiscard]] report make_report(snapshot const& input, replay_result const& replayed,
                                 replay_plan const& plan, report_options const& options,
                                 std::string const& file);

/// The plan of `info`: that of the command line, with the address maps of evenly spaced moments.
[[nodiscard]] replay_plan plan_info(snapshot const& input, std::int32_t device, replay_plan plan);

/// `info`: what is in the file. Same model, without peaks, with top allocators, streams, pools and
/// steps.
[[nodiscard]] report make_info(snapshot const& input, replay_result const& replayed,
                               replay_plan const& plan, report_options const& options,
                               std::string const& file);

/// `segments`: what lies where at a moment. The plan is made for each device once the snapshot is
/// read, and the report of the replays that followed it. Both throw `error` (bad_request) for a
/// moment that the trace does not have.
[[nodiscard]] replay_plan plan_segments(snapshot const& input, std::int32_t device,
                                        moment_request const& asked, replay_plan plan);
[[nodiscard]] segments_report make_segments(snapshot const& input, replay_result const& replayed,
                                            replay_plan const& plan, moment_request const& asked,
                                            report_options const& options, std::string const& file);

/// Ordinal of the trace with most events (the earliest of equals); when no trace has events, the
/// device with most segment bytes; 0 in an empty file.
[[nodiscard]] std::int32_t busiest_device(snapshot const& input);
/// Every ordinal with events or segments, ascending; {0} in an empty file.
[[nodiscard]] std::vector<std::int32_t> devices_in(snapshot const& input);

}  // namespace memreplay
