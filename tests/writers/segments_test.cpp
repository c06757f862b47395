// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What `segments` prints, in text, markdown and JSON.
#include <memreplay/write_report.hpp>

#include <string>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace memreplay {
namespace {

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

segments_report small_report() {
  segments_report model;
  model.schema = segments_schema_version;
  model.file = "run.pickle";
  model.asked = {moment_request::kind::event, 0.0, 41};
  device_segments device;
  device.device = 2;
  device.event = 41;
  device.seconds = 1.5;
  device.within = "ProfilerStep#7";
  device.is_exact = false;
  device.reason = "the file has no segments";
  device.unplaced_bytes = 512;
  device.totals = {3, 4'096, 2'048, 3'072, 1'024, 1'024, 2'000, 512, 1'024, 25.0};
  segment_row row;
  row.address = 0x7f00'0000'0000;
  row.of = {9, 1, 2, true};
  row.is_expandable = true;
  row.fill = {2'048, 1'024, 0, 1'024, 1'000, 1, 1, 1'024, 50.0};
  for (std::size_t slot = 0; slot < bar_slots / 2; ++slot) row.bar[slot] = 100;
  row.bar[0] = 1;
  row.owners.push_back({"forward@model.py:42", "forward", "", 42, "", "", 768, 1, 75.0});
  row.owners_rest = {2, 256, 2, 25.0};
  device.rows.push_back(row);
  device.rest = {2, {2'048, 1'024, 1'024, 0, 2'000, 2, 0, 0, 100.0}};
  device.pools.push_back({row.of, 3, {4'096, 2'048, 1'024, 1'024, 3'000, 3, 1, 1'024, 75.0}});
  model.devices.push_back(device);
  return model;
}

TEST(segments_text, says_what_lies_where) {
  std::string const text = write_segments(small_report(), text_format::text);
  EXPECT_TRUE(text.starts_with("memreplay segments: run.pickle\n")) << text;
  for (char const* part : {"=== Device 2 ===", "at event 41, 1.500 s, within ProfilerStep#7",
                           "the file has no segments", "512 B", "0x7f0000000000",
                           "small, expandable", "(1, 2)", "\u2581\u2588\u2588", "\u2588\u00B7",
                           "forward@model.py:42 768 B, 2 more sites 256 B", "2 more segments"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
}

TEST(segments_text, the_end_is_called_so) {
  segments_report model = small_report();
  model.asked = {};
  model.devices[0].event = before_trace;
  EXPECT_TRUE(contains(write_segments(model, text_format::text), "  the end, 1.500 s"));
}

TEST(segments_text, nothing_known_is_said) {
  segments_report model = small_report();
  model.devices[0].rows.clear();
  model.devices[0].rest = {};
  EXPECT_TRUE(
      contains(write_segments(model, text_format::text), "No segment is known at this moment."));
}

TEST(segments_markdown, has_tables) {
  std::string const text = write_segments(small_report(), text_format::markdown);
  EXPECT_TRUE(text.starts_with("# memreplay segments: run.pickle\n")) << text;
  EXPECT_TRUE(contains(text, "| 0x7f0000000000 | 2.00 KiB | 9 |")) << text;
}

TEST(segments_json, is_the_model) {
  auto const made = nlohmann::json::parse(write_segments_json(small_report()));
  EXPECT_EQ(made["schema"], "memreplay.segments/1");
  auto const& device = made["devices"][0];
  EXPECT_EQ(device["device"], 2);
  EXPECT_EQ(device["event"], 41);
  EXPECT_EQ(device["exact"], false);
  EXPECT_EQ(device["unplaced_bytes"], 512);
  EXPECT_EQ(device["totals"]["total_size"], 4'096);
  auto const& row = device["segments"][0];
  EXPECT_EQ(row["address"], 0x7f00'0000'0000);
  EXPECT_EQ(row["pool"], nlohmann::json::parse("[1, 2]"));
  EXPECT_EQ(row["small"], true);
  EXPECT_EQ(row["holes"], 1);
  EXPECT_EQ(row["bar"].size(), bar_slots);
  EXPECT_EQ(row["owners"][0]["bytes"], 768);
  EXPECT_EQ(device["segments_rest"]["segments"], 2);
  EXPECT_EQ(device["pools"][0]["segments"], 3);
}

}  // namespace
}  // namespace memreplay
