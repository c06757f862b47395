// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The data of a timeline's page; docs/page-data.md describes every key.
#include <memreplay/write_report.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "writers/json_parts.hpp"
#include "writers/packed_column.hpp"

namespace memreplay {

using namespace writers;

namespace {

/// Of the text around it a script element knows `<` alone.
constexpr std::string_view escaped_less = "\\u003c";

std::string escape_less(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const less = std::min(text.find('<', at), text.size());
    out += text.substr(at, less - at);
    if (less < text.size()) out += escaped_less;
    at = less + 1;
  }
  return out;
}

json seconds_json(std::vector<double> const& seconds, bool has_times) {
  return has_times ? packed_f64(seconds) : json(nullptr);
}

json one_curve_json(timeline_curve const& curve) {
  json out = curve_json(curve);
  out["low"] = packed_f64(curve.low_bytes);
  out["high"] = packed_f64(curve.high_bytes);
  return out;
}

json curves_json(timeline_curves const& curves, bool has_times) {
  json out = json::object();
  out["first_event"] = packed_u32(curves.first_event);
  out["seconds"] = seconds_json(curves.seconds, has_times);
  out["allocated"] = one_curve_json(curves.allocated);
  out["active"] = one_curve_json(curves.active);
  out["reserved"] = one_curve_json(curves.reserved);
  return out;
}

json peaks_json(std::vector<peak_report> const& peaks) {
  json out = json::array();
  for (peak_report const& peak : peaks) {
    out.push_back({{"bytes", peak.bytes},
                   {"event", peak.event},
                   {"seconds", optional_json(peak.seconds)},
                   {"within", peak.within},
                   {"global", peak.is_global}});
  }
  return out;
}

json steps_json(std::vector<timeline_step> const& steps) {
  json out = json::array();
  for (timeline_step const& step : steps) {
    out.push_back({{"number", step.number},
                   {"name", step.name},
                   {"first_event", step.first_event},
                   {"last_event", step.last_event},
                   {"complete", step.is_complete}});
  }
  return out;
}

json annotations_json(std::vector<timeline_annotation> const& annotations) {
  json out = json::array();
  for (timeline_annotation const& one : annotations) {
    out.push_back(
        {{"name", one.name}, {"first_event", one.first_event}, {"last_event", one.last_event}});
  }
  return out;
}

json areas_json(area_bands const& areas, bool has_times) {
  json out = json::object();
  out["event"] = packed_u32(areas.event);
  out["seconds"] = seconds_json(areas.seconds, has_times);
  out["sites"] = packed_u32(areas.sites);
  out["bytes"] = packed_f64(areas.bytes);
  return out;
}

json lifetimes_json(lifetime_stack const& lifetimes) {
  json out = json::object();
  out["birth"] = packed_u32(lifetimes.birth);
  out["end"] = packed_u32(lifetimes.end);
  out["bytes"] = packed_f64(lifetimes.bytes);
  out["stack"] = packed_u32(lifetimes.stack);
  out["first_vertex"] = packed_u32(lifetimes.first_vertex);
  out["vertex_event"] = packed_u32(lifetimes.vertex_event);
  out["vertex_bytes"] = packed_f64(lifetimes.vertex_bytes);
  return out;
}

json flames_json(flame_rows const& flames) {
  json out = json::object();
  out["event"] = packed_u32(flames.event);
  out["first_row"] = packed_u32(flames.first_row);
  out["stack"] = packed_u32(flames.stack);
  out["bytes"] = packed_f64(flames.bytes);
  out["tensors"] = packed_u32(flames.tensors);
  out["rest_bytes"] = packed_f64(flames.rest_bytes);
  out["rest_tensors"] = packed_u32(flames.rest_tensors);
  return out;
}

json map_json(segment_map const& map) {
  json segments = json::array();
  for (map_segment const& row : map.segments) {
    segments.push_back({{"address", fmt::format("{:#x}", row.address)},
                        {"bytes", row.bytes},
                        {"stream", row.stream},
                        {"pool", {row.pool_first, row.pool_second}},
                        {"small", row.is_small},
                        {"expandable", row.is_expandable},
                        {"first_block", row.first_block},
                        {"blocks", row.blocks}});
  }
  std::vector<std::uint8_t> states;
  for (map_state const state : map.block_state) states.push_back(static_cast<std::uint8_t>(state));
  json out = json::object();
  out["event"] = map.event;
  out["seconds"] = optional_json(map.seconds);
  out["is_oom"] = map.is_oom;
  out["exact"] = map.is_exact;
  out["reason"] = map.reason;
  out["unplaced_bytes"] = map.unplaced_bytes;
  out["segments"] = std::move(segments);
  out["other_segments"] = map.other_segments;
  out["other_bytes"] = map.other_bytes;
  out["block_offset"] = packed_f64(map.block_offset);
  out["block_bytes"] = packed_f64(map.block_bytes);
  out["block_requested"] = packed_f64(map.block_requested);
  out["block_state"] = packed_u8(states);
  out["block_stack"] = packed_u32(map.block_stack);
  return out;
}

json device_json(device_timeline const& device) {
  json out = json::object();
  out["device"] = device.device;
  out["events"] = device.events;
  out["span_seconds"] = optional_json(device.span_seconds);
  out["has_times"] = device.has_times;
  out["exactness"] = exactness_json(device.measured_exactness);
  out["max_memory_allocated"] = exactness_json(device.max_memory_allocated);
  out["curves"] = curves_json(device.curves, device.has_times);
  out["peaks"] = peaks_json(device.peaks);
  out["ooms"] = ooms_json(device.ooms);
  out["steps"] = steps_json(device.steps);
  out["annotations"] = annotations_json(device.annotations);
  out["findings"] = findings_json(device.findings);
  out["audit"] = audit_json(device.defects);
  out["areas"] = areas_json(device.areas, device.has_times);
  out["lifetimes"] = lifetimes_json(device.lifetimes);
  out["flames"] = flames_json(device.flames);
  out["map"] = device.map ? map_json(*device.map) : json(nullptr);
  return out;
}

json frames_json(std::vector<shown_frame> const& frames) {
  json out = json::array();
  for (shown_frame const& frame : frames) {
    out.push_back({{"function", frame.function},
                   {"file", frame.file},
                   {"line", frame.line},
                   {"link", frame.link}});
  }
  return out;
}

json shown_sites_json(std::vector<shown_site> const& sites) {
  json out = json::array();
  for (shown_site const& site : sites) {
    out.push_back({{"site", site.site},
                   {"label", site.label},
                   {"file", site.file},
                   {"line", site.line},
                   {"link", site.link}});
  }
  return out;
}

json run_json(timeline_run const& run) {
  json out = json::object();
  out["label"] = run.label;
  out["file"] = run.file;
  out["measure"] = to_string(run.plan.what);
  out["sizes"] = to_string(run.plan.sizes);
  out["carried_in"] = to_string(run.plan.older);
  out["project_root"] = run.project_root;
  out["audit"] = audit_json(run.defects);
  out["frames"] = frames_json(run.stacks.frames);
  out["stacks"] = {{"first", packed_u32(run.stacks.first)},
                   {"frame", packed_u32(run.stacks.frame)}};
  out["stack_site"] = packed_u32(run.stacks.site);
  out["sites"] = shown_sites_json(run.stacks.sites);
  json devices = json::array();
  for (device_timeline const& device : run.devices) devices.push_back(device_json(device));
  out["devices"] = std::move(devices);
  return out;
}

}  // namespace

std::string write_timeline_json(timeline_report const& model) {
  json out = json::object();
  out["schema"] = model.schema;
  out["program"] = model.program;
  json runs = json::array();
  for (timeline_run const& run : model.runs) runs.push_back(run_json(run));
  out["runs"] = std::move(runs);
  // ASCII alone, so that no line separator of another script stands in it.
  return escape_less(out.dump(-1, ' ', true, json::error_handler_t::replace)) + '\n';
}

}  // namespace memreplay
