// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Checks of a report against limits and baselines.
#include <memreplay/make_check.hpp>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>
#include <memreplay/write_report.hpp>

#include "support/temporary_folder.hpp"

namespace memreplay {
namespace {

site_row site_of(std::string site, std::string label, std::int64_t line, std::int64_t bytes) {
  site_row made;
  made.site = std::move(site);
  made.label = std::move(label);
  made.file = "/a/m.py";
  made.line = line;
  made.bytes = bytes;
  made.tensors = 1;
  return made;
}

report report_of(std::vector<site_row> sites) {
  report made;
  made.file = "run.pickle";
  made.rule = site_rule::user;
  made.devices_in_file = {0};
  device_report device;
  std::int64_t const peak =
      std::accumulate(sites.begin(), sites.end(), std::int64_t{0},
                      [](std::int64_t sum, site_row const& row) { return sum + row.bytes; });
  device.measured.peak_bytes = peak;
  device.measured.end_bytes = 100;
  device.reserved.peak_bytes = 1000;
  device.measured_exactness = {true, peak, peak, {}};
  device.max_memory_allocated = {true, peak, peak, {}};
  device.peaks.emplace_back();
  device.peaks.back().bytes = peak;
  device.peaks.back().is_global = true;
  device.peaks.back().sites = std::move(sites);
  made.devices.push_back(std::move(device));
  return made;
}

report report_of(std::int64_t peak) { return report_of({site_of("f@m.py:3", "f", 3, peak)}); }

memory_limit percent_of(std::int64_t millionths) {
  return {memory_limit::kind::percent, millionths, std::to_string(millionths / 10'000) + "%"};
}
memory_limit cap_of(std::int64_t bytes) {
  return {memory_limit::kind::cap_bytes, bytes, std::to_string(bytes)};
}

check_report check(report const& now, report const& before, check_limits limits,
                   std::int64_t top = 0) {
  memory_baseline const baseline = make_baseline(before, {});
  return make_check(now, &baseline,
                    {.site = {}, .limits = std::move(limits), .top = top, .baseline_file = "b"});
}

check_limits growth(std::int64_t millionths) {
  check_limits made;
  made.every_measure = percent_of(millionths);
  return made;
}

TEST(check, value_equal_to_what_is_allowed_holds_and_one_byte_more_does_not) {
  EXPECT_EQ(check(report_of(1050), report_of(1000), growth(50'000)).result, check_result::holds);
  check_report const over = check(report_of(1051), report_of(1000), growth(50'000));
  EXPECT_EQ(over.result, check_result::exceeded);
  EXPECT_EQ(over.exceeded, 2);  // the peak and max_memory_allocated
  EXPECT_EQ(over.held, 2);
  ASSERT_EQ(over.failures.size(), 2U);
  EXPECT_NE(over.failures[0].find("peak is 1.03 KiB, +51 B (+5.10 %)"), std::string::npos)
      << over.failures[0];
  EXPECT_EQ(check(report_of(1000), report_of(1000), growth(0)).result, check_result::holds);
  EXPECT_EQ(check(report_of(900), report_of(1000), growth(0)).result, check_result::holds);
  EXPECT_EQ(check(report_of(1), report_of(0), growth(50'000)).result, check_result::exceeded);
}

TEST(check, part_of_a_byte_is_not_allowed) {
  EXPECT_EQ(check(report_of(31), report_of(30), growth(50'000)).devices[0].measures[0].result,
            check_result::holds);
  EXPECT_EQ(check(report_of(32), report_of(30), growth(50'000)).devices[0].measures[0].result,
            check_result::exceeded);
}

TEST(check, interval_fails_only_where_no_value_holds) {
  report before = report_of(1000);
  report now = report_of(1060);
  auto const peak_result = [&](std::int64_t low, std::int64_t high) {
    now.devices[0].measured_exactness = {false, low, high, "ring truncated"};
    return check(now, before, growth(50'000)).devices[0].measures[0].result;
  };
  EXPECT_EQ(peak_result(1000, 1050), check_result::holds);
  EXPECT_EQ(peak_result(1050, 1100), check_result::cannot_tell);
  EXPECT_EQ(peak_result(1051, 1100), check_result::exceeded);
  before.devices[0].measured_exactness = {false, 1000, 1010, "block sizes estimated"};
  EXPECT_EQ(peak_result(1055, 1056), check_result::cannot_tell);  // 1060 is allowed over 1010
  EXPECT_EQ(peak_result(1061, 1062), check_result::exceeded);
}

TEST(check, what_nobody_can_tell_is_a_warning) {
  report now = report_of(1060);
  now.devices[0].measured_exactness = {false, 1000, 1100, "ring truncated"};
  now.devices[0].max_memory_allocated = {true, 1000, 1000, {}};
  check_report const made = check(now, report_of(1000), growth(50'000));
  EXPECT_EQ(made.result, check_result::cannot_tell);
  EXPECT_TRUE(made.failures.empty());
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_NE(made.warnings[0].find("ring truncated"), std::string::npos);
}

TEST(check, caps_need_no_baseline_and_hold_beside_growth) {
  check_limits limits;
  limits.named = {{"peak", cap_of(999)}};
  check_report const alone =
      make_check(report_of(1000), nullptr, {.site = {}, .limits = limits, .baseline_file = {}});
  EXPECT_EQ(alone.result, check_result::exceeded);
  EXPECT_FALSE(alone.devices[0].measures[0].growth);
  limits.every_measure = percent_of(0);
  EXPECT_EQ(check(report_of(1001), report_of(1000), limits).exceeded, 3);
}

TEST(check, named_growth_takes_the_place_of_the_general_one) {
  check_limits limits = growth(0);
  limits.named = {{"peak", percent_of(500'000)}, {"max_memory_allocated", percent_of(500'000)}};
  EXPECT_EQ(check(report_of(1500), report_of(1000), limits).result, check_result::holds);
}

TEST(check, sites_are_new_or_gone_and_grow_from_zero) {
  check_limits limits;
  limits.every_site = percent_of(1'000'000);
  check_report const made =
      check(report_of({site_of("f@m.py:3", "f", 3, 100), site_of("h@m.py:9", "h", 9, 50)}),
            report_of({site_of("f@m.py:3", "f", 3, 100), site_of("g@m.py:6", "g", 6, 70)}), limits);
  ASSERT_EQ(made.failures.size(), 1U);
  EXPECT_NE(made.failures[0].find("h@m.py:9"), std::string::npos);
  check_device const& device = made.devices[0];
  ASSERT_EQ(device.grown.size(), 2U);
  EXPECT_EQ(device.grown[0].site, "g@m.py:6");
  EXPECT_EQ(device.grown[0].growth_bytes, -70);
  EXPECT_EQ(device.grown[1].baseline_site, "");
  EXPECT_EQ(device.rest.sites, 1);
  EXPECT_EQ(device.rest.growth_bytes, 0);
  EXPECT_EQ(device.peak_growth_bytes, -20);
}

TEST(check, lines_that_moved_within_their_function_are_followed) {
  check_limits limits;
  limits.every_site = percent_of(0);
  check_report const made = check(
      report_of({site_of("f@m.py:13", "f", 13, 100), site_of("f@m.py:20", "f", 20, 50)}),
      report_of({site_of("f@m.py:3", "f", 3, 100), site_of("f@m.py:10", "f", 10, 40)}), limits);
  EXPECT_EQ(made.exceeded, 1);
  ASSERT_EQ(made.devices[0].grown.size(), 1U);
  EXPECT_EQ(made.devices[0].grown[0].site, "f@m.py:20");
  EXPECT_EQ(made.devices[0].grown[0].baseline_site, "f@m.py:10");
}

TEST(check, table_of_sites_adds_up_to_the_growth_of_the_peak) {
  std::vector<site_row> before;
  std::vector<site_row> now;
  for (std::int64_t line = 1; line <= 30; ++line) {
    std::string const text = "f@m.py:" + std::to_string(line);
    before.push_back(site_of(text, "f", line, 1000));
    now.push_back(site_of(text, "f", line, 1000 + line * (line % 2 == 0 ? 7 : -3)));
  }
  check_device const made = check(report_of(now), report_of(before), {}, 4).devices[0];
  ASSERT_EQ(made.grown.size(), 4U);
  EXPECT_EQ(made.grown[0].site, "f@m.py:30");
  std::int64_t sum = made.rest.growth_bytes;
  for (site_growth_row const& row : made.grown) sum += row.growth_bytes;
  EXPECT_EQ(sum, made.peak_growth_bytes);
  EXPECT_EQ(made.rest.sites, 26);
}

TEST(check, limit_of_a_site_that_neither_has_is_refused) {
  check_limits limits;
  limits.named = {{"f@m.py:4", cap_of(1)}};
  EXPECT_THROW((void)check(report_of(10), report_of(10), limits), error);
  limits.named = {{"f@m.py:3", cap_of(9)}};
  EXPECT_EQ(check(report_of(10), report_of(10), limits).exceeded, 1);
}

TEST(check, device_that_the_file_lacks_is_exceeded_and_one_that_the_baseline_lacks_is_refused) {
  report before = report_of(10);
  before.devices.push_back(before.devices[0]);
  before.devices[1].device = 3;
  check_report const made = check(report_of(10), before, growth(0));
  EXPECT_EQ(made.result, check_result::exceeded);
  ASSERT_EQ(made.devices.size(), 2U);
  EXPECT_EQ(made.devices[1].measures[0].name, "device");
  EXPECT_THROW((void)check(before, report_of(10), growth(0)), error);
}

TEST(check, other_options_are_refused) {
  report now = report_of(10);
  now.plan.sizes = size_basis::block;
  EXPECT_THROW((void)check(now, report_of(10), growth(0)), error);
  now = report_of(10);
  now.plan.what = measure::active;
  EXPECT_THROW((void)check(now, report_of(10), growth(0)), error);
  now = report_of(10);
  now.rule = site_rule::project;
  EXPECT_THROW((void)check(now, report_of(10), growth(0)), error);
}

TEST(check, huge_numbers_saturate) {
  report before = report_of(INT64_MAX);
  EXPECT_EQ(check(report_of(INT64_MAX), before, growth(10'000'000'000)).result,
            check_result::holds);
  before = report_of(INT64_MIN + 1);
  EXPECT_EQ(check(report_of(INT64_MAX), before, growth(0)).result, check_result::exceeded);
}

TEST(baseline, comes_back_as_it_was_written) {
  report model = report_of({site_of("f@m.py:3", "f", 3, 100), site_of("b\xff@m.py:4", "b", 4, 5)});
  model.devices[0].measured_exactness = {false, 90, 110, "file cut"};
  site_options options;
  options.frame_depth = 2;
  memory_baseline const made = make_baseline(model, options);
  testing::temporary_folder const folder;
  std::string const path = (folder.path() / "b.json").string();
  std::ofstream(path) << write_baseline(made);
  memory_baseline const read = read_baseline(path);
  EXPECT_EQ(write_baseline(read), write_baseline(made));
  EXPECT_EQ(read.frame_depth, 2);
  EXPECT_EQ(read.devices[0].peak.reason, "file cut");
  // Bytes that JSON cannot hold do not make a site new.
  check_report const same =
      make_check(model, &read, {.site = options, .limits = growth(0), .baseline_file = "b"});
  EXPECT_TRUE(same.devices[0].grown.empty());
}

}  // namespace
}  // namespace memreplay
