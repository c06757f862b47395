// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Joins a snapshot and its replay into the model of `memreplay oom`.
#pragma once

#include <string>

#include <memreplay/oom_report.hpp>
#include <memreplay/questions.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay {

/// Sizes beyond this are no sizes.
inline constexpr std::int64_t most_request_bytes = std::int64_t{1} << 62;

/// What the replay shall compute for `make_oom_report`: the address map of the moment, unless the
/// end of the file shows it. Throws `error` (bad_request) for an event outside the trace.
[[nodiscard]] replay_plan plan_oom(snapshot const& input, std::int32_t device,
                                   failed_request const& asked, replay_plan plan);

/// `replayed` holds the devices to show, each with the map of its moment where that needs one.
/// Throws `error` (bad_request) for a question that the file cannot answer.
[[nodiscard]] oom_report make_oom_report(snapshot const& input, replay_result const& replayed,
                                         replay_plan const& plan, failed_request const& asked,
                                         report_options const& options, std::string const& file);

}  // namespace memreplay
