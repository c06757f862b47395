// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Cuts a trace into the parts that `steps`, `leaks` and `compare` go through.
#include "report/spans.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <memreplay/error.hpp>

#include "report/annotations.hpp"
#include "report/period.hpp"
#include "report/saturating.hpp"
#include "report/trace_clock.hpp"

namespace memreplay::reporting {
namespace {

constexpr std::size_t most_names_told = 5;
constexpr std::int64_t windows_of_a_trace = 10;
constexpr std::size_t fewest_repetitions = 3;

/// What a file without the wanted marks has instead.
std::string what_there_is(snapshot const& input) {
  annotation_rest_row rest;
  std::vector<annotation_row> const names =
      annotation_table(input).most_frequent(most_names_told, rest);
  if (names.empty()) {
    return "the file has no annotations at all: --by auto follows the repetitions of the curve";
  }
  std::string list;
  for (annotation_row const& row : names) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", row.name, row.count);
  }
  if (rest.names > 0) list += fmt::format(" and {} more", rest.names);
  return fmt::format("it has {}: use --by NAME, or --by auto for the repetitions of the curve",
                     list);
}

/// Adds the span unless none of the trace's events are in it.
void add(trace_clock const& clock, span made, span_list& out) {
  constexpr auto first_time = std::numeric_limits<std::int64_t>::min();
  constexpr auto last_time = std::numeric_limits<std::int64_t>::max();
  made.is_complete = made.start_us && made.end_us;
  if (made.is_complete) {
    made.duration_ms =
        (static_cast<double>(*made.end_us) - static_cast<double>(*made.start_us)) / 1e3;
  }
  made.events = clock.range(made.start_us.value_or(first_time), made.end_us.value_or(last_time));
  if (!made.end_us) made.events.last = clock.events() - 1;
  if (made.events.is_empty()) {
    ++out.outside;
    return;
  }
  out.spans.push_back(std::move(made));
}

void need_times(trace_clock const& clock) {
  if (clock.has_times()) return;
  throw error(error_code::bad_request,
              "this file's events carry no times, so annotations cannot be found in the trace",
              "--by auto follows the repetitions of the curve");
}

span_list profiler_steps(snapshot const& input, std::int32_t device) {
  std::vector<step_row> const rows = annotation_table(input).steps();
  if (rows.empty()) {
    throw error(error_code::bad_request, "this file has no ProfilerStep annotations",
                what_there_is(input));
  }
  trace_clock const clock(input, device);
  need_times(clock);
  span_list made{span_request::kind::steps, "profiler steps", {}, 0};
  for (step_row const& row : rows) {
    add(clock,
        {fmt::format("ProfilerStep#{}", row.step),
         row.step,
         {},
         row.start_us,
         row.end_us,
         {},
         true},
        made);
  }
  return made;
}

span_list annotation_spans(snapshot const& input, std::int32_t device, std::string const& name) {
  span_list made{span_request::kind::annotation, "ranges of " + name, {}, 0};
  std::vector<annotation_range> ranges;
  bool names_device = false;
  for (annotation_range const& range : pair_annotations(input)) {
    if (input.strings[range.name] != name) continue;
    names_device = names_device || range.device == device;
    ranges.push_back(range);
  }
  if (ranges.empty()) {
    throw error(error_code::bad_request, fmt::format("this file has no annotation {}", name),
                what_there_is(input));
  }
  trace_clock const clock(input, device);
  need_times(clock);
  std::stable_sort(ranges.begin(), ranges.end(), [](auto const& left, auto const& right) {
    return left.start_us < right.start_us;
  });
  std::int64_t number = 0;
  for (annotation_range const& range : ranges) {
    // Threads that never touched a GPU say device 0, so a device that no range names has them all.
    if (names_device && range.device != device) continue;
    span one;
    one.number = number++;
    one.name = fmt::format("{} {}", name, one.number);
    if (range.has_start) one.start_us = range.start_us;
    if (range.has_end) one.end_us = range.end_us;
    add(clock, std::move(one), made);
  }
  return made;
}

span_list equal_runs(snapshot const& input, std::int32_t device) {
  std::int64_t const events = trace_clock(input, device).events();
  std::int64_t const parts = std::min(windows_of_a_trace, events);
  span_list made{span_request::kind::time, "tenths of the trace's events", {}, 0};
  for (std::int64_t part = 0; part < parts; ++part) {
    span one;
    one.number = part;
    one.name = fmt::format("part {}", part);
    one.events = {part * events / parts, (part + 1) * events / parts - 1};
    made.spans.push_back(std::move(one));
  }
  return made;
}

span_list tenths(snapshot const& input, std::int32_t device) {
  trace_clock const clock(input, device);
  if (!clock.has_times()) return equal_runs(input, device);
  // Rounded up, so that there are ten and not eleven.
  std::int64_t const span_us = subtract_saturated(*clock.latest_us(), *clock.earliest_us());
  return *time_windows(input, device, (span_us / windows_of_a_trace) + 1);
}

std::optional<span_list> repetitions(snapshot const& input, std::int32_t device) {
  std::vector<event_range> const found = find_period(input, device);
  if (found.size() < fewest_repetitions) return std::nullopt;
  span_list made{span_request::kind::period, "repetitions of the curve", {}, 0};
  for (event_range const& events : found) {
    span one;
    one.number = static_cast<std::int64_t>(made.spans.size());
    one.name = fmt::format("repetition {}", one.number);
    one.events = events;
    made.spans.push_back(std::move(one));
  }
  return made;
}

/// The annotation of an optimizer's step, which PyTorch writes without being asked.
std::optional<std::string> optimizer_step(snapshot const& input) {
  annotation_rest_row rest;
  for (annotation_row const& row :
       annotation_table(input).most_frequent(input.annotations.size(), rest)) {
    bool const is_step = row.name.starts_with("Optimizer.step#");
    if (is_step && row.count >= static_cast<std::int64_t>(fewest_repetitions)) return row.name;
  }
  return std::nullopt;
}

}  // namespace

std::optional<span_list> time_windows(snapshot const& input, std::int32_t device,
                                      std::int64_t window_us) {
  trace_clock const clock(input, device);
  if (!clock.has_times()) return std::nullopt;
  span_list made{span_request::kind::time,
                 fmt::format("windows of {:.3f} s", static_cast<double>(window_us) / 1e6),
                 {},
                 0};
  std::int64_t number = 0;
  std::int64_t const last = *clock.latest_us();
  for (std::int64_t start = *clock.earliest_us(); start <= last;
       start = add_saturated(start, window_us), ++number) {
    span one;
    one.number = number;
    one.name = fmt::format("{:.3f} s", static_cast<double>(number * window_us) / 1e6);
    one.start_us = start;
    one.end_us = add_saturated(start, window_us);
    add(clock, std::move(one), made);
    if (start > last - window_us) break;  // no overflow behind the last one
  }
  return made;
}

span_list find_spans(snapshot const& input, std::int32_t device, span_request const& asked) {
  trace_clock const clock(input, device);
  if (clock.events() == 0) {
    throw error(error_code::bad_request,
                fmt::format("device {} has no events, so it has no steps", device),
                "memreplay at --end and memreplay segments show what its segments hold");
  }
  switch (asked.by) {
    case span_request::kind::automatic:
    case span_request::kind::steps: return profiler_steps(input, device);
    case span_request::kind::annotation: return annotation_spans(input, device, asked.name);
    default: break;
  }
  if (asked.by == span_request::kind::time) return tenths(input, device);
  if (asked.by == span_request::kind::period) {
    if (std::optional<span_list> found = repetitions(input, device)) return *std::move(found);
    throw error(error_code::bad_request, "nothing repeats in this curve",
                "--by time cuts the trace into ten windows");
  }
  span_list made{span_request::kind::whole, "whole trace", {}, 0};
  span one;
  one.name = "whole trace";
  one.events = {0, clock.events() - 1};
  one.start_us = clock.earliest_us();
  one.end_us = clock.latest_us();
  if (one.start_us) {
    one.duration_ms = static_cast<double>(subtract_saturated(*one.end_us, *one.start_us)) / 1e3;
  }
  made.spans.push_back(std::move(one));
  return made;
}

span_list find_repetitions(snapshot const& input, std::int32_t device, span_request const& asked) {
  trace_clock const clock(input, device);
  if (asked.by != span_request::kind::automatic || clock.events() == 0) {
    return find_spans(input, device, asked);
  }
  if (clock.has_times()) {
    if (!annotation_table(input).steps().empty()) {
      span_list steps = profiler_steps(input, device);
      if (steps.spans.size() >= fewest_repetitions) return steps;
    }
    if (std::optional<std::string> const name = optimizer_step(input)) {
      span_list steps = annotation_spans(input, device, *name);
      if (steps.spans.size() >= fewest_repetitions) return steps;
    }
  }
  if (std::optional<span_list> found = repetitions(input, device)) return *std::move(found);
  return tenths(input, device);
}

}  // namespace memreplay::reporting
