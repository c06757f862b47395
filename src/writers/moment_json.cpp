// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `at` as JSON, one to one; docs/report-schema.md describes every key.
#include <memreplay/write_report.hpp>

#include <utility>

#include "writers/answers_json.hpp"

namespace memreplay {

namespace writers {

json moment_json(moment_report const& moment) {
  return {{"device", moment.device},
          {"events", moment.events},
          {"event", moment.event},
          {"time_us", optional_json(moment.time_us)},
          {"seconds", optional_json(moment.seconds)},
          {"span_seconds", optional_json(moment.span_seconds)},
          {"within", moment.within},
          {"bytes", moment.bytes},
          {"start_bytes", moment.start_bytes},
          {"delta_bytes", moment.delta_bytes},
          {"carried_in_bytes", moment.carried_in_bytes},
          {"trace_bytes", moment.trace_bytes},
          {"allocated_bytes", moment.allocated_bytes},
          {"active_bytes", moment.active_bytes},
          {"pending_bytes", moment.pending_bytes},
          {"reserved_bytes", moment.reserved_bytes},
          {"inactive_bytes", moment.inactive_bytes},
          {"fragmentation", moment.fragmentation},
          {"alloc_count", moment.alloc_count},
          {"free_count", moment.free_count},
          {"live_count", moment.live_count},
          {"sites", sites_json(moment.sites)},
          {"rest", rest_json(moment.rest)}};
}

json deltas_json(site_deltas const& sites) {
  json rows = json::array();
  for (site_delta_row const& row : sites.rows) {
    rows.push_back({{"site", row.site},
                    {"label", row.label},
                    {"link", row.link},
                    {"bytes_a", row.bytes_a},
                    {"bytes_b", row.bytes_b},
                    {"delta_bytes", row.delta_bytes},
                    {"tensors_a", row.tensors_a},
                    {"tensors_b", row.tensors_b},
                    {"from_count_bytes", row.from_count_bytes},
                    {"from_size_bytes", row.from_size_bytes}});
  }
  auto const one_sided_json = [](one_sided const& only) {
    return json{{"sites", only.sites}, {"bytes", only.bytes}, {"tensors", only.tensors}};
  };
  return {{"total_a", sites.total_a},
          {"total_b", sites.total_b},
          {"delta_bytes", sites.delta_bytes},
          {"carried_in_a", sites.carried_in_a},
          {"carried_in_b", sites.carried_in_b},
          {"rows", std::move(rows)},
          {"rest",
           {{"sites", sites.rest_sites},
            {"bytes_a", sites.rest_a},
            {"bytes_b", sites.rest_b},
            {"delta_bytes", sites.rest_delta}}},
          {"only_a", one_sided_json(sites.only_a)},
          {"only_b", one_sided_json(sites.only_b)}};
}

}  // namespace writers

using namespace writers;

std::string write_at_json(at_report const& model) {
  json out = header_json(model);
  // The flat keys of the scripts that people have: they speak of one device, the first shown.
  moment_report const& first = model.devices.front();
  json sources = json::array();
  for (site_row const& row : first.sites)
    sources.push_back({{"source", row.site}, {"bytes", row.bytes}, {"count", row.tensors}});
  out["time_s"] = optional_json(first.seconds);
  out["trace_duration_s"] = optional_json(first.span_seconds);
  out["baseline"] = first.start_bytes;
  out["delta"] = first.delta_bytes;
  out["absolute"] = first.bytes;
  out["alloc_count"] = first.alloc_count;
  out["free_count"] = first.free_count;
  out["live_count"] = first.live_count;
  out["sources"] = std::move(sources);
  out["audit"] = audit_json(model.defects);
  json devices = json::array();
  for (moment_report const& device : model.devices) devices.push_back(moment_json(device));
  out["devices"] = std::move(devices);
  return to_text(out);
}

std::string write_at_comparison_json(at_comparison const& model) {
  json out = {{"schema", model.schema}, {"file_a", model.a.file}, {"file_b", model.b.file}};
  moment_comparison const& first = model.devices.front();
  json sources = json::array();
  for (site_delta_row const& row : first.sites.rows) {
    sources.push_back({{"source", row.site},
                       {"bytes_a", row.bytes_a},
                       {"count_a", row.tensors_a},
                       {"bytes_b", row.bytes_b},
                       {"count_b", row.tensors_b},
                       {"delta", row.delta_bytes}});
  }
  out["time_s"] = optional_json(first.a.seconds);
  out["baseline_a"] = first.a.start_bytes;
  out["baseline_b"] = first.b.start_bytes;
  out["delta_a"] = first.a.delta_bytes;
  out["delta_b"] = first.b.delta_bytes;
  out["absolute_a"] = first.a.bytes;
  out["absolute_b"] = first.b.bytes;
  out["live_count_a"] = first.a.live_count;
  out["live_count_b"] = first.b.live_count;
  out["sources"] = std::move(sources);
  out["notes"] = model.notes;
  out["a"] = header_json(model.a);
  out["b"] = header_json(model.b);
  json devices = json::array();
  for (moment_comparison const& device : model.devices) {
    devices.push_back({{"a", moment_json(device.a)},
                       {"b", moment_json(device.b)},
                       {"deltas", deltas_json(device.sites)}});
  }
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
