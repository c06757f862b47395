// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report of two runs side by side.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>

#include "report/comparison_findings.hpp"
#include "report/end_state.hpp"
#include "report/header.hpp"
#include "report/live_sets.hpp"
#include "report/redaction.hpp"
#include "report/saturating.hpp"
#include "report/side_sites.hpp"
#include "report/site_matching.hpp"
#include "report/span_reports.hpp"
#include "report/spans.hpp"
#include "report/trace_clock.hpp"
#include "report/trace_view.hpp"

namespace memreplay {

using namespace reporting;

namespace {

constexpr std::int64_t windows_of_a_trace = 10;

std::vector<std::int64_t> common_numbers(span_list const& a, span_list const& b) {
  std::vector<std::int64_t> common;
  for (span const& one : a.spans) {
    bool const has_both = std::any_of(b.spans.begin(), b.spans.end(), [&](span const& other) {
      return other.number == one.number;
    });
    if (has_both) common.push_back(one.number);
  }
  return common;
}

std::string number_range(span_list const& cut) {
  if (cut.spans.empty()) return "none with events";
  return fmt::format("{} to {}", cut.spans.front().number, cut.spans.back().number);
}

/// What `ask` says of a file, with the side that it is on.
template <class AskT>
auto naming_side(char const* side, AskT ask) {
  try {
    return ask();
  } catch (error const& problem) {
    throw error(problem.code(), fmt::format("{}: {}", side, problem.what()), problem.hint());
  }
}

paired_spans steps_of_both(snapshot const& a, std::int32_t device_a, snapshot const& b,
                           std::int32_t device_b, span_request const& asked) {
  paired_spans cut{naming_side("A", [&] { return find_spans(a, device_a, asked); }),
                   naming_side("B", [&] { return find_spans(b, device_b, asked); })};
  if (!common_numbers(cut.a, cut.b).empty()) return cut;
  throw error(error_code::bad_request,
              fmt::format("the two files share none of their {}", cut.a.what),
              fmt::format("A has {}, B has {}; --by whole compares the traces as they are",
                          number_range(cut.a), number_range(cut.b)));
}

paired_spans windows_of_both(snapshot const& a, std::int32_t device_a, snapshot const& b,
                             std::int32_t device_b) {
  auto const length_of = [](char const* side, snapshot const& input, std::int32_t device) {
    trace_clock const clock(input, device);
    if (clock.has_times()) return subtract_saturated(*clock.latest_us(), *clock.earliest_us());
    throw error(error_code::bad_request,
                fmt::format("{}: device {} has no events{}", side, device,
                            clock.events() > 0 ? " with times" : ""),
                "--by whole compares the traces as they are");
  };
  std::int64_t const longest = std::max(length_of("A", a, device_a), length_of("B", b, device_b));
  std::int64_t const window = (longest / windows_of_a_trace) + 1;
  return {*time_windows(a, device_a, window), *time_windows(b, device_b, window)};
}

bool has_steps(snapshot const& input, std::int32_t device) {
  try {
    return !find_spans(input, device, {span_request::kind::steps, {}}).spans.empty();
  } catch (error const&) {
    return false;
  }
}

paired_spans whole_traces(snapshot const& a, std::int32_t device_a, snapshot const& b,
                          std::int32_t device_b) {
  auto const whole = [](snapshot const& input, std::int32_t device) {
    // Without a trace there is one moment: the end state.
    if (trace_clock(input, device).events() == 0)
      return span_list{span_request::kind::whole, "whole traces", {}, 0};
    return find_spans(input, device, {span_request::kind::whole, {}});
  };
  return {whole(a, device_a), whole(b, device_b)};
}

std::vector<setting_difference> compare_settings(snapshot const& a, snapshot const& b) {
  std::map<std::string, setting_difference> by_key;
  for (setting const& row : a.settings) by_key[row.key].a = row.value;
  for (setting const& row : b.settings) by_key[row.key].b = row.value;
  std::vector<setting_difference> made;
  for (auto& [key, row] : by_key) {
    if (row.a == row.b) continue;
    row.key = key;
    made.push_back(std::move(row));
  }
  return made;
}

trace_summary summarize(snapshot const& input, device_replay const& replayed) {
  trace_view const trace(input, replayed.device);
  trace_summary made;
  made.events = replayed.events;
  made.measured = replayed.measured;
  made.peak_delta = subtract_saturated(replayed.measured.peak_bytes, replayed.measured.start_bytes);
  made.reserved_peak_bytes = replayed.reserved.peak_bytes;
  made.reserved_at_peak_bytes =
      reserved_after(trace, replayed.measured.peak_event, replayed.reserved.start_bytes);
  made.alloc_count = replayed.action_counts[static_cast<int>(action::alloc)];
  for (event_index event = 0; event < trace.count(); ++event) {
    if (trace.what(event) != action::alloc) continue;
    made.throughput_bytes = add_saturated(made.throughput_bytes, to_bytes(trace.size(event)));
  }
  made.unmatched_frees = replayed.counts.unmatched_frees;
  made.max_memory_allocated = replayed.max_memory_allocated;
  made.segments = summarize_segments(input, replayed.device);
  return made;
}

/// One side of one device.
struct compared_device {
  snapshot const& input;
  device_replay const& replayed;
  span_list const& cut;
  site_table& sites;

  [[nodiscard]] std::vector<span_report> spans() const {
    auto const live = read_live_sets(replayed.history, [](std::size_t) { return false; });
    return make_span_reports(input, replayed, cut.spans, live);
  }
};

void pair_span_reports(compared_device const& a, compared_device const& b,
                       device_comparison& made) {
  std::vector<span_report> const spans_a = a.spans();
  std::vector<span_report> const spans_b = b.spans();
  std::map<std::int64_t, span_report const*> by_number;
  for (span_report const& one : spans_b) by_number.emplace(one.where.number, &one);
  for (span_report const& one : spans_a) {
    auto const other = by_number.find(one.where.number);
    if (other == by_number.end()) {
      ++made.only_a_spans;
      continue;
    }
    made.spans.push_back({one.where.number, one.where.name, one, *other->second});
    by_number.erase(other);
  }
  made.only_b_spans = static_cast<std::int64_t>(by_number.size());
}

std::int64_t peak_difference(span_pair const& pair) {
  std::int64_t const difference = subtract_saturated(pair.b.absolute_peak, pair.a.absolute_peak);
  return difference < 0 ? subtract_saturated(0, difference) : difference;
}

span_pair const& choose_span(device_comparison const& made, std::optional<std::int64_t> step) {
  auto const chosen =
      step ? std::find_if(made.spans.begin(), made.spans.end(),
                          [&](span_pair const& pair) { return pair.number == *step; })
           : std::max_element(made.spans.begin(), made.spans.end(),
                              [](span_pair const& left, span_pair const& right) {
                                return peak_difference(left) < peak_difference(right);
                              });
  if (chosen != made.spans.end()) return *chosen;
  throw error(
      error_code::bad_request,
      fmt::format("the two files have no number {} in common among their {}", *step, made.by),
      fmt::format("they share {} to {}", made.spans.front().number, made.spans.back().number));
}

std::int64_t bytes_at(compared_device const& side, event_index event) {
  live_history const& history = side.replayed.history;
  return history.moments[history.row_of(event)].bytes;
}

site_deltas compare_sites(compared_device const& a, event_index event_a, compared_device const& b,
                          event_index event_b, comparison_options const& asked, std::int64_t top) {
  live_set const live_a = live_set_at(a.replayed.history, event_a);
  live_set const live_b = live_set_at(b.replayed.history, event_b);
  bool const has_sites = !live_a.by_stack.empty() || !live_b.by_stack.empty();
  if (!has_sites) return deltas_without_sites(bytes_at(a, event_a), bytes_at(b, event_b));
  site_deltas made = make_site_deltas(side_sites(a.sites, live_a.by_stack),
                                      side_sites(b.sites, live_b.by_stack), asked.match, top);
  made.carried_in_a = live_a.carried_in_bytes;
  made.carried_in_b = live_b.carried_in_bytes;
  return made;
}

device_comparison compare_devices(compared_device const& a, compared_device const& b,
                                  std::vector<setting_difference> const& settings,
                                  comparison_options const& asked, std::int64_t top) {
  device_comparison made;
  made.device_a = a.replayed.device;
  made.device_b = b.replayed.device;
  made.a = summarize(a.input, a.replayed);
  made.b = summarize(b.input, b.replayed);
  made.by = a.cut.what;
  if (asked.step && a.cut.by == span_request::kind::whole) {
    throw error(
        error_code::bad_request,
        fmt::format("whole traces are compared, so there is no step {} to look into", *asked.step),
        "--by steps, --by time and --by NAME (of an annotation) set parts side by side");
  }
  if (!a.cut.spans.empty() && !b.cut.spans.empty()) {
    pair_span_reports(a, b, made);
    span_pair const& looked = choose_span(made, asked.step);
    made.event_a = looked.a.peak_event;
    made.event_b = looked.b.peak_event;
    if (a.cut.by == span_request::kind::whole) {
      made.spans.clear();
    } else {
      made.looked_into = looked.number;
    }
  } else {
    made.event_a = a.replayed.measured.peak_event;
    made.event_b = b.replayed.measured.peak_event;
  }
  made.sites = compare_sites(a, made.event_a, b, made.event_b, asked, top);
  made.findings = make_comparison_findings(made, settings);
  return made;
}

void redact_comparison(comparison& made) {
  redact(made.a);
  redact(made.b);
  for (setting_difference& row : made.settings) {
    if (row.a) row.a = redact_homes(*row.a);
    if (row.b) row.b = redact_homes(*row.b);
  }
  for (device_comparison& device : made.devices) {
    device.by = redact_homes(device.by);
    for (span_pair& pair : device.spans) {
      pair.name = redact_homes(pair.name);
      pair.a.where.name = redact_homes(pair.a.where.name);
      pair.b.where.name = redact_homes(pair.b.where.name);
    }
    redact(device.sites);
    redact(device.findings);
  }
}

}  // namespace

paired_spans pair_spans(snapshot const& a, std::int32_t device_a, snapshot const& b,
                        std::int32_t device_b, span_request const& asked) {
  switch (asked.by) {
    case span_request::kind::automatic: {
      span_request const steps{span_request::kind::steps, {}};
      if (has_steps(a, device_a) && has_steps(b, device_b)) {
        paired_spans cut{find_spans(a, device_a, steps), find_spans(b, device_b, steps)};
        if (!common_numbers(cut.a, cut.b).empty()) return cut;
      }
      return whole_traces(a, device_a, b, device_b);
    }
    case span_request::kind::whole: return whole_traces(a, device_a, b, device_b);
    case span_request::kind::time: return windows_of_both(a, device_a, b, device_b);
    default: return steps_of_both(a, device_a, b, device_b, asked);
  }
}

replay_plan plan_comparison(span_list const& cut, replay_plan plan) {
  plan = plan_spans(cut, std::move(plan));
  if (cut.spans.empty()) plan.moments.push_back(before_trace);
  return plan;
}

comparison make_comparison(compared_side const& a, compared_side const& b,
                           std::vector<paired_spans> const& cuts, replay_plan const& plan,
                           comparison_options const& asked, report_options const& options) {
  site_table sites_a(a.input, options.site, site_rule::user);
  site_table sites_b(b.input, options.site, site_rule::user);
  comparison made;
  made.match = asked.match;
  made.a = make_header(comparison_schema_version, a.input, a.replayed, plan, sites_a, a.file);
  made.b = make_header(comparison_schema_version, b.input, b.replayed, plan, sites_b, b.file);
  made.settings = compare_settings(a.input, b.input);
  device_pairs const pairs = pair_devices(a.replayed, b.replayed);
  made.notes = pairs.notes;
  for (std::size_t row = 0; row < pairs.pairs.size(); ++row) {
    auto const& [device_a, device_b] = pairs.pairs[row];
    made.devices.push_back(compare_devices({a.input, *device_a, cuts[row].a, sites_a},
                                           {b.input, *device_b, cuts[row].b, sites_b},
                                           made.settings, asked, options.top_contributors));
    for (auto const& [side, device] : {std::pair("A", device_a), std::pair("B", device_b)}) {
      if (device->events > 0) continue;
      made.notes.push_back(
          fmt::format("device {} of {} has no events: what it holds at the end stands for its peak",
                      device->device, side));
    }
  }
  if (options.site.redact) redact_comparison(made);
  return made;
}

}  // namespace memreplay
