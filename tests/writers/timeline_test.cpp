// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Page data and picture of a timeline: columns that come back, and names that nobody obeys.
#include <memreplay/write_report.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "writers/chart_axis.hpp"
#include "writers/markdown_text.hpp"
#include "writers/packed_column.hpp"

namespace memreplay {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- columns

TEST(packed_column, is_little_endian_in_base64) {
  EXPECT_EQ(writers::packed_u8({1, 2, 255}).dump(), R"({"u8":"AQL/"})");
  EXPECT_EQ(writers::packed_u32(std::vector<std::uint32_t>{1, 0x01020304}).dump(),
            R"({"u32":"AQAAAAQDAgE="})");
  EXPECT_EQ(writers::packed_f64(std::vector<double>{1.5}).dump(), R"({"f64":"AAAAAAAA+D8="})");
  EXPECT_EQ(writers::packed_f64(std::vector<std::int64_t>{-2}).dump(), R"({"f64":"AAAAAAAAAMA="})");
  EXPECT_EQ(writers::packed_u8({}).dump(), R"({"u8":""})");
}

TEST(packed_column, marks_events_before_the_first) {
  EXPECT_EQ(writers::packed_u32(std::vector<std::int64_t>{-1}).dump(), R"({"u32":"/////w=="})");
  EXPECT_EQ(writers::packed_u32(std::vector<std::int64_t>{std::int64_t{1} << 40}).dump(),
            R"({"u32":"/v///w=="})")
      << "no number is the mark";
}

// ---- axes

std::vector<std::string> texts(writers::chart_axis const& axis) {
  std::vector<std::string> made;
  for (writers::axis_tick const& tick : axis.ticks) made.push_back(tick.text);
  return made;
}

TEST(chart_axis, has_round_numbers) {
  writers::chart_axis const bytes = writers::make_byte_axis(8.4 * 0x1p30);
  EXPECT_EQ(bytes.unit, "GiB");
  EXPECT_THAT(texts(bytes), ElementsAre("0", "2", "4", "6", "8"));
  EXPECT_EQ(bytes.ticks[1].value, 2 * 0x1p30);
  EXPECT_THAT(texts(writers::make_byte_axis(0)), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(texts(writers::make_seconds_axis(0.9)),
              ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8"));
  EXPECT_THAT(texts(writers::make_event_axis(20'000'000)),
              ElementsAre("0", "5,000,000", "10,000,000", "15,000,000", "20,000,000"));
  EXPECT_THAT(texts(writers::make_event_axis(1)), ElementsAre("0", "1", "2", "3", "4"));
}

// ---- models

/// One device with two buckets.
device_timeline small_device() {
  device_timeline made;
  made.events = 4;
  made.has_times = true;
  made.span_seconds = 2.0;
  made.measured = {1 << 20, 3 << 20, 2, 2 << 20};
  made.measured_exactness = {true, 3 << 20, 3 << 20, {}};
  made.max_memory_allocated = made.measured_exactness;
  made.curves.first_event = {0, 2, 4};
  made.curves.seconds = {0.0, 1.0, 2.0};
  for (timeline_curve* curve :
       {&made.curves.allocated, &made.curves.active, &made.curves.reserved}) {
    static_cast<curve_summary&>(*curve) = made.measured;
    curve->low_bytes = {1 << 20, 2 << 20};
    curve->high_bytes = {2 << 20, 3 << 20};
  }
  peak_report peak;
  peak.bytes = 3 << 20;
  peak.event = 2;
  peak.seconds = 1.0;
  peak.is_global = true;
  made.peaks.push_back(peak);
  return made;
}

timeline_report report_of(std::string const& name) {
  timeline_report made;
  made.program = "memreplay 1";
  timeline_run run;
  run.label = name;
  run.file = name;
  run.stacks.frames.push_back({name, name, 3, {}});
  run.stacks.sites.push_back({name, name, name, 3, {}});
  run.stacks.first = {0, 1};
  run.stacks.frame = {0};
  run.stacks.site = {0};
  run.devices.push_back(small_device());
  run.devices.front().annotations.push_back({name, 0, 1});
  run.devices.front().ooms.push_back({3, {}, 1.5, 1 << 30, 5, name, name});
  made.runs.push_back(run);
  return made;
}

constexpr char const* hostile =
    "</script><!--<script>\"'&\xE2\x80\xA8\xE2\x80\xAE\x01\xFF\xEF\xBF\xBF";

TEST(timeline_json, is_what_the_page_reads) {
  json const read = json::parse(write_timeline_json(report_of("run")));
  EXPECT_EQ(read["schema"], timeline_schema_version);
  EXPECT_EQ(read["program"], "memreplay 1");
  json const& run = read["runs"][0];
  EXPECT_EQ(run["label"], "run");
  EXPECT_EQ(run["measure"], "allocated");
  EXPECT_EQ(run["stacks"]["first"]["u32"], "AAAAAAEAAAA=");
  json const& device = run["devices"][0];
  EXPECT_EQ(device["events"], 4);
  EXPECT_EQ(device["exactness"], (json{{"exact", true}, {"bytes", 3 << 20}}));
  EXPECT_EQ(device["curves"]["first_event"]["u32"], "AAAAAAIAAAAEAAAA");
  EXPECT_EQ(device["curves"]["allocated"]["peak_event"], 2);
  EXPECT_EQ(device["peaks"][0]["global"], true);
  EXPECT_EQ(device["map"], nullptr);
}

TEST(timeline_json, says_null_where_there_are_no_times) {
  timeline_report model = report_of("run");
  model.runs[0].devices[0].has_times = false;
  json const device = json::parse(write_timeline_json(model))["runs"][0]["devices"][0];
  EXPECT_EQ(device["curves"]["seconds"], nullptr);
  EXPECT_EQ(device["areas"]["seconds"], nullptr);
}

TEST(timeline_json, ends_no_script_element) {
  std::string const text = write_timeline_json(report_of(hostile));
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xA8")));
  std::string const label = json::parse(text)["runs"][0]["label"];
  EXPECT_TRUE(label.starts_with("</script><!--<script>\"'&\xE2\x80\xA8\xE2\x80\xAE\x01")) << label;
}

TEST(timeline_page, holds_the_data_once) {
  if (!has_timeline_page()) GTEST_SKIP() << "this build has no page";
  std::string const page = write_timeline_page(report_of(hostile));
  EXPECT_THAT(page, HasSubstr(write_timeline_json(report_of(hostile))));
  EXPECT_THAT(page, Not(HasSubstr("@PAGE_DATA@")));
  EXPECT_LT(page.find(timeline_page_signature), 4096U) << "a later run must know its own file";
}

// ---- the picture

TEST(timeline_svg, shows_curve_peak_oom_and_axes) {
  std::string const svg = write_timeline_svg(report_of("run.pickle"));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_LT(svg.find(timeline_svg_signature), 4096U);
  EXPECT_THAT(svg, HasSubstr("run.pickle, device 0, peak 3.00 MiB"));
  EXPECT_THAT(svg, HasSubstr(">MiB</text>"));
  EXPECT_THAT(svg, HasSubstr(">seconds</text>"));
  EXPECT_THAT(svg, HasSubstr(">OOM 1.000 GiB</text>"));
  EXPECT_THAT(svg, HasSubstr("<circle"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
}

TEST(timeline_svg, counts_events_where_there_are_no_times) {
  timeline_report model = report_of("run");
  model.runs[0].devices[0].has_times = false;
  model.runs[0].devices[0].curves.seconds.clear();
  EXPECT_THAT(write_timeline_svg(model), HasSubstr(">events</text>"));
}

TEST(timeline_svg, names_several_runs) {
  timeline_report model = report_of("first");
  model.runs.push_back(report_of("second").runs.front());
  std::string const svg = write_timeline_svg(model);
  EXPECT_THAT(svg, HasSubstr(">first</text>"));
  EXPECT_THAT(svg, HasSubstr(">second</text>"));
}

TEST(timeline_svg, obeys_no_name) {
  std::string const svg = write_timeline_svg(report_of(hostile));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\xE2\x80\xAE"))) << "the direction of writing stays";
  EXPECT_THAT(svg, Not(HasSubstr("\xEF\xBF\xBF"))) << "no character of XML";
  EXPECT_THAT(svg, HasSubstr("&lt;/script&gt;"));
}

TEST(timeline_svg, of_nothing_is_a_picture) {
  EXPECT_THAT(write_timeline_svg({}), HasSubstr("</svg>"));
  timeline_report model = report_of("no trace");
  device_timeline& device = model.runs[0].devices[0];
  device = {};
  device.curves.first_event = {0};
  EXPECT_THAT(write_timeline_svg(model), HasSubstr("</svg>"));
}

TEST(markdown_image, takes_any_file_name) {
  EXPECT_EQ(writers::markdown_image("curve", "a b/(x)|\xC3\xA4.svg"),
            "![curve](a%20b/%28x%29%7C%C3%A4.svg)");
}

}  // namespace
}  // namespace memreplay
