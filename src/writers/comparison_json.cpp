// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `compare` as JSON, one to one; docs/report-schema.md describes every key.
#include <memreplay/write_report.hpp>

#include <utility>

#include "writers/answers_json.hpp"

namespace memreplay {

using namespace writers;

namespace {

json trace_json(trace_summary const& trace) {
  return {{"events", trace.events},
          {"measured", curve_json(trace.measured)},
          {"peak_delta", trace.peak_delta},
          {"reserved_peak_bytes", trace.reserved_peak_bytes},
          {"reserved_at_peak_bytes", trace.reserved_at_peak_bytes},
          {"alloc_count", trace.alloc_count},
          {"throughput_bytes", trace.throughput_bytes},
          {"unmatched_frees", trace.unmatched_frees},
          {"max_memory_allocated", exactness_json(trace.max_memory_allocated)},
          {"segments", segments_json(trace.segments)}};
}

json segment_side_json(segment_summary const& sum) {
  return {{"count", sum.count},
          {"total", sum.total_bytes},
          {"allocated", sum.allocated_bytes},
          {"active", sum.active_bytes},
          {"awaiting_free", sum.pending_bytes},
          {"inactive", sum.inactive_bytes}};
}

json pair_json(span_pair const& pair) {
  return {{"step", pair.number},
          {"name", pair.name},
          {"peak_a", pair.a.peak_delta},
          {"peak_b", pair.b.peak_delta},
          {"peak_diff", pair.b.peak_delta - pair.a.peak_delta},
          {"abs_peak_a", pair.a.absolute_peak},
          {"abs_peak_b", pair.b.absolute_peak},
          {"abs_peak_diff", pair.b.absolute_peak - pair.a.absolute_peak},
          {"allocs_a", pair.a.alloc_count},
          {"allocs_b", pair.b.alloc_count},
          {"throughput_a", pair.a.throughput_bytes},
          {"throughput_b", pair.b.throughput_bytes},
          {"a", span_json(pair.a)},
          {"b", span_json(pair.b)}};
}

json full_trace_json(trace_summary const& a, trace_summary const& b) {
  return {{"peak_a", a.peak_delta},
          {"peak_b", b.peak_delta},
          {"peak_diff", b.peak_delta - a.peak_delta},
          {"abs_peak_a", a.measured.peak_bytes},
          {"abs_peak_b", b.measured.peak_bytes},
          {"abs_peak_diff", b.measured.peak_bytes - a.measured.peak_bytes},
          {"allocs_a", a.alloc_count},
          {"allocs_b", b.alloc_count},
          {"throughput_a", a.throughput_bytes},
          {"throughput_b", b.throughput_bytes},
          {"unmatched_a", a.unmatched_frees},
          {"unmatched_b", b.unmatched_frees}};
}

json drill_down_json(device_comparison const& device) {
  json sources = json::array();
  for (site_delta_row const& row : device.sites.rows) {
    sources.push_back({{"source", row.site},
                       {"peak_a", row.bytes_a},
                       {"peak_b", row.bytes_b},
                       {"delta", row.delta_bytes}});
  }
  return {{"step", optional_json(device.looked_into)},
          {"peak_diff", device.sites.delta_bytes},
          {"sources", std::move(sources)}};
}

json device_json(device_comparison const& device) {
  json spans = json::array();
  for (span_pair const& pair : device.spans) spans.push_back(pair_json(pair));
  return {{"device_a", device.device_a},
          {"device_b", device.device_b},
          {"a", trace_json(device.a)},
          {"b", trace_json(device.b)},
          {"by", device.by},
          {"step_results", std::move(spans)},
          {"only_a_steps", device.only_a_spans},
          {"only_b_steps", device.only_b_spans},
          {"looked_into", optional_json(device.looked_into)},
          {"event_a", device.event_a},
          {"event_b", device.event_b},
          {"deltas", deltas_json(device.sites)},
          {"findings", findings_json(device.findings)}};
}

/// The flat keys of the scripts that people have: they speak of one device, the first shown.
void add_flat_keys(device_comparison const& device, json& out) {
  out["segments_a"] = segment_side_json(device.a.segments);
  out["segments_b"] = segment_side_json(device.b.segments);
  out["baseline_a"] = device.a.measured.start_bytes;
  out["baseline_b"] = device.b.measured.start_bytes;
  json matching = json::array();
  json results = json::array();
  for (span_pair const& pair : device.spans) {
    matching.push_back(pair.number);
    results.push_back(pair_json(pair));
  }
  out["matching_steps"] = std::move(matching);
  out["step_results"] = std::move(results);
  out["full_trace"] = device.spans.empty() ? full_trace_json(device.a, device.b) : json(nullptr);
  out["drill_down"] = drill_down_json(device);
  json observations = json::array();
  for (finding const& row : device.findings) observations.push_back(row.text);
  out["observations"] = std::move(observations);
}

}  // namespace

std::string write_comparison_json(comparison const& model) {
  json out = {{"schema", model.schema}, {"file_a", model.a.file}, {"file_b", model.b.file}};
  json settings = json::object();
  for (setting_difference const& row : model.settings)
    settings[row.key] = {{"a", optional_json(row.a)}, {"b", optional_json(row.b)}};
  out["config_diffs"] = std::move(settings);
  add_flat_keys(model.devices.front(), out);
  out["notes"] = model.notes;
  out["a"] = header_json(model.a);
  out["b"] = header_json(model.b);
  json devices = json::array();
  for (device_comparison const& device : model.devices) devices.push_back(device_json(device));
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
