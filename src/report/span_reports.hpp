// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What happens in each part of a trace, from its events and the replay of its range.
#pragma once

#include <functional>
#include <vector>

#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>
#include <memreplay/step_report.hpp>

#include "report/live_sets.hpp"

namespace memreplay::reporting {

/// One report for each span; `replayed.ranges` are those of the spans, in their order. `live` are
/// the live sets of the replay's history. Annotations and sites are left out.
[[nodiscard]] std::vector<span_report> make_span_reports(snapshot const& input,
                                                         device_replay const& replayed,
                                                         std::vector<span> const& spans,
                                                         std::vector<live_set> const& live);

/// The plan that such reports need.
[[nodiscard]] replay_plan plan_spans(span_list const& cut, replay_plan plan);

}  // namespace memreplay::reporting
