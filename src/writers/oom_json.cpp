// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `oom` as JSON, one to one; docs/report-schema.md describes every key.
#include <string>
#include <utility>

#include <memreplay/write_report.hpp>

#include "writers/json_parts.hpp"

namespace memreplay {

using namespace writers;

namespace {

json request_json(failed_request_report const& request) {
  return {{"origin", to_string(request.origin)},
          {"bytes", optional_json(request.bytes)},
          {"driver_bytes", optional_json(request.driver_bytes)},
          {"small", request.is_small},
          {"stream", request.stream},
          {"pool", {request.pool_first, request.pool_second}},
          {"site", request.site},
          {"label", request.label},
          {"file", request.file},
          {"line", request.line},
          {"link", request.link},
          {"chain", request.chain}};
}

json memory_json(oom_device_report const& device) {
  oom_memory const& memory = device.memory;
  return {{"allocated_bytes", optional_json(memory.allocated_bytes)},
          {"requested_bytes", optional_json(memory.requested_bytes)},
          {"pending_bytes", optional_json(memory.pending_bytes)},
          {"inactive_bytes", optional_json(memory.inactive_bytes)},
          {"reserved_bytes", device.has_map ? json(memory.reserved_bytes) : json(nullptr)},
          {"segments", memory.segments},
          {"private_pool_bytes", memory.private_pool_bytes},
          {"driver_free_bytes", optional_json(memory.driver_free_bytes)},
          {"capacity_bytes", optional_json(memory.capacity_bytes)},
          {"outside_bytes", optional_json(memory.outside_bytes)},
          {"available_earlier_bytes", memory.available_earlier_bytes},
          {"available_earlier_event", memory.available_earlier_event},
          {"taken_since_bytes", optional_json(memory.taken_since_bytes)},
          {"unplaced_bytes", memory.unplaced_bytes},
          {"exact", memory.exact},
          {"reason", memory.reason}};
}

json verdict_json(oom_verdict const& verdict) {
  json secondary = json::array();
  for (oom_cause const cause : verdict.secondary) secondary.push_back(to_string(cause));
  return {{"cause", to_string(verdict.cause)},
          {"confidence", to_string(verdict.sure)},
          {"text", verdict.text},
          {"secondary", std::move(secondary)}};
}

json advice_json(std::vector<oom_advice> const& rows) {
  json out = json::array();
  for (oom_advice const& row : rows) {
    out.push_back({{"kind", row.kind},
                   {"what", row.what},
                   {"why", row.why},
                   {"bytes", optional_json(row.bytes)}});
  }
  return out;
}

void add_free_space(oom_device_report const& device, json& out) {
  json rows = json::array();
  for (free_space_row const& row : device.free_space) {
    rows.push_back({{"stream", row.stream},
                    {"pool", {row.pool_first, row.pool_second}},
                    {"small", row.is_small},
                    {"segments", row.segments},
                    {"reserved_bytes", row.reserved_bytes},
                    {"pending_bytes", row.pending_bytes},
                    {"free_bytes", row.free_bytes},
                    {"holes", row.holes},
                    {"largest_bytes", row.largest_bytes},
                    {"why", row.why}});
  }
  json reasons = json::array();
  for (free_reason_row const& row : device.free_by_reason) {
    reasons.push_back({{"why", row.why},
                       {"bytes", row.bytes},
                       {"holes", row.holes},
                       {"largest_bytes", row.largest_bytes}});
  }
  out["free_space"] = std::move(rows);
  out["free_by_reason"] = std::move(reasons);
  out["largest_hole_bytes"] = device.largest_hole_bytes;
}

void add_pinners(oom_device_report const& device, json& out) {
  json rows = json::array();
  for (pinner_row const& row : device.pinners) {
    rows.push_back({{"site", row.site},
                    {"label", row.label},
                    {"file", row.file},
                    {"line", row.line},
                    {"link", row.link},
                    {"stranded_bytes", row.stranded_bytes},
                    {"segments", row.segments},
                    {"live_bytes", row.live_bytes},
                    {"other_sites", row.other_sites}});
  }
  out["pinned_bytes"] = device.pinned_bytes;
  out["pinners"] = std::move(rows);
  out["pinners_rest"] = {{"sites", device.pinners_rest.sites},
                         {"stranded_bytes", device.pinners_rest.stranded_bytes},
                         {"segments", device.pinners_rest.segments}};
  out["empty_segments"] = device.empty_segments;
  out["empty_segment_bytes"] = device.empty_segment_bytes;
}

json before_json(std::optional<last_events> const& before) {
  if (!before) return nullptr;
  return {{"first_event", before->first_event},
          {"seconds", optional_json(before->seconds)},
          {"allocs", before->allocs},
          {"alloc_bytes", before->alloc_bytes},
          {"frees", before->frees},
          {"free_bytes", before->free_bytes},
          {"net_bytes", before->net_bytes},
          {"segment_allocs", before->segment_allocs},
          {"segment_alloc_bytes", before->segment_alloc_bytes},
          {"segment_frees", before->segment_frees},
          {"segment_free_bytes", before->segment_free_bytes},
          {"burst_frees", before->burst_frees},
          {"burst_bytes", before->burst_bytes},
          {"grown", sites_json(before->grown)},
          {"grown_rest", rest_json(before->grown_rest)}};
}

}  // namespace

std::string write_oom_json(oom_report const& model) {
  json devices = json::array();
  for (oom_device_report const& device : model.devices) {
    json row = json::object();
    row["device"] = device.device;
    row["events"] = device.events;
    row["oom_count"] = device.oom_count;
    row["event"] = device.event;
    row["end"] = device.is_end;
    row["time_us"] = optional_json(device.time_us);
    row["seconds"] = optional_json(device.seconds);
    row["within"] = device.within;
    row["verdict"] = verdict_json(device.verdict);
    row["request"] = request_json(device.request);
    row["memory"] = memory_json(device);
    row["has_map"] = device.has_map;
    row["advice"] = advice_json(device.advice);
    add_free_space(device, row);
    add_pinners(device, row);
    row["holders"] = sites_json(device.holders);
    row["holders_rest"] = rest_json(device.holders_rest);
    row["before"] = before_json(device.before);
    row["audit"] = audit_json(device.defects);
    devices.push_back(std::move(row));
  }
  json out = header_json(model);
  out["audit"] = audit_json(model.defects);
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
