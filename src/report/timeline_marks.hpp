// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The profiler steps and annotations of a trace, as ranges of events.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/snapshot.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/annotations.hpp"
#include "report/trace_clock.hpp"

namespace memreplay::reporting {

/// Ascending by number, evenly spread where there are more than `most`. None in a trace without
/// times.
[[nodiscard]] std::vector<timeline_step> make_timeline_steps(annotation_table const& annotations,
                                                             trace_clock const& clock,
                                                             std::int64_t most);

/// Those of the device that hold events of the trace, ascending by first event; the `most` that
/// hold most events. None in a trace without times.
[[nodiscard]] std::vector<timeline_annotation> make_timeline_annotations(
    snapshot const& input, std::int32_t device, annotation_table const& annotations,
    trace_clock const& clock, std::int64_t most);

}  // namespace memreplay::reporting
