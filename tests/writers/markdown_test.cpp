// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The markdown report, and foreign text in it.
#include <memreplay/write_report.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "writers/markdown_text.hpp"

namespace memreplay {
namespace {

constexpr std::int64_t gib = 1'073'741'824;

report small_report() {
  report model;
  model.file = "run.pickle";
  model.container = "pickle";
  model.file_bytes = 2048;
  model.backend = "host";
  model.project_root = "/code/proj";
  model.devices_in_file = {0, 1};
  device_report device;
  device.events = 50'000;
  device.span_seconds = 3.5;
  device.measured = {0, 10 * gib, 31'337, gib};
  device.max_memory_allocated = {true, 11 * gib, 11 * gib, ""};
  device.measured_exactness = {true, 10 * gib, 10 * gib, ""};
  device.reserved_at_peak_bytes = 12 * gib;
  device.timeline = {{0, 0, 5 * gib}, {25'000, 0, 10 * gib}};
  peak_report peak;
  peak.bytes = 10 * gib;
  peak.event = 31'337;
  peak.seconds = 2.25;
  peak.is_global = true;
  peak.carried_in_bytes = 4 * gib;
  peak.trace_bytes = 6 * gib;
  peak.within = "ProfilerStep#3";
  site_row row;
  row.site = "model.py:42";
  row.label = "Net.forward";
  row.link = "vscode://file/code/proj/model.py:42";
  row.chain = "Net.forward:42 <- train.py:9";
  row.bytes = 9 * gib;
  row.tensors = 1'200;
  row.share = 90.0;
  peak.sites.push_back(row);
  peak.rest = {7, gib, 30, 10.0};
  device.peaks.push_back(peak);
  device.findings.push_back({"top_site", "model.py:42 holds much.", 1});
  device.defects.push_back({"double_allocs", severity::notice, 3, 512, "message", "advice"});
  model.defects.push_back({"unknown_keys", severity::info, 2, 0, "of the file", ""});
  model.devices.push_back(device);
  return model;
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

std::size_t cells_of(std::string const& line) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '|' && (at == 0 || line[at - 1] != '\\')) ++count;
  }
  return count;
}

TEST(markdown, header_relates_the_peak_to_the_allocators_counter) {
  std::string const text = write_markdown(small_report());
  EXPECT_TRUE(contains(text,
                       "**Peak**: **10.000 GiB** (10,737,418,240 bytes) at event 31,337: 6.000 GiB "
                       "from the trace + 4.000 GiB carried in"));
  EXPECT_TRUE(contains(text, "**torch.cuda.max_memory_allocated** over this trace: 11.000 GiB"));
  EXPECT_TRUE(contains(text, "**Devices in the file**: 0, 1"));
  EXPECT_TRUE(contains(text, "50,000 events over 3.500 s"));
}

TEST(markdown, peak_has_its_place_its_table_and_its_rest) {
  std::string const text = write_markdown(small_report());
  EXPECT_TRUE(contains(text, "## Peak 1: 10.000 GiB (**global peak**)"));
  EXPECT_TRUE(contains(text, "At event 31,337 (2.250 s), within ProfilerStep#3."));
  EXPECT_TRUE(contains(
      text,
      "| 1 | 9.000 GiB | 90.0 | 1,200 | [model.py:42](vscode://file/code/proj/model.py:42) "
      "Net.forward | Net.forward:42 <- train.py:9 |"));
  EXPECT_TRUE(contains(text, "| | 1.000 GiB | 10.0 | 30 | *7 more sites* | |"));
}

TEST(markdown, findings_come_last_and_audit_holds_file_and_device) {
  std::string const text = write_markdown(small_report());
  EXPECT_LT(text.find("## Audit"), text.find("## Findings"));
  EXPECT_TRUE(contains(text, "| notice | double_allocs | 3 | 512 B | message | advice |"));
  EXPECT_TRUE(contains(text, "| info | unknown_keys | 2 |  | of the file |  |"));
  EXPECT_TRUE(contains(text, "1. model.py:42 holds much.\n"));
}

TEST(markdown, curve_is_drawn_with_its_peak_marked) {
  EXPECT_TRUE(contains(write_markdown(small_report()), "\u2585\u2588  0 B to 10.000 GiB\n 1\n"));
}

TEST(markdown, peak_before_the_first_event_reads_well) {
  report model = small_report();
  model.devices[0].measured.peak_event = before_trace;
  model.devices[0].peaks[0].event = before_trace;
  model.devices[0].peaks[0].seconds.reset();
  std::string const text = write_markdown(model);
  EXPECT_TRUE(
      contains(text, "**Peak**: **10.000 GiB** (10,737,418,240 bytes) before the first event:"));
  EXPECT_TRUE(contains(text, "\nBefore the first event, within ProfilerStep#3."));
}

TEST(markdown, rule_that_was_not_the_default_is_told_once) {
  report model = small_report();
  EXPECT_TRUE(contains(write_markdown(model), "**Sites**: innermost frame under /code/proj\n"));
  model.rule = site_rule::user;
  model.rule_note = "no frame lies under /code/proj";
  EXPECT_TRUE(contains(write_markdown(model), "**Sites**: no frame lies under /code/proj\n"));
}

TEST(markdown, inexact_numbers_say_so) {
  report model = small_report();
  model.devices[0].measured_exactness = {false, 10 * gib, 11 * gib, "file cut"};
  EXPECT_TRUE(contains(write_markdown(model), "**Peak**: **10.00-11.00 GiB (file cut)**"));
}

TEST(markdown, site_without_link_is_text) {
  report model = small_report();
  model.devices[0].peaks[0].sites[0].link.clear();
  EXPECT_TRUE(contains(write_markdown(model), "| model.py:42 Net.forward |"));
}

TEST(markdown, label_that_the_site_holds_already_is_not_repeated) {
  report model = small_report();
  model.devices[0].peaks[0].sites[0].site = "forward@model.py:42";
  model.devices[0].peaks[0].sites[0].label = "forward";
  EXPECT_TRUE(contains(write_markdown(model),
                       "[forward@model.py:42](vscode://file/code/proj/model.py:42) |"));
}

TEST(markdown, hostile_names_break_no_table_and_become_no_markup) {
  report model = small_report();
  std::string const name = "a|b`c[d]<script>\n| x | __init__ \xED\xA0\x80";
  model.file = name;
  model.devices[0].peaks[0].within = name;
  model.devices[0].peaks[0].sites[0].site = name;
  model.devices[0].peaks[0].sites[0].label = name + "!";
  model.devices[0].peaks[0].sites[0].chain = name;
  model.devices[0].defects[0].message = name;
  model.devices[0].findings[0].text = name;
  std::string const text = write_markdown(model);
  EXPECT_FALSE(contains(text, "<script>"));
  EXPECT_FALSE(contains(text, "\xED\xA0\x80"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| ") || line.starts_with("|-")) {
      EXPECT_EQ(cells_of(line), 7U) << line;
    }
  }
}

TEST(markdown, several_devices_have_a_part_each) {
  report model = small_report();
  model.devices.push_back(model.devices[0]);
  model.devices[1].device = 1;
  std::string const text = write_markdown(model);
  EXPECT_TRUE(contains(text, "# Device 0\n"));
  EXPECT_TRUE(contains(text, "# Device 1\n"));
}

TEST(markdown, empty_trace_says_so) {
  report model = small_report();
  model.devices[0].peaks.clear();
  model.devices[0].timeline.clear();
  EXPECT_TRUE(contains(write_markdown(model), "No peak"));
  model.devices.clear();
  EXPECT_TRUE(contains(write_markdown(model), "# GPU memory peaks"));
}

TEST(markdown, failed_requests_have_a_table) {
  report model = small_report();
  model.devices[0].oom_count = 1;
  model.devices[0].ooms.push_back({77, {}, {}, 2 * gib, 512, "head.py:9", ""});
  EXPECT_TRUE(contains(write_markdown(model), "| 77 | 2.000 GiB | 512 B | head.py:9 |  |"));
}

TEST(markdown_text, escapes_only_what_markdown_would_read) {
  EXPECT_EQ(writers::markdown_text("max_memory_allocated"), "max_memory_allocated");
  EXPECT_EQ(writers::markdown_text("__init__"), "\\_\\_init\\_\\_");
  EXPECT_EQ(writers::markdown_text("a <- b -> c"), "a <- b -> c");
  EXPECT_EQ(writers::markdown_text("step > backward"), "step > backward");
  EXPECT_EQ(writers::markdown_text("> quote"), "&gt; quote");
  EXPECT_EQ(writers::markdown_text("<no frames>"), "&lt;no frames>");
  EXPECT_EQ(writers::markdown_text("a*b&c\\d$e~f"), "a\\*b&amp;c\\\\d\\$e\\~f");
}

}  // namespace
}  // namespace memreplay
