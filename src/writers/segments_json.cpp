// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `segments` as JSON, one to one; docs/report-schema.md describes every key.
#include <memreplay/write_report.hpp>

#include <utility>

#include "writers/json_parts.hpp"

namespace memreplay {

using namespace writers;

namespace {

void add_pool(segment_pool const& of, json& out) {
  out["stream"] = of.stream;
  out["pool"] = {of.pool_first, of.pool_second};
  out["small"] = of.is_small;
}

void add_fill(segment_fill const& fill, json& out) {
  out["bytes"] = fill.bytes;
  out["allocated_bytes"] = fill.allocated_bytes;
  out["pending_bytes"] = fill.pending_bytes;
  out["free_bytes"] = fill.free_bytes;
  out["requested_bytes"] = fill.requested_bytes;
  out["blocks"] = fill.blocks;
  out["holes"] = fill.holes;
  out["largest_hole_bytes"] = fill.largest_hole_bytes;
  out["fill"] = fill.fill;
}

json row_json(segment_row const& row) {
  json out = json::object();
  out["address"] = row.address;
  add_pool(row.of, out);
  out["expandable"] = row.is_expandable;
  add_fill(row.fill, out);
  out["owners"] = sites_json(row.owners);
  out["owners_rest"] = rest_json(row.owners_rest);
  out["bar"] = row.bar;
  return out;
}

json pool_json(segment_pool_row const& row) {
  json out = json::object();
  add_pool(row.of, out);
  out["segments"] = row.segments;
  add_fill(row.fill, out);
  return out;
}

json device_json(device_segments const& device) {
  json out = json::object();
  out["device"] = device.device;
  out["event"] = device.event;
  out["time_us"] = optional_json(device.time_us);
  out["seconds"] = optional_json(device.seconds);
  out["within"] = device.within;
  out["exact"] = device.is_exact;
  out["reason"] = device.reason;
  out["unplaced_bytes"] = device.unplaced_bytes;
  out["totals"] = segments_json(device.totals);
  json pools = json::array();
  for (segment_pool_row const& row : device.pools) pools.push_back(pool_json(row));
  out["pools"] = std::move(pools);
  json rows = json::array();
  for (segment_row const& row : device.rows) rows.push_back(row_json(row));
  out["segments"] = std::move(rows);
  json rest = json::object();
  rest["segments"] = device.rest.segments;
  add_fill(device.rest.fill, rest);
  out["segments_rest"] = std::move(rest);
  return out;
}

}  // namespace

std::string write_segments_json(segments_report const& model) {
  json out = header_json(model);
  out["audit"] = audit_json(model.defects);
  json devices = json::array();
  for (device_segments const& device : model.devices) devices.push_back(device_json(device));
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
