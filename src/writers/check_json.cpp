// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `check` as JSON, one to one; docs/report-schema.md describes every key.
#include <memreplay/write_report.hpp>

#include <utility>

#include "writers/json_parts.hpp"

namespace memreplay {

using namespace writers;

namespace {

json limit_json(memory_limit const& limit) {
  json out = {{"text", limit.text}, {"kind", to_string(limit.how)}};
  out[limit.how == memory_limit::kind::percent ? "millionths" : "bytes"] = limit.amount;
  return out;
}

json optional_limit_json(std::optional<memory_limit> const& limit) {
  return limit ? limit_json(*limit) : json(nullptr);
}

json optional_exactness_json(std::optional<exactness> const& value) {
  return value ? exactness_json(*value) : json(nullptr);
}

json rows_json(std::vector<check_row> const& rows) {
  json out = json::array();
  for (check_row const& row : rows) {
    out.push_back({{"name", row.name},
                   {"baseline", optional_exactness_json(row.baseline)},
                   {"now", optional_exactness_json(row.now)},
                   {"growth", optional_exactness_json(row.growth)},
                   {"growth_percent", optional_json(row.growth_percent)},
                   {"limit", optional_limit_json(row.limit)},
                   {"allowed", optional_exactness_json(row.allowed)},
                   {"result", to_string(row.result)},
                   {"reason", row.reason}});
  }
  return out;
}

json grown_json(std::vector<site_growth_row> const& rows) {
  json out = json::array();
  for (site_growth_row const& row : rows) {
    out.push_back({{"site", row.site},
                   {"baseline_site", row.baseline_site},
                   {"label", row.label},
                   {"file", row.file},
                   {"line", row.line},
                   {"link", row.link},
                   {"baseline_bytes", row.baseline_bytes},
                   {"bytes", row.bytes},
                   {"growth_bytes", row.growth_bytes},
                   {"baseline_tensors", row.baseline_tensors},
                   {"tensors", row.tensors}});
  }
  return out;
}

json device_json(check_device const& device) {
  return {{"device", device.device},
          {"measures", rows_json(device.measures)},
          {"sites", rows_json(device.sites)},
          {"peak_growth_bytes", device.peak_growth_bytes},
          {"changed_sites", grown_json(device.grown)},
          {"changed_sites_rest",
           {{"sites", device.rest.sites},
            {"baseline_bytes", device.rest.baseline_bytes},
            {"bytes", device.rest.bytes},
            {"growth_bytes", device.rest.growth_bytes}}},
          {"audit", audit_json(device.defects)}};
}

json limits_json(check_limits const& limits) {
  json named = json::array();
  for (auto const& [name, limit] : limits.named)
    named.push_back({{"name", name}, {"limit", limit_json(limit)}});
  return {{"max_growth", optional_limit_json(limits.every_measure)},
          {"max_site_growth", optional_limit_json(limits.every_site)},
          {"named", std::move(named)}};
}

}  // namespace

std::string write_check_json(check_report const& model) {
  json out = header_json(model);
  out["baseline_file"] = model.baseline_file.empty() ? json(nullptr) : json(model.baseline_file);
  out["limits"] = limits_json(model.limits);
  out["result"] = to_string(model.result);
  out["held"] = model.held;
  out["exceeded"] = model.exceeded;
  out["cannot_tell"] = model.cannot_tell;
  out["failures"] = model.failures;
  out["warnings"] = model.warnings;
  out["audit"] = audit_json(model.defects);
  json devices = json::array();
  for (check_device const& device : model.devices) devices.push_back(device_json(device));
  out["devices"] = std::move(devices);
  return to_text(out);
}

}  // namespace memreplay
