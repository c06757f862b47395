// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The run of a page: curves, and what is drawn over and below them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <memreplay/make_report.hpp>

#include "report/annotations.hpp"
#include "report/area_bands.hpp"
#include "report/flame_rows.hpp"
#include "report/header.hpp"
#include "report/lifetime_stack.hpp"
#include "report/map_blocks.hpp"
#include "report/redaction.hpp"
#include "report/shown_stacks.hpp"
#include "report/sites.hpp"
#include "report/timeline_marks.hpp"
#include "report/trace_clock.hpp"
#include "report/trace_view.hpp"

namespace memreplay {

using namespace reporting;

namespace {

/// About one bucket for each column of a screen.
constexpr std::int64_t picture_width = 880;

/// The last failed request, else the end.
event_index mapped_event(trace_view const& trace) {
  for (event_index event = trace.count() - 1; event >= 0; --event) {
    if (trace.what(event) == action::oom) return event;
  }
  return trace.count() - 1;
}

std::vector<event_range> equal_parts(std::int64_t events, std::int64_t parts) {
  std::vector<event_range> ranges;
  std::int64_t const count = std::min(events, parts);
  for (std::int64_t part = 0; part < count; ++part) {
    // part * events / count, without the overflow of a long trace
    auto const begin = [&](std::int64_t at) {
      return at * (events / count) + at * (events % count) / count;
    };
    ranges.push_back({begin(part), begin(part + 1) - 1});
  }
  return ranges;
}

/// So many buckets that each lasts about as long as asked for.
std::int64_t curve_width(trace_view const& trace, timeline_options const& asked) {
  std::int64_t const most = asked.budget.buckets;
  if (!asked.precision_ms || !trace.span_seconds()) return most;
  double const wanted = std::ceil(*trace.span_seconds() * 1e3 / *asked.precision_ms);
  return wanted < static_cast<double>(most) ? std::max<std::int64_t>(std::llround(wanted), 1)
                                            : most;
}

timeline_curve make_curve(curve_summary const& summary,
                          std::vector<timeline_bucket> const& buckets) {
  timeline_curve made;
  static_cast<curve_summary&>(made) = summary;
  for (timeline_bucket const& bucket : buckets) {
    made.low_bytes.push_back(bucket.low_bytes);
    made.high_bytes.push_back(bucket.high_bytes);
  }
  return made;
}

timeline_curves make_curves(device_replay const& replayed, trace_clock const& clock) {
  timeline_curves made;
  made.allocated = make_curve(replayed.allocated, replayed.curves.allocated);
  made.active = make_curve(replayed.active, replayed.curves.active);
  made.reserved = make_curve(replayed.reserved, replayed.curves.reserved);
  for (timeline_bucket const& bucket : replayed.curves.allocated)
    made.first_event.push_back(bucket.first_event);
  made.first_event.push_back(replayed.events);
  if (!clock.has_times()) return made;
  for (event_index const event : made.first_event)
    made.seconds.push_back(clock.seconds_at(std::min(event, replayed.events - 1)));
  return made;
}

/// Everything but the peaks, findings and defects, which are those of `report`.
device_timeline make_device(snapshot const& input, annotation_table const& annotations,
                            site_table& sites, stack_collector& stacks,
                            device_replay const& replayed, timeline_budget const& budget) {
  trace_clock const clock(input, replayed.device);
  trace_view const trace(input, replayed.device);
  device_timeline made;
  made.device = replayed.device;
  made.events = replayed.events;
  made.span_seconds = trace.span_seconds();
  made.has_times = clock.has_times();
  made.measured = replayed.measured;
  made.curves = make_curves(replayed, clock);
  made.steps = make_timeline_steps(annotations, clock, budget.marks);
  made.annotations =
      make_timeline_annotations(input, replayed.device, annotations, clock, budget.marks);
  made.areas = make_area_bands(replayed, clock, sites, stacks, budget.area_sites);
  made.lifetimes = make_lifetime_stack(replayed.largest, replayed.events, budget.vertices, stacks);
  made.flames = make_flame_rows(replayed, made.areas.event, budget, stacks);
  if (!replayed.maps.empty() && !replayed.maps.front().segments.empty()) {
    made.map = make_segment_map(input, replayed.maps.front(), budget, stacks);
    made.map->seconds = trace.seconds(made.map->event);
    made.map->is_oom = made.map->event >= 0 && trace.what(made.map->event) == action::oom;
  }
  return made;
}

void add_findings(device_report from, device_timeline& made) {
  made.measured_exactness = std::move(from.measured_exactness);
  made.max_memory_allocated = std::move(from.max_memory_allocated);
  made.peaks = std::move(from.peaks);
  for (peak_report& peak : made.peaks) peak.sites.clear();
  made.ooms = std::move(from.ooms);
  made.findings = std::move(from.findings);
  made.defects = std::move(from.defects);
}

void redact_marks(device_timeline& made) {
  for (timeline_annotation& row : made.annotations) row.name = redact_homes(row.name);
  if (made.map) made.map->reason = redact_homes(made.map->reason);
}

}  // namespace

replay_plan plan_timeline(snapshot const& input, std::int32_t device, timeline_options const& asked,
                          replay_plan plan) {
  trace_view const trace(input, device);
  plan.timeline_width = 0;
  plan.curve_width = curve_width(trace, asked);
  plan.largest_count = asked.budget.lifetimes;
  plan.ranges = equal_parts(trace.count(), asked.budget.moments - 2);
  plan.maps = {mapped_event(trace)};
  return plan;
}

replay_plan plan_timeline_picture(replay_plan plan) {
  plan.curve_width = picture_width;
  return plan;
}

timeline_run make_timeline(snapshot const& input, replay_result const& replayed,
                           replay_plan const& plan, timeline_options const& asked,
                           report_options const& options, std::string const& file) {
  bool const is_redacted = options.site.redact;
  site_table sites(input, options.site, site_rule::user);
  annotation_table const annotations(input);
  auto const devices = static_cast<std::int64_t>(replayed.devices.size());
  stack_collector stacks(input, sites, asked.budget.text_bytes * devices, is_redacted);
  report answered = make_report(input, replayed, plan, options, file);
  timeline_run made;
  static_cast<report_header&>(made) =
      make_header(timeline_schema_version, input, replayed, plan, sites, file);
  made.label = is_redacted ? redact_homes(asked.label) : asked.label;
  for (std::size_t row = 0; row < replayed.devices.size(); ++row) {
    made.devices.push_back(
        make_device(input, annotations, sites, stacks, replayed.devices[row], asked.budget));
    add_findings(std::move(answered.devices[row]), made.devices.back());
    if (is_redacted) redact_marks(made.devices.back());
  }
  made.stacks = stacks.take();
  if (is_redacted) redact(static_cast<report_header&>(made));
  return made;
}

}  // namespace memreplay
