// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What happens in each part of a trace, from its events and the replay of its range.
#include "report/span_reports.hpp"

#include <utility>

#include "report/saturating.hpp"
#include "report/trace_view.hpp"

namespace memreplay::reporting {

std::vector<span_report> make_span_reports(snapshot const& input, device_replay const& replayed,
                                           std::vector<span> const& spans,
                                           std::vector<live_set> const& live) {
  trace_view const trace(input, replayed.device);
  live_history const& history = replayed.history;
  bool const has_completions = replayed.action_counts[static_cast<int>(action::free_completed)] > 0;
  action const frees = has_completions ? action::free_completed : action::free_requested;
  std::vector<span_report> made;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    range_replay const& range = replayed.ranges[row];
    span_report one;
    one.where = spans[row];
    for (event_index event = range.events.first; event <= range.events.last; ++event) {
      if (trace.what(event) == frees) ++one.free_count;
      if (trace.what(event) != action::alloc) continue;
      ++one.alloc_count;
      one.throughput_bytes = add_saturated(one.throughput_bytes, to_bytes(trace.size(event)));
    }
    one.start_bytes = range.start_bytes;
    one.end_bytes = range.end_bytes;
    one.end_delta = subtract_saturated(range.end_bytes, range.start_bytes);
    one.absolute_peak = range.peak_bytes;
    one.peak_delta = subtract_saturated(range.peak_bytes, range.start_bytes);
    one.peak_event = range.peak_event;
    std::size_t const at_peak = history.row_of(range.peak_event);
    one.reserved_at_peak_bytes = history.moments[at_peak].reserved_bytes;
    one.carried_in_bytes = live[at_peak].carried_in_bytes;
    one.live_count = live[at_peak].count;
    live_set const& at_start = live[history.row_of(range.events.first - 1)];
    live_set const& at_end = live[history.row_of(range.events.last)];
    one.unmatched_frees = at_start.carried_in_count - at_end.carried_in_count;
    one.unmatched_free_bytes =
        subtract_saturated(at_start.carried_in_bytes, at_end.carried_in_bytes);
    made.push_back(std::move(one));
  }
  return made;
}

replay_plan plan_spans(span_list const& cut, replay_plan plan) {
  plan.peak_count = 0;
  plan.timeline_width = 0;
  for (span const& one : cut.spans) plan.ranges.push_back(one.events);
  return plan;
}

}  // namespace memreplay::reporting
