// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A baseline as JSON; report/read_baseline reads it back.
#include <memreplay/write_report.hpp>

#include <utility>

#include "writers/json_parts.hpp"

namespace memreplay {

using namespace writers;

namespace {

json device_json(baseline_device const& device) {
  json out = json::object();
  out["device"] = device.device;
  out["carried_in_bytes"] = device.carried_in_bytes;
  out["end_bytes"] = device.end_bytes;
  out["peak_bytes"] = device.peak_bytes;
  add_exactness(device.peak, out);
  out["max_memory_allocated"] = exactness_json(device.max_memory_allocated);
  out["reserved_peak_bytes"] = device.reserved_peak_bytes;
  json sites = json::array();
  for (site_row const& row : device.sites) {
    sites.push_back({{"site", row.site},
                     {"label", row.label},
                     {"file", row.file},
                     {"line", row.line},
                     {"bytes", row.bytes},
                     {"tensors", row.tensors}});
  }
  out["sites"] = std::move(sites);
  return out;
}

}  // namespace

std::string write_baseline(memory_baseline const& model) {
  json out = json::object();
  out["schema"] = baseline_schema_version;
  out["file"] = model.file;
  out["measure"] = to_string(model.what);
  out["sizes"] = to_string(model.sizes);
  out["carried_in"] = to_string(model.older);
  out["site_rule"] = to_string(model.rule);
  out["frame_depth"] = model.frame_depth;
  json devices = json::array();
  for (baseline_device const& device : model.devices) devices.push_back(device_json(device));
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
