// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The models of `report` and `info` as JSON, one to one; docs/report-schema.md describes every key.
#include <memreplay/write_report.hpp>

#include <string>
#include <utility>

#include "writers/json_parts.hpp"

namespace memreplay {

using namespace writers;

namespace {

json peak_json(peak_report const& peak) {
  return {{"bytes", peak.bytes},
          {"event", peak.event},
          {"time_us", optional_json(peak.time_us)},
          {"seconds", optional_json(peak.seconds)},
          {"global", peak.is_global},
          {"within", peak.within},
          {"carried_in_bytes", peak.carried_in_bytes},
          {"trace_bytes", peak.trace_bytes},
          {"allocated_bytes", peak.allocated_bytes},
          {"active_bytes", peak.active_bytes},
          {"pending_bytes", peak.pending_bytes},
          {"reserved_bytes", peak.reserved_bytes},
          {"inactive_bytes", peak.inactive_bytes},
          {"fragmentation", peak.fragmentation},
          {"sites", sites_json(peak.sites)},
          {"rest", rest_json(peak.rest)}};
}

json counts_json(replay_counts const& counts) {
  return {{"lifetimes", counts.lifetimes},
          {"unmatched_frees", counts.unmatched_frees},
          {"unmatched_free_bytes", counts.unmatched_free_bytes},
          {"unmatched_completed_only", counts.unmatched_completed_only},
          {"unmatched_completed_only_bytes", counts.unmatched_completed_only_bytes},
          {"never_freed", counts.never_freed},
          {"never_freed_bytes", counts.never_freed_bytes},
          {"pending_carried_in", counts.pending_carried_in},
          {"pending_carried_in_bytes", counts.pending_carried_in_bytes},
          {"double_allocs", counts.double_allocs},
          {"double_free_requests", counts.double_free_requests},
          {"size_mismatches", counts.size_mismatches},
          {"pending_at_end", counts.pending_at_end},
          {"live_not_in_segments", counts.live_not_in_segments},
          {"live_not_in_segments_bytes", counts.live_not_in_segments_bytes},
          {"freed_but_in_segments", counts.freed_but_in_segments},
          {"freed_but_in_segments_bytes", counts.freed_but_in_segments_bytes},
          {"end_size_mismatches", counts.end_size_mismatches}};
}

json baseline_json(std::optional<baseline_summary> const& baseline) {
  if (!baseline) return nullptr;
  return {{"baseline_at_start", baseline->start_bytes},
          {"segments_active", baseline->end_active_bytes},
          {"pre_existing_freed", baseline->freed_bytes},
          {"profiling_still_live", baseline->still_live_bytes}};
}

json timeline_json(std::vector<timeline_bucket> const& buckets) {
  json out = json::array();
  for (timeline_bucket const& bucket : buckets) {
    out.push_back({{"first_event", bucket.first_event},
                   {"low_bytes", bucket.low_bytes},
                   {"high_bytes", bucket.high_bytes}});
  }
  return out;
}

/// What `report` and `info` say of a device alike.
json device_json(device_report const& device) {
  json out = json::object();
  out["device"] = device.device;
  out["events"] = device.events;
  out["actions"] = actions_json(device.actions);
  out["span_seconds"] = optional_json(device.span_seconds);
  out["carried_in_bytes"] = device.carried_in_bytes;
  out["end_bytes"] = device.measured.end_bytes;
  out["peak_bytes"] = device.measured.peak_bytes;
  out["peak_event"] = device.measured.peak_event;
  add_exactness(device.measured_exactness, out);
  out["max_memory_allocated"] = exactness_json(device.max_memory_allocated);
  out["reserved_start_bytes"] = device.reserved.start_bytes;
  out["reserved_peak_bytes"] = device.reserved.peak_bytes;
  out["reserved_end_bytes"] = device.reserved.end_bytes;
  out["reserved_at_peak_bytes"] = device.reserved_at_peak_bytes;
  out["allocated"] = curve_json(device.allocated);
  out["active"] = curve_json(device.active);
  out["reserved"] = curve_json(device.reserved);
  out["unmatched_frees"] = device.unmatched_frees;
  out["counts"] = counts_json(device.counts);
  out["ring_truncated"] = device.ring_truncated;
  out["ring_reason"] = device.ring_reason;
  out["segments"] = segments_json(device.segments);
  out["baseline"] = baseline_json(device.baseline);
  out["oom_count"] = device.oom_count;
  out["ooms"] = ooms_json(device.ooms);
  return out;
}

void add_peaks(device_report const& device, json& out) {
  json peaks = json::array();
  for (peak_report const& peak : device.peaks) peaks.push_back(peak_json(peak));
  out["peaks"] = std::move(peaks);
  out["timeline"] = timeline_json(device.timeline);
}

void add_contents(device_report const& device, json& out) {
  out["top_allocators"] = sites_json(device.top_allocators);
  out["top_allocators_rest"] = rest_json(device.top_allocators_rest);
  json streams = json::array();
  for (stream_row const& row : device.streams) {
    streams.push_back({{"stream", row.stream},
                       {"events", row.events},
                       {"allocs", row.allocs},
                       {"alloc_bytes", row.alloc_bytes}});
  }
  out["streams"] = std::move(streams);
  json pools = json::array();
  for (pool_row const& row : device.pools) {
    pools.push_back(
        {{"id", {row.first, row.second}}, {"segments", row.segments}, {"bytes", row.bytes}});
  }
  out["pools"] = std::move(pools);
  json moments = json::array();
  for (fragmentation_row const& row : device.fragmentation) {
    moments.push_back({{"event", row.event},
                       {"seconds", optional_json(row.seconds)},
                       {"peak", row.is_peak},
                       {"reserved_bytes", row.reserved_bytes},
                       {"active_bytes", row.active_bytes},
                       {"inactive_bytes", row.inactive_bytes},
                       {"fragmentation", row.fragmentation},
                       {"largest_free_bytes", row.largest_free_bytes},
                       {"free_blocks", row.free_blocks},
                       {"exact", row.exact}});
  }
  out["fragmentation_over_time"] = std::move(moments);
}

json steps_json(std::vector<step_row> const& rows) {
  json out = json::object();
  for (step_row const& row : rows) {
    out[std::to_string(row.step)] = {{"start_us", optional_json(row.start_us)},
                                     {"end_us", optional_json(row.end_us)},
                                     {"duration_ms", optional_json(row.duration_ms)},
                                     {"complete", row.complete}};
  }
  return out;
}

json annotations_json(std::vector<annotation_row> const& rows) {
  json out = json::array();
  for (annotation_row const& row : rows) out.push_back({{"name", row.name}, {"count", row.count}});
  return out;
}

json traces_json(std::vector<trace_row> const& rows) {
  json out = json::array();
  for (trace_row const& row : rows) {
    out.push_back({{"device", row.device},
                   {"event_count", row.events},
                   {"actions", actions_json(row.actions)}});
  }
  return out;
}

void add_footer(report const& model, json devices, json& out) {
  out["profiler_steps"] = steps_json(model.steps);
  out["annotations"] = annotations_json(model.annotations);
  out["annotations_rest"] = {{"names", model.annotations_rest.names},
                             {"count", model.annotations_rest.count}};
  out["device_traces"] = traces_json(model.traces);
  out["audit"] = audit_json(model.defects);
  out["devices"] = std::move(devices);
}

void add_device_footer(device_report const& device, json& out) {
  out["findings"] = findings_json(device.findings);
  out["audit"] = audit_json(device.defects);
}

json top_sources_json(device_report const& device) {
  json out = json::array();
  for (site_row const& row : device.top_allocators) {
    out.push_back(
        {{"source", row.site}, {"throughput_bytes", row.bytes}, {"alloc_count", row.tensors}});
  }
  return out;
}

}  // namespace

std::string write_json(report const& model) {
  json devices = json::array();
  for (device_report const& device : model.devices) {
    json row = device_json(device);
    add_peaks(device, row);
    add_device_footer(device, row);
    devices.push_back(std::move(row));
  }
  json out = header_json(model);
  add_footer(model, std::move(devices), out);
  return to_text(out);
}

std::string write_info_json(report const& model) {
  json devices = json::array();
  for (device_report const& device : model.devices) {
    json row = device_json(device);
    add_contents(device, row);
    add_device_footer(device, row);
    devices.push_back(std::move(row));
  }
  json out = header_json(model);
  // The flat keys of the scripts that people have: they speak of one device, the first of those
  // shown.
  bool const has_device = !model.devices.empty();
  out["segments"] = has_device ? segments_json(model.devices.front().segments) : json(nullptr);
  out["baseline"] = has_device ? baseline_json(model.devices.front().baseline) : json(nullptr);
  out["top_sources"] = has_device ? top_sources_json(model.devices.front()) : json::array();
  add_footer(model, std::move(devices), out);
  return to_text(out);
}

}  // namespace memreplay
