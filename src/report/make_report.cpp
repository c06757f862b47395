// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Joins a snapshot and its replay into the report model, top to bottom.
#include <memreplay/make_report.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>

#include "report/annotations.hpp"
#include "report/end_state.hpp"
#include "report/findings.hpp"
#include "report/fragmentation.hpp"
#include "report/header.hpp"
#include "report/redaction.hpp"
#include "report/ring_buffer.hpp"
#include "report/saturating.hpp"
#include "report/site_rows.hpp"
#include "report/sites.hpp"
#include "report/trace_view.hpp"

namespace memreplay {

using namespace reporting;

namespace {

constexpr std::size_t most_ooms = 20;
constexpr std::size_t most_annotations = 30;

enum class report_kind { peaks, contents };

/// What all parts of one report share.
struct report_context {
  snapshot const& input;
  report_options const& options;
  report_kind kind;
  site_table sites;
  annotation_table annotations;
};

std::string within_at(report_context const& context, std::int32_t device,
                      std::optional<std::int64_t> time_us) {
  return time_us ? context.annotations.within(device, *time_us) : std::string{};
}

peak_report make_peak(report_context& context, trace_view const& trace, std::int32_t device,
                      peak const& found) {
  peak_report made;
  made.bytes = found.bytes;
  made.event = found.event;
  made.time_us = trace.time_us(found.event);
  made.seconds = trace.seconds(found.event);
  made.carried_in_bytes = found.carried_in_bytes;
  made.trace_bytes = subtract_saturated(found.bytes, found.carried_in_bytes);
  made.allocated_bytes = found.allocated_bytes;
  made.active_bytes = found.active_bytes;
  made.reserved_bytes = found.reserved_bytes;
  made.pending_bytes = excess(found.active_bytes, found.allocated_bytes);
  made.inactive_bytes = excess(found.reserved_bytes, found.active_bytes);
  made.fragmentation = percent(made.inactive_bytes, found.reserved_bytes);
  made.within = within_at(context, device, made.time_us);
  site_rows table =
      make_site_rows(context.sites, found.holders, found.bytes, context.options.top_contributors);
  made.sites = std::move(table.rows);
  made.rest = table.rest;
  return made;
}

std::vector<peak_report> make_peaks(report_context& context, trace_view const& trace,
                                    device_replay const& replayed) {
  std::vector<peak_report> peaks;
  for (peak const& found : replayed.peaks)
    peaks.push_back(make_peak(context, trace, replayed.device, found));
  auto const largest = std::max_element(
      peaks.begin(), peaks.end(),
      [](peak_report const& left, peak_report const& right) { return left.bytes < right.bytes; });
  // A list that was asked to be short still starts with the largest, so this is a check and not a
  // search.
  if (largest != peaks.end() && largest->bytes == replayed.measured.peak_bytes)
    largest->is_global = true;
  return peaks;
}

void add_ooms(report_context& context, trace_view const& trace, device_report& made) {
  std::vector<event_index> events;
  for (event_index event = 0; event < trace.count(); ++event) {
    if (trace.what(event) == action::oom) events.push_back(event);
  }
  made.oom_count = static_cast<std::int64_t>(events.size());
  std::size_t const first = events.size() > most_ooms ? events.size() - most_ooms : 0;
  for (std::size_t index = first; index < events.size(); ++index) {
    event_index const event = events[index];
    oom_row row;
    row.event = event;
    row.time_us = trace.time_us(event);
    row.seconds = trace.seconds(event);
    row.requested_bytes = to_bytes(trace.size(event));
    row.device_free_bytes = to_bytes(trace.address(event));
    if (context.sites.has_any_frame(trace.stack(event))) {
      row.site = context.sites[context.sites.site_of(trace.stack(event))].text;
    }
    row.within = within_at(context, made.device, row.time_us);
    made.ooms.push_back(std::move(row));
  }
}

stack_coverage cover(site_table const& sites, std::vector<stack_total> const& totals) {
  stack_coverage sum;
  for (stack_total const& total : totals) {
    if (total.stack == before_trace_stack) continue;
    sum.bytes = add_saturated(sum.bytes, total.bytes);
    if (!sites.has_any_frame(total.stack)) {
      sum.without_frames_bytes = add_saturated(sum.without_frames_bytes, total.bytes);
    }
    if (!sites.has_python_frame(total.stack)) {
      sum.without_python_bytes = add_saturated(sum.without_python_bytes, total.bytes);
    }
  }
  return sum;
}

std::int64_t total_bytes(std::vector<stack_total> const& totals) {
  std::int64_t sum = 0;
  for (stack_total const& total : totals) sum = add_saturated(sum, total.bytes);
  return sum;
}

device_report make_device(report_context& context, report const& model,
                          device_replay const& replayed) {
  trace_view const trace(context.input, replayed.device);
  ring_state const ring = find_ring_state(context.input, trace, replayed);
  device_report made;
  made.device = replayed.device;
  made.events = replayed.events;
  made.actions = name_action_counts(replayed.action_counts);
  made.span_seconds = trace.span_seconds();
  made.measured = replayed.measured;
  made.allocated = replayed.allocated;
  made.active = replayed.active;
  made.reserved = replayed.reserved;
  made.measured_exactness = replayed.measured_exactness;
  made.max_memory_allocated = replayed.max_memory_allocated;
  made.carried_in_bytes = replayed.measured.start_bytes;
  made.unmatched_frees = replayed.counts.unmatched_frees;
  made.ring_truncated = ring.is_truncated;
  made.ring_reason = ring.reason;
  made.segments = summarize_segments(context.input, replayed.device);
  if (replayed.events > 0 && context.input.has_segments)
    made.baseline = summarize_baseline(replayed);
  made.counts = replayed.counts;
  made.timeline = replayed.timeline;
  made.peaks = make_peaks(context, trace, replayed);
  made.reserved_at_peak_bytes =
      made.peaks.empty()
          ? reserved_after(trace, replayed.measured.peak_event, replayed.reserved.start_bytes)
          : made.peaks.front().reserved_bytes;
  add_ooms(context, trace, made);

  stack_coverage coverage;
  if (context.kind == report_kind::contents) {
    site_rows table =
        make_site_rows(context.sites, replayed.throughput, total_bytes(replayed.throughput),
                       context.options.top_contributors);
    made.top_allocators = std::move(table.rows);
    made.top_allocators_rest = table.rest;
    made.streams = summarize_streams(context.input, trace);
    made.pools = summarize_pools(context.input, replayed.device);
    made.fragmentation = make_fragmentation(context.input, trace, replayed);
    coverage = cover(context.sites, replayed.throughput);
  } else if (!replayed.peaks.empty()) {
    coverage = cover(context.sites, replayed.peaks.front().holders);
  }
  made.defects = replayed.defects;
  made.findings = make_findings(model, made, coverage);
  return made;
}

report make_model(report_kind kind, snapshot const& input, replay_result const& replayed,
                  replay_plan const& plan, report_options const& options, std::string const& file) {
  site_rule const default_rule = kind == report_kind::peaks ? site_rule::project : site_rule::user;
  report_context context{input, options, kind, site_table(input, options.site, default_rule),
                         annotation_table(input)};
  report made;
  static_cast<report_header&>(made) =
      make_header(kind == report_kind::peaks ? report_schema_version : info_schema_version, input,
                  replayed, plan, context.sites, file);
  made.steps = context.annotations.steps();
  made.annotations = context.annotations.most_frequent(most_annotations, made.annotations_rest);
  for (std::size_t index = 0; index < input.traces.size(); ++index) {
    trace_view const trace(input, static_cast<std::int32_t>(index));
    if (trace.count() == 0) continue;
    made.traces.push_back({static_cast<std::int32_t>(index), trace.count(), count_actions(trace)});
  }
  for (device_replay const& device : replayed.devices) {
    made.devices.push_back(make_device(context, made, device));
  }
  if (options.site.redact) redact(made);
  return made;
}

}  // namespace

report make_report(snapshot const& input, replay_result const& replayed, replay_plan const& plan,
                   report_options const& options, std::string const& file) {
  return make_model(report_kind::peaks, input, replayed, plan, options, file);
}

replay_plan plan_info(snapshot const& input, std::int32_t device, replay_plan plan) {
  plan.maps = fragmentation_moments(trace_view(input, device).count());
  plan.peak_maps = 1;
  return plan;
}

report make_info(snapshot const& input, replay_result const& replayed, replay_plan const& plan,
                 report_options const& options, std::string const& file) {
  return make_model(report_kind::contents, input, replayed, plan, options, file);
}

std::int32_t busiest_device(snapshot const& input) {
  std::int32_t busiest = 0;
  std::int64_t most_events = 0;
  for (std::size_t index = 0; index < input.traces.size(); ++index) {
    if (input.traces[index].count <= most_events) continue;
    most_events = input.traces[index].count;
    busiest = static_cast<std::int32_t>(index);
  }
  if (most_events > 0) return busiest;

  std::unordered_map<std::int32_t, std::int64_t> bytes_by_device;
  for (segment const& row : input.segments) {
    std::int64_t& bytes = bytes_by_device[row.device];
    bytes = add_saturated(bytes, to_bytes(row.total_size));
  }
  std::int64_t most_bytes = -1;
  for (auto const& [device, bytes] : bytes_by_device) {
    if (bytes > most_bytes || (bytes == most_bytes && device < busiest)) {
      most_bytes = bytes;
      busiest = device;
    }
  }
  return busiest;
}

std::vector<std::int32_t> devices_in(snapshot const& input) {
  std::set<std::int32_t> devices;
  for (std::size_t index = 0; index < input.traces.size(); ++index) {
    if (input.traces[index].count > 0) devices.insert(static_cast<std::int32_t>(index));
  }
  for (segment const& row : input.segments) devices.insert(row.device);
  if (devices.empty()) devices.insert(0);
  return {devices.begin(), devices.end()};
}

}  // namespace memreplay
