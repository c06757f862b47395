// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Cuts a trace into the parts that `steps`, `leaks` and `compare` go through.
#pragma once

#include <cstdint>
#include <optional>

#include <memreplay/questions.hpp>
#include <memreplay/snapshot.hpp>
#include <memreplay/step_report.hpp>

namespace memreplay::reporting {

/// Throws `error` (bad_request) that says what the file has instead. `automatic` means profiler
/// steps. Spans without an event in the trace are only counted.
[[nodiscard]] span_list find_spans(snapshot const& input, std::int32_t device,
                                   span_request const& asked);

/// Windows of so many microseconds from the earliest event on, the last one shorter; nothing when
/// the events carry no times.
[[nodiscard]] std::optional<span_list> time_windows(snapshot const& input, std::int32_t device,
                                                    std::int64_t window_us);

/// For `automatic` where there need not be profiler steps: those, or the repetitions of an
/// optimizer's step, or those of the curve, or a tenth of the trace each.
[[nodiscard]] span_list find_repetitions(snapshot const& input, std::int32_t device,
                                         span_request const& asked);

}  // namespace memreplay::reporting
