// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `compare`: why B peaks higher than A. Differences are B - A throughout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/moment_report.hpp>
#include <memreplay/step_report.hpp>

namespace memreplay {

inline constexpr char const* comparison_schema_version = "memreplay.comparison/1";

struct setting_difference {
  std::string key;
  std::optional<std::string> a, b;  ///< unset: that file has no such setting
};

/// A pair of spans: the same step of both runs.
struct span_pair {
  std::int64_t number = 0;
  std::string name;
  span_report a, b;  ///< without sites
};

/// Numbers of one whole trace.
struct trace_summary {
  std::int64_t events = 0;
  curve_summary measured;
  std::int64_t peak_delta = 0;  ///< peak - start
  std::int64_t reserved_peak_bytes = 0, reserved_at_peak_bytes = 0;
  std::int64_t alloc_count = 0, throughput_bytes = 0;
  std::int64_t unmatched_frees = 0;
  exactness max_memory_allocated;
  segment_summary segments;
};

struct device_comparison {
  std::int32_t device_a = 0, device_b = 0;
  trace_summary a, b;
  std::string by;                                   ///< what is set side by side, plural
  std::vector<span_pair> spans;                     ///< empty when whole traces are
  std::int64_t only_a_spans = 0, only_b_spans = 0;  ///< without a counterpart
  /// Where the rows below are from: the span with the largest difference of the peaks, or the one
  /// asked for; unset: the peaks of the whole traces.
  std::optional<std::int64_t> looked_into;
  event_index event_a = before_trace, event_b = before_trace;
  site_deltas sites;
  std::vector<finding> findings;
};

struct comparison {
  std::string schema = comparison_schema_version;
  site_match match = site_match::site;
  report_header a, b;
  std::vector<setting_difference> settings;
  std::vector<device_comparison> devices;  ///< at least one
  std::vector<std::string> notes;  ///< devices that only one file has, other frames, ...
};

}  // namespace memreplay
