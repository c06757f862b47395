// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The profiler steps and annotations of a trace, as ranges of events.
#include "report/timeline_marks.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace memreplay::reporting {
namespace {

constexpr auto first_time = std::numeric_limits<std::int64_t>::min();
constexpr auto last_time = std::numeric_limits<std::int64_t>::max();

/// Every n-th of them, the first included, so that the marks reach to the end of the trace.
std::vector<timeline_step> thin_out(std::vector<timeline_step> const& steps, std::int64_t most) {
  auto const count = static_cast<std::int64_t>(steps.size());
  if (count <= most) return steps;
  std::vector<timeline_step> kept;
  std::int64_t const stride = (count + most - 1) / most;
  for (std::int64_t row = 0; row < count; row += stride)
    kept.push_back(steps[static_cast<std::size_t>(row)]);
  return kept;
}

}  // namespace

std::vector<timeline_step> make_timeline_steps(annotation_table const& annotations,
                                               trace_clock const& clock, std::int64_t most) {
  std::vector<timeline_step> made;
  if (!clock.has_times()) return made;
  for (step_row const& row : annotations.steps()) {
    event_range events =
        clock.range(row.start_us.value_or(first_time), row.end_us.value_or(last_time));
    if (!row.end_us) events.last = clock.events() - 1;
    if (events.is_empty()) continue;
    made.push_back({row.step, fmt::format("ProfilerStep#{}", row.step), events.first, events.last,
                    row.complete});
  }
  return thin_out(made, most);
}

std::vector<timeline_annotation> make_timeline_annotations(snapshot const& input,
                                                           std::int32_t device,
                                                           annotation_table const& annotations,
                                                           trace_clock const& clock,
                                                           std::int64_t most) {
  std::vector<timeline_annotation> made;
  if (!clock.has_times()) return made;
  for (annotation_range const& range : annotations.ranges_besides_steps(device)) {
    event_range const events = clock.range(range.start_us, range.end_us);
    event_index const last = range.has_end ? events.last : clock.events();
    if (last < events.first || events.first >= clock.events()) continue;
    made.push_back({std::string(input.strings[range.name]), events.first, last});
  }
  auto const is_longer = [](timeline_annotation const& left, timeline_annotation const& right) {
    event_index const a = left.last_event - left.first_event;
    event_index const b = right.last_event - right.first_event;
    return std::tie(b, left.first_event, left.name) < std::tie(a, right.first_event, right.name);
  };
  std::sort(made.begin(), made.end(), is_longer);
  if (static_cast<std::int64_t>(made.size()) > most) made.resize(static_cast<std::size_t>(most));
  // Those around others come before them.
  std::stable_sort(made.begin(), made.end(), [](auto const& left, auto const& right) {
    return left.first_event < right.first_event;
  });
  return made;
}

}  // namespace memreplay::reporting
