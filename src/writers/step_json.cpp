// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The models of `steps` and `leaks` as JSON, one to one; docs/report-schema.md describes every key.
#include <memreplay/write_report.hpp>

#include <utility>

#include "writers/answers_json.hpp"

namespace memreplay {

namespace writers {

json span_json(span_report const& span) {
  json sources = json::array();
  for (site_row const& row : span.sites)
    sources.push_back(json::array({row.site, row.bytes, row.tensors}));
  json annotations = json::array();
  for (annotation_row const& row : span.annotations)
    annotations.push_back({{"name", row.name}, {"count", row.count}});
  return {{"step", span.where.number},
          {"name", span.where.name},
          {"complete", span.where.is_complete},
          {"start_us", optional_json(span.where.start_us)},
          {"end_us", optional_json(span.where.end_us)},
          {"duration_ms", optional_json(span.where.duration_ms)},
          {"first_event", span.where.events.first},
          {"last_event", span.where.events.last},
          {"alloc_count", span.alloc_count},
          {"free_count", span.free_count},
          {"total_throughput", span.throughput_bytes},
          {"start_bytes", span.start_bytes},
          {"end_bytes", span.end_bytes},
          {"end_delta", span.end_delta},
          {"peak_delta", span.peak_delta},
          {"absolute_peak", span.absolute_peak},
          {"peak_event", span.peak_event},
          {"reserved_at_peak_bytes", span.reserved_at_peak_bytes},
          {"carried_in_bytes", span.carried_in_bytes},
          {"live_count", span.live_count},
          {"unmatched_frees", span.unmatched_frees},
          {"unmatched_free_bytes", span.unmatched_free_bytes},
          {"has_sites", span.has_sites},
          {"top_sources_at_peak", std::move(sources)},
          {"sites", sites_json(span.sites)},
          {"rest", rest_json(span.rest)},
          {"annotations", std::move(annotations)}};
}

}  // namespace writers

using namespace writers;

namespace {

json leak_rows_json(std::vector<leak_row> const& rows) {
  json out = json::array();
  for (leak_row const& row : rows) {
    out.push_back({{"site", row.site},
                   {"label", row.label},
                   {"link", row.link},
                   {"chain", row.chain},
                   {"slope_bytes", row.slope_bytes},
                   {"growing_steps", row.growing_steps},
                   {"first_bytes", row.first_bytes},
                   {"last_bytes", row.last_bytes},
                   {"growth_bytes", row.growth_bytes},
                   {"first_tensors", row.first_tensors},
                   {"last_tensors", row.last_tensors},
                   {"bytes", row.bytes}});
  }
  return out;
}

json leaks_json(device_leaks const& device) {
  return {{"device", device.device},
          {"events", device.events},
          {"cut_into", device.cut.what},
          {"outside", device.cut.outside},
          {"steps", device.steps},
          {"live_bytes", device.live_bytes},
          {"slope_bytes", device.slope_bytes},
          {"leaks", leak_rows_json(device.leaks)},
          {"leaks_rest", device.leaks_rest},
          {"in_private_pools", leak_rows_json(device.in_private_pools)},
          {"never_freed_bytes", device.never_freed_bytes},
          {"never_freed_tensors", device.never_freed_tensors},
          {"never_freed", sites_json(device.never_freed)},
          {"never_freed_rest", rest_json(device.never_freed_rest)},
          {"findings", findings_json(device.findings)}};
}

}  // namespace

std::string write_steps_json(steps_report const& model) {
  json out = header_json(model);
  out["audit"] = audit_json(model.defects);
  json devices = json::array();
  for (device_steps const& device : model.devices) {
    json spans = json::array();
    for (span_report const& span : device.spans) spans.push_back(span_json(span));
    devices.push_back({{"device", device.device},
                       {"events", device.events},
                       {"cut_into", device.cut.what},
                       {"outside", device.cut.outside},
                       {"steps", std::move(spans)}});
  }
  out["devices"] = std::move(devices);
  return to_text(out);
}

std::string write_leaks_json(leaks_report const& model) {
  json out = header_json(model);
  out["audit"] = audit_json(model.defects);
  json devices = json::array();
  for (device_leaks const& device : model.devices) devices.push_back(leaks_json(device));
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
