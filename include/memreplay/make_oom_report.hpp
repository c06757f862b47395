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

/// The moment that `memreplay oom` looks at.
struct oom_moment {
  event_index event = before_trace;  ///< after this one
  bool is_oom_event = false;
  /// Memory changed after it, so the end of the file does not show it: `replay_plan::maps` must
  /// name it.
  bool needs_map = false;
};

/// The last `oom` event of the device, or the event that was asked for, else the end. Throws
/// `error` (bad_request) for an event outside the trace.
[[nodiscard]] oom_moment find_oom_moment(snapshot const& input, std::int32_t device,
                                         failed_request const& asked);

/// `replayed` holds the devices to show, each with the map of its moment where that needs one.
/// Throws `error` (bad_request) for a question that the file cannot answer.
[[nodiscard]] oom_report make_oom_report(snapshot const& input, replay_result const& replayed,
                                         replay_plan const& plan, failed_request const& asked,
                                         report_options const& options, std::string const& file);

}  // namespace memreplay
