// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// When a number is worth a sentence, and which sentence comes first.
#include "report/findings.hpp"

#include <string>

#include <gtest/gtest.h>

namespace memreplay::reporting {
namespace {

constexpr std::int64_t gib = 1'073'741'824;

peak_report peak_held_by(std::string const& site, std::int64_t bytes) {
  peak_report made;
  made.bytes = 10 * gib;
  made.allocated_bytes = made.active_bytes = made.reserved_bytes = made.bytes;
  site_row row;
  row.site = site;
  row.file = site;
  row.bytes = bytes;
  row.tensors = 1;
  row.share = 100.0 * static_cast<double>(bytes) / static_cast<double>(made.bytes);
  made.sites.push_back(row);
  return made;
}

device_report device_with(peak_report peak) {
  device_report made;
  made.events = 100;
  peak.is_global = true;
  made.peaks.push_back(std::move(peak));
  return made;
}

finding const* find(std::vector<finding> const& rows, std::string const& kind) {
  for (finding const& row : rows) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

TEST(findings, quiet_file_has_only_its_top_site) {
  std::vector<finding> const rows =
      make_findings({}, device_with(peak_held_by("model.py:42", 4 * gib)), {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].kind, "top_site");
  EXPECT_EQ(rows[0].text, "model.py:42 holds 4.000 GiB, 40.0 % of the global peak, in 1 tensor.");
  EXPECT_EQ(rows[0].bytes, 4 * gib);
}

TEST(findings, row_that_is_no_place_is_not_the_top_site) {
  EXPECT_EQ(find(make_findings({}, device_with(peak_held_by("<no frames>", gib)), {}), "top_site"),
            nullptr);
  EXPECT_EQ(
      find(make_findings({}, device_with(peak_held_by("before the trace", gib)), {}), "top_site"),
      nullptr);
}

TEST(findings, one_site_at_every_peak) {
  device_report device = device_with(peak_held_by("model.py:42", 4 * gib));
  device.peaks.push_back(peak_held_by("model.py:42", 3 * gib));
  EXPECT_NE(find(make_findings({}, device, {}), "same_site_at_all_peaks"), nullptr);
  device.peaks.push_back(peak_held_by("other.py:1", 3 * gib));
  EXPECT_EQ(find(make_findings({}, device, {}), "same_site_at_all_peaks"), nullptr);
}

TEST(findings, failed_request_comes_before_all) {
  device_report device = device_with(peak_held_by("model.py:42", 4 * gib));
  device.oom_count = 3;
  device.ooms.push_back({77, {}, {}, 2 * gib, 512, "head.py:9", ""});
  std::vector<finding> const rows = make_findings({}, device, {});
  EXPECT_EQ(rows[0].text,
            "The trace holds 3 out-of-memory events; the last is event 77: 2.000 GiB requested "
            "(rounded) by head.py:9 "
            "while the driver had 512 B free.");
}

TEST(findings, carried_in_memory_when_it_matters) {
  peak_report peak = peak_held_by("model.py:42", gib);
  peak.carried_in_bytes = 4 * gib;
  device_report device = device_with(peak);
  finding const* found = nullptr;
  std::vector<finding> const late = make_findings({}, device, {});
  ASSERT_NE(found = find(late, "carried_in"), nullptr);
  EXPECT_NE(found->text.find("40.0 %"), std::string::npos);
  EXPECT_NE(found->text.find("before the model is built"), std::string::npos);
  device.ring_truncated = true;
  std::vector<finding> const wrapped = make_findings({}, device, {});
  EXPECT_NE(find(wrapped, "carried_in")->text.find("max_entries"), std::string::npos);
  device.peaks[0].carried_in_bytes = gib / 2;
  EXPECT_EQ(find(make_findings({}, device, {}), "carried_in"), nullptr);
}

TEST(findings, gap_names_the_setting_only_while_it_is_off) {
  peak_report peak = peak_held_by("model.py:42", gib);
  peak.reserved_bytes = 12 * gib;
  device_report const device = device_with(peak);
  report model;
  model.settings = {{"expandable_segments", "false"}};
  std::vector<finding> const off = make_findings(model, device, {});
  EXPECT_NE(find(off, "reserved_not_allocated")->text.find("expandable_segments:True"),
            std::string::npos);
  EXPECT_EQ(find(off, "reserved_not_allocated")->bytes, 2 * gib);
  model.settings = {{"expandable_segments", "true"}};
  std::vector<finding> const on = make_findings(model, device, {});
  EXPECT_EQ(find(on, "reserved_not_allocated")->text.find("expandable_segments:True"),
            std::string::npos);
  EXPECT_EQ(
      find(make_findings(model, device_with(peak_held_by("a", gib)), {}), "reserved_not_allocated"),
      nullptr);
}

TEST(findings, missing_stacks_say_how_to_record) {
  device_report const device = device_with(peak_held_by("model.py:42", gib));
  std::vector<finding> const none = make_findings({}, device, {100, 60, 80});
  EXPECT_NE(find(none, "no_frames"), nullptr);
  EXPECT_EQ(find(none, "no_python_frames"), nullptr);
  EXPECT_NE(find(make_findings({}, device, {100, 10, 80}), "no_python_frames"), nullptr);
  EXPECT_EQ(find(make_findings({}, device, {100, 10, 20}), "no_python_frames"), nullptr);
  EXPECT_EQ(find(make_findings({}, device, {0, 0, 0}), "no_frames"), nullptr);
}

TEST(findings, end_state_and_private_pools) {
  device_report device = device_with(peak_held_by("model.py:42", gib));
  device.segments = {4, 10 * gib, 7 * gib, 7 * gib, 0, 3 * gib, 7 * gib, gib, 2 * gib, 30.0};
  std::vector<finding> const rows = make_findings({}, device, {});
  EXPECT_EQ(find(rows, "inactive_at_end")->bytes, 3 * gib);
  EXPECT_NE(find(rows, "inactive_at_end")->text.find("largest free block is 1.000 GiB"),
            std::string::npos);
  EXPECT_EQ(find(rows, "private_pools")->bytes, 2 * gib);
}

TEST(findings, file_with_one_event_has_no_history) {
  device_report device;
  device.events = 1;
  device.segments.count = 10;
  EXPECT_NE(find(make_findings({}, device, {}), "no_history"), nullptr);
}

TEST(findings, lost_beginning_is_told_with_its_reason) {
  device_report device;
  device.events = 100;
  device.ring_truncated = true;
  device.ring_reason = "the file says so";
  std::vector<finding> const rows = make_findings({}, device, {});
  EXPECT_NE(find(rows, "ring_truncated")->text.find("the file says so"), std::string::npos);
}

}  // namespace
}  // namespace memreplay::reporting
