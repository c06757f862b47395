// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Each finding of a comparison: what brings it up, and what just does not.
#include "report/comparison_findings.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memreplay::reporting {
namespace {

using ::testing::HasSubstr;

site_delta_row row_of(std::string const& site, std::int64_t a, std::int64_t b) {
  site_delta_row made;
  made.site = site;
  made.bytes_a = a;
  made.bytes_b = b;
  made.delta_bytes = b - a;
  made.tensors_a = a > 0 ? 2 : 0;
  made.tensors_b = b > 0 ? 2 : 0;
  made.from_size_bytes = made.delta_bytes;
  return made;
}

device_comparison device_of(std::vector<site_delta_row> rows) {
  device_comparison made;
  made.by = "profiler steps";
  for (site_delta_row const& row : rows) {
    made.sites.total_a += row.bytes_a;
    made.sites.total_b += row.bytes_b;
  }
  made.sites.delta_bytes = made.sites.total_b - made.sites.total_a;
  made.sites.rows = std::move(rows);
  return made;
}

/// The text of the finding; empty when there is none.
std::string find(device_comparison const& device, std::string const& kind,
                 std::vector<setting_difference> const& settings = {}) {
  for (finding const& one : make_comparison_findings(device, settings)) {
    if (one.kind == kind) return one.text;
  }
  return {};
}

TEST(comparison_findings, no_difference) {
  EXPECT_NE(find(device_of({row_of("f", 100, 100)}), "no_difference"), "");
  EXPECT_NE(find(device_of({row_of("f", 0, 100), row_of("g", 100, 0)}), "no_difference"), "");
  EXPECT_EQ(find(device_of({row_of("f", 100, 101)}), "no_difference"), "");
}

TEST(comparison_findings, the_site_that_moves_the_total_most) {
  auto const grown = device_of({row_of("f", 100, 600), row_of("g", 100, 150), row_of("h", 400, 0)});
  EXPECT_THAT(find(grown, "largest_difference"), HasSubstr("f: +500 B of +150 B"));
  auto const shrunk = device_of({row_of("f", 100, 300), row_of("h", 4000, 0)});
  EXPECT_THAT(find(shrunk, "largest_difference"), HasSubstr("h: -3.91 KiB of"));
  EXPECT_THAT(find(shrunk, "largest_difference"), HasSubstr("only A has it"));
  EXPECT_THAT(find(device_of({row_of("f", 0, 300)}), "largest_difference"),
              HasSubstr("only B has it"));
  EXPECT_EQ(find(device_of({row_of("f", 100, 100)}), "largest_difference"), "");
}

TEST(comparison_findings, many_small_sites_are_no_largest_difference) {
  std::vector<site_delta_row> rows;
  for (int row = 0; row < 6; ++row) rows.push_back(row_of("f", 100, 200));
  EXPECT_EQ(find(device_of(rows), "largest_difference"), "");
  rows.pop_back();
  EXPECT_NE(find(device_of(rows), "largest_difference"), "");
}

TEST(comparison_findings, memory_older_than_the_traces) {
  device_comparison device = device_of({row_of("f", 1000, 2000)});
  EXPECT_EQ(find(device, "carried_in"), "");
  device.sites.carried_in_b = 199;
  EXPECT_EQ(find(device, "carried_in"), "");
  device.sites.carried_in_b = 200;
  EXPECT_THAT(find(device, "carried_in"), HasSubstr("+200 B of the difference"));
  device.sites.carried_in_a = 500;
  EXPECT_THAT(find(device, "carried_in"), HasSubstr("-300 B"));
  device_comparison same = device_of({row_of("f", 1000, 1000)});
  same.sites.carried_in_b = 500;
  EXPECT_EQ(find(same, "carried_in"), "");
}

TEST(comparison_findings, graphs_leave_no_events) {
  device_comparison device = device_of({row_of("f", 1000, 2000)});
  device.a.alloc_count = 400;
  device.b.alloc_count = 100;
  device.b.segments.private_pool_bytes = 1 << 20;
  EXPECT_THAT(find(device, "cuda_graphs"), HasSubstr("B allocates far less often (100 times"));
  device.a.segments.private_pool_bytes = 1 << 20;
  EXPECT_EQ(find(device, "cuda_graphs"), "") << "as much in pools";
  device.a.segments.private_pool_bytes = 0;
  device.a.alloc_count = 399;
  EXPECT_EQ(find(device, "cuda_graphs"), "") << "not that much fewer";
  std::swap(device.a, device.b);
  device.b.alloc_count = 1000;
  EXPECT_THAT(find(device, "cuda_graphs"), HasSubstr("A allocates far less often"));
  device.a.alloc_count = 0;
  EXPECT_EQ(find(device, "cuda_graphs"), "") << "no trace at all";
}

TEST(comparison_findings, fragmentation) {
  device_comparison device = device_of({row_of("f", 1000, 2000)});
  device.a.segments.fragmentation = 10.0;
  for (double const same : {10.0, 14.9, 5.1}) {
    device.b.segments.fragmentation = same;
    EXPECT_EQ(find(device, "fragmentation"), "") << same;
  }
  for (double const other : {15.0, 5.0, 90.0}) {
    device.b.segments.fragmentation = other;
    EXPECT_NE(find(device, "fragmentation"), "") << other;
  }
}

TEST(comparison_findings, settings) {
  device_comparison const device = device_of({row_of("f", 1000, 2000)});
  EXPECT_EQ(find(device, "settings_differ"), "");
  EXPECT_EQ(find(device, "settings_differ", {{"expandable_segments", "false", "true"}}),
            "1 allocator setting differs: expandable_segments.");
  EXPECT_EQ(find(device, "settings_differ", {{"a", "1", {}}, {"b", {}, "2"}}),
            "2 allocator settings differ: a, b.");
}

TEST(comparison_findings, steps_without_a_counterpart) {
  device_comparison device = device_of({row_of("f", 1000, 2000)});
  EXPECT_EQ(find(device, "step_counts_differ"), "");
  device.only_b_spans = 3;
  EXPECT_THAT(find(device, "step_counts_differ"),
              HasSubstr("Of the profiler steps, 0 are in A alone and 3 in B alone"));
}

TEST(comparison_findings, another_model) {
  device_comparison device =
      device_of({row_of("f", 50, 0), row_of("g", 0, 50), row_of("h", 50, 50)});
  device.sites.only_a = {1, 50, 2};
  device.sites.only_b = {1, 50, 2};
  EXPECT_THAT(find(device, "few_sites_in_common"), HasSubstr("50.0 % of A's bytes"));
  device.sites.only_b = {1, 49, 2};
  EXPECT_EQ(find(device, "few_sites_in_common"), "");
}

}  // namespace
}  // namespace memreplay::reporting
