// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The keys of the JSON that other programs rely on.
#include <memreplay/write_report.hpp>

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace memreplay {
namespace {

using nlohmann::json;

report model_of_one_device() {
  report model;
  model.schema = report_schema_version;
  model.file = "run.pickle";
  model.file_bytes = 77;
  model.backend = "host";
  model.settings = {{"expandable_segments", "false"},
                    {"PYTORCH_CUDA_ALLOC_CONF", "\"a:1\""},
                    {"odd", "{nonsense"}};
  model.steps.push_back({7, 10, 20, 0.01, true});
  model.steps.push_back({8, 20, {}, {}, false});
  model.traces.push_back({0, 5, {{"alloc", 3}, {"oom", 2}}});
  device_report device;
  device.events = 5;
  device.actions = {{"alloc", 3}, {"oom", 2}};
  device.measured = {1, 9'007'199'254'740'993, -1, 2};
  device.peaks.emplace_back();
  device.peaks[0].sites.push_back({"a.py:1", "f", "/a.py", 1, "", "f:1", 60, 2, 60.0});
  device.peaks[0].rest = {1, 40, 3, 40.0};
  device.top_allocators.push_back({"f@a.py:1", "f", "/a.py", 1, "", "", 60, 2, 100.0});
  device.segments = {2, 1'000, 500, 600, 100, 400, 550, 300, 0, 40.0};
  device.baseline = baseline_summary{250, 600, 50, 400};
  model.devices.push_back(device);
  return model;
}

TEST(json, report_holds_the_promised_keys) {
  json const root = json::parse(write_json(model_of_one_device()));
  for (char const* key :
       {"schema", "file", "backend", "measure", "sizes", "carried_in", "devices", "audit"}) {
    EXPECT_TRUE(root.contains(key)) << key;
  }
  EXPECT_EQ(root["schema"], "memreplay.report/1");
  EXPECT_EQ(root["measure"], "allocated");
  EXPECT_EQ(root["sizes"], "requested");
  EXPECT_EQ(root["carried_in"], "include");
  json const& device = root["devices"][0];
  for (char const* key :
       {"device", "events", "carried_in_bytes", "end_bytes", "peak_bytes", "peak_event", "exact",
        "reserved_start_bytes", "reserved_peak_bytes", "reserved_end_bytes", "unmatched_frees",
        "audit", "peaks", "findings", "timeline"}) {
    EXPECT_TRUE(device.contains(key)) << key;
  }
  json const& peak = device["peaks"][0];
  for (char const* key : {"bytes", "event", "time_us", "sites", "rest"})
    EXPECT_TRUE(peak.contains(key)) << key;
  EXPECT_TRUE(peak["time_us"].is_null());
  for (char const* key : {"site", "file", "line", "bytes", "tensors", "share"}) {
    EXPECT_TRUE(peak["sites"][0].contains(key)) << key;
  }
  EXPECT_EQ(peak["rest"], (json{{"sites", 1}, {"bytes", 40}, {"tensors", 3}, {"share", 40.0}}));
}

TEST(json, bytes_are_whole_integers) {
  json const root = json::parse(write_json(model_of_one_device()));
  EXPECT_TRUE(root["devices"][0]["peak_bytes"].is_number_integer());
  EXPECT_EQ(root["devices"][0]["peak_bytes"].get<std::int64_t>(), 9'007'199'254'740'993);
  EXPECT_EQ(root["devices"][0]["peak_event"], -1);
}

TEST(json, inexact_numbers_carry_bounds_and_reason) {
  report model = model_of_one_device();
  model.devices[0].measured_exactness = {false, 90, 110, "file cut"};
  json const device = json::parse(write_json(model))["devices"][0];
  EXPECT_EQ(device["exact"], false);
  EXPECT_EQ(device["low"], 90);
  EXPECT_EQ(device["high"], 110);
  EXPECT_EQ(device["reason"], "file cut");
  EXPECT_EQ(device["max_memory_allocated"], (json{{"bytes", 0}, {"exact", true}}));
}

TEST(json, bytes_that_are_no_utf8_never_throw) {
  report model = model_of_one_device();
  std::string const odd = "a\xED\xA0\x80z\xFF";
  model.file = odd;
  model.settings.push_back({odd, odd});
  model.annotations.push_back({odd, 1});
  model.devices[0].peaks[0].sites[0].site = odd;
  model.devices[0].top_allocators[0].site = odd;
  EXPECT_TRUE(json::accept(write_json(model)));
  EXPECT_TRUE(json::accept(write_info_json(model)));
}

TEST(json, settings_are_values_where_they_are_json) {
  json const settings = json::parse(write_json(model_of_one_device()))["settings"];
  EXPECT_EQ(settings["expandable_segments"], false);
  EXPECT_EQ(settings["PYTORCH_CUDA_ALLOC_CONF"], "a:1");
  EXPECT_EQ(settings["odd"], "{nonsense");
}

TEST(json, deeply_nested_setting_stays_text) {
  report model = model_of_one_device();
  std::string const deep = std::string(100'000, '[') + std::string(100'000, ']');
  model.settings = {{"deep", deep}};
  EXPECT_EQ(json::parse(write_json(model))["settings"]["deep"], deep);
}

TEST(info_json, holds_the_flat_keys_of_the_scripts) {
  json const root = json::parse(write_info_json(model_of_one_device()));
  EXPECT_EQ(root["file_size_bytes"], 77);
  json const& segments = root["segments"];
  EXPECT_EQ(segments["count"], 2);
  EXPECT_EQ(segments["total_size"], 1'000);
  EXPECT_EQ(segments["allocated_size"], 500);
  EXPECT_EQ(segments["active_size"], 600);
  EXPECT_EQ(segments["awaiting_free_size"], 100);
  EXPECT_EQ(segments["inactive_size"], 400);
  EXPECT_EQ(root["baseline"], (json{{"baseline_at_start", 250},
                                    {"segments_active", 600},
                                    {"pre_existing_freed", 50},
                                    {"profiling_still_live", 400}}));
  EXPECT_EQ(root["profiler_steps"]["7"],
            (json{{"start_us", 10}, {"end_us", 20}, {"duration_ms", 0.01}, {"complete", true}}));
  EXPECT_TRUE(root["profiler_steps"]["8"]["end_us"].is_null());
  EXPECT_EQ(root["device_traces"][0],
            (json{{"device", 0}, {"event_count", 5}, {"actions", {{"alloc", 3}, {"oom", 2}}}}));
  EXPECT_EQ(root["top_sources"][0],
            (json{{"source", "f@a.py:1"}, {"throughput_bytes", 60}, {"alloc_count", 2}}));
}

TEST(info_json, file_without_devices_or_baseline) {
  report model = model_of_one_device();
  model.devices[0].baseline.reset();
  EXPECT_TRUE(json::parse(write_info_json(model))["baseline"].is_null());
  model.devices.clear();
  EXPECT_TRUE(json::parse(write_info_json(model))["segments"].is_null());
}

TEST(info_json, empty_lists_are_lists_and_empty_maps_are_maps) {
  report const model;
  json const root = json::parse(write_info_json(model));
  EXPECT_TRUE(root["audit"].is_array());
  EXPECT_TRUE(root["devices"].is_array());
  EXPECT_TRUE(root["top_sources"].is_array());
  EXPECT_TRUE(root["profiler_steps"].is_object());
  EXPECT_TRUE(root["settings"].is_object());
}

}  // namespace
}  // namespace memreplay
