// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What `info` prints.
#include <memreplay/write_report.hpp>

#include <string>

#include <gtest/gtest.h>

namespace memreplay {
namespace {

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

report small_info() {
  report model;
  model.file = "run.pickle";
  model.container = "pickle in gzip";
  model.pickle_protocol = 4;
  model.file_bytes = 2'048;
  model.snapshot_bytes = 20'480;
  model.devices_in_file = {0, 3};
  model.settings = {{"expandable_segments", "false"}};
  model.steps.push_back({7, 10, 20'010, 20.0, true});
  model.annotations.push_back({"nccl:all_reduce", 588});
  model.annotations_rest = {4, 9};
  device_report device;
  device.device = 3;
  device.events = 100'000;
  device.actions = {{"alloc", 60'000}, {"oom", 1}};
  device.ring_truncated = true;
  device.ring_reason = "the file says so";
  device.unmatched_frees = 438;
  device.segments = {24, 4'096, 2'048, 3'072, 1'024, 1'024, 2'000, 512, 0, 25.0};
  device.streams.push_back({140'737'488, 5, 3, 4'096});
  device.pools.push_back({0, 2, 1, 4'096});
  device.top_allocators.push_back(
      {"forward@model.py:42", "forward", "", 42, "", "", 4'096, 3, 80.0});
  device.top_allocators_rest = {2, 1'024, 5, 20.0};
  device.oom_count = 1;
  device.ooms.push_back({50, {}, {}, 8'192, 512, "head.py:9", "ProfilerStep#7"});
  device.findings.push_back({"oom", "Something failed.", 1});
  model.devices.push_back(device);
  return model;
}

TEST(info_text, says_what_is_in_the_file) {
  std::string const text = write_info_text(small_info());
  for (char const* part :
       {"memreplay info: run.pickle\n",
        "pickle in gzip (pickle protocol 4)",
        "2.00 KiB",
        "20.00 KiB",
        "0, 3",
        "expandable_segments      false",
        "=== Device 3 ===",
        "100,000",
        "truncated; the file says so",
        "438",
        "Awaiting free            1.00 KiB",
        "Fragmentation            25.0 %",
        "(0, 2)",
        "140737488",
        "forward@model.py:42",
        "2 more sites",
        "ProfilerStep#7           20.000 ms",
        "588  nccl:all_reduce",
        "4 more names",
        "event 50: 8.00 KiB requested, driver had 512 B free, head.py:9, within ProfilerStep#7",
        "- Something failed."}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n---\n" << text;
  }
}

TEST(info_text, foreign_names_send_nothing_to_the_terminal) {
  report model = small_info();
  std::string const odd = "x\x1b[2J\ny\xED\xA0\x80";
  model.file = odd;
  model.settings.push_back({odd, odd});
  model.annotations.push_back({odd, 1});
  model.devices[0].top_allocators[0].site = odd;
  model.devices[0].ooms[0].site = odd;
  model.devices[0].findings[0].text = odd;
  std::string const text = write_info_text(model);
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\xED\xA0\x80"));
}

TEST(info_text, empty_file_prints) {
  report const model;
  EXPECT_TRUE(contains(write_info_text(model), "Devices"));
}

}  // namespace
}  // namespace memreplay
