// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pieces of JSON that several reports share.
#include "writers/json_parts.hpp"

#include <algorithm>
#include <utility>

namespace memreplay::writers {
namespace {

constexpr std::ptrdiff_t most_brackets_of_a_setting = 64;

/// Settings arrive as JSON text; what is none stays text. Few brackets only: nesting costs stack
/// when written.
json setting_json(std::string const& text) {
  auto const brackets = std::count_if(text.begin(), text.end(),
                                      [](char letter) { return letter == '[' || letter == '{'; });
  if (brackets > most_brackets_of_a_setting) return text;
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

json settings_json(report_header const& model) {
  json out = json::object();
  for (auto const& [key, value] : model.settings) out[key] = setting_json(value);
  return out;
}

}  // namespace

void add_exactness(exactness const& value, json& out) {
  out["exact"] = value.exact;
  if (value.exact) return;
  out["low"] = value.low;
  out["high"] = value.high;
  out["reason"] = value.reason;
}

json exactness_json(exactness const& value) {
  json out = json::object();
  if (value.exact) out["bytes"] = value.low;
  add_exactness(value, out);
  return out;
}

json curve_json(curve_summary const& curve) {
  return {{"start_bytes", curve.start_bytes},
          {"peak_bytes", curve.peak_bytes},
          {"peak_event", curve.peak_event},
          {"end_bytes", curve.end_bytes}};
}

json actions_json(std::vector<action_count_row> const& rows) {
  json out = json::object();
  for (action_count_row const& row : rows) out[row.action] = row.count;
  return out;
}

json audit_json(audit const& rows) {
  json out = json::array();
  for (audit_row const& row : rows) {
    out.push_back({{"kind", row.kind},
                   {"level", to_string(row.level)},
                   {"count", row.count},
                   {"bytes", row.bytes},
                   {"message", row.message},
                   {"advice", row.advice}});
  }
  return out;
}

json sites_json(std::vector<site_row> const& rows) {
  json out = json::array();
  for (site_row const& row : rows) {
    out.push_back({{"site", row.site},
                   {"label", row.label},
                   {"file", row.file},
                   {"line", row.line},
                   {"link", row.link},
                   {"chain", row.chain},
                   {"bytes", row.bytes},
                   {"tensors", row.tensors},
                   {"share", row.share}});
  }
  return out;
}

json rest_json(rest_row const& rest) {
  return {{"sites", rest.sites},
          {"bytes", rest.bytes},
          {"tensors", rest.tensors},
          {"share", rest.share}};
}

json segments_json(segment_summary const& sum) {
  return {{"count", sum.count},
          {"total_size", sum.total_bytes},
          {"allocated_size", sum.allocated_bytes},
          {"active_size", sum.active_bytes},
          {"awaiting_free_size", sum.pending_bytes},
          {"inactive_size", sum.inactive_bytes},
          {"requested_size", sum.requested_bytes},
          {"largest_inactive_size", sum.largest_inactive_bytes},
          {"private_pool_size", sum.private_pool_bytes},
          {"fragmentation", sum.fragmentation}};
}

json ooms_json(std::vector<oom_row> const& rows) {
  json out = json::array();
  for (oom_row const& row : rows) {
    out.push_back({{"event", row.event},
                   {"time_us", optional_json(row.time_us)},
                   {"seconds", optional_json(row.seconds)},
                   {"requested_bytes", row.requested_bytes},
                   {"device_free_bytes", row.device_free_bytes},
                   {"site", row.site},
                   {"within", row.within}});
  }
  return out;
}

json findings_json(std::vector<finding> const& rows) {
  json out = json::array();
  for (finding const& row : rows)
    out.push_back({{"kind", row.kind}, {"text", row.text}, {"bytes", row.bytes}});
  return out;
}

json header_json(report_header const& model) {
  json out = json::object();
  out["schema"] = model.schema;
  out["file"] = model.file;
  out["file_size_bytes"] = model.file_bytes;
  out["snapshot_size_bytes"] = model.snapshot_bytes;
  out["container"] = model.container;
  out["pickle_protocol"] = model.pickle_protocol < 0 ? json(nullptr) : json(model.pickle_protocol);
  out["has_traces"] = model.has_traces;
  out["has_segments"] = model.has_segments;
  out["salvaged"] = model.is_salvaged;
  out["backend"] = model.backend;
  out["backend_reason"] = model.backend_reason;
  out["measure"] = to_string(model.plan.what);
  out["sizes"] = to_string(model.plan.sizes);
  out["carried_in"] = to_string(model.plan.older);
  out["site_rule"] = to_string(model.rule);
  out["rule_note"] = model.rule_note;
  out["project_root"] = model.project_root;
  out["settings"] = settings_json(model);
  out["devices_in_file"] = model.devices_in_file;
  return out;
}

std::string to_text(json const& value) {
  // Names may hold bytes that are no UTF-8 (lone surrogates): they become U+FFFD, never an
  // exception.
  return value.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace memreplay::writers
