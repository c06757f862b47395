// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `at`: what is live at one moment, and how two moments differ, site by site.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/questions.hpp>
#include <memreplay/report.hpp>

namespace memreplay {

inline constexpr char const* at_schema_version = "memreplay.at/1";
inline constexpr char const* at_comparison_schema_version = "memreplay.at_comparison/1";

/// The live set of one device after an event. `delta_bytes` = `bytes` - `start_bytes`.
struct moment_report {
  std::int32_t device = 0;
  std::int64_t events = 0;
  event_index event = before_trace;
  std::optional<std::int64_t> time_us;
  std::optional<double> seconds, span_seconds;
  std::string within;
  std::int64_t bytes = 0, start_bytes = 0, delta_bytes = 0;
  std::int64_t carried_in_bytes = 0, trace_bytes = 0;  ///< the two parts of `bytes`
  std::int64_t allocated_bytes = 0, active_bytes = 0, reserved_bytes = 0;
  std::int64_t pending_bytes = 0;   ///< active - allocated
  std::int64_t inactive_bytes = 0;  ///< reserved - active, never negative
  double fragmentation = 0.0;       ///< inactive / reserved, in percent
  /// Allocs up to the moment, and frees: completions, or requests in a trace without completions.
  std::int64_t alloc_count = 0, free_count = 0;
  std::int64_t live_count = 0;
  std::vector<site_row> sites;
  rest_row rest;
};

struct at_report : report_header {
  moment_request asked;
  std::vector<moment_report> devices;
};

/// One site on both sides. `delta_bytes` = `bytes_b` - `bytes_a`; it is split into what more (or
/// fewer) tensors of A's mean size account for, and what their other size does.
struct site_delta_row {
  std::string site;   ///< `forward@model.py:42`; a line that moved shows as `:42->45`
  std::string label;  ///< of B where it has the site, else of A
  std::string link;
  std::int64_t bytes_a = 0, bytes_b = 0, delta_bytes = 0;
  std::int64_t tensors_a = 0, tensors_b = 0;
  std::int64_t from_count_bytes = 0, from_size_bytes = 0;
};

/// Bytes that only one side has sites for.
struct one_sided {
  std::int64_t sites = 0, bytes = 0, tensors = 0;
};

/// The rows, and the rest, add up to the totals; so do the parts that are carried in and born in
/// the traces.
struct site_deltas {
  std::int64_t total_a = 0, total_b = 0, delta_bytes = 0;
  std::int64_t carried_in_a = 0, carried_in_b = 0;
  std::vector<site_delta_row> rows;  ///< delta descending, then site
  std::int64_t rest_sites = 0, rest_a = 0, rest_b = 0, rest_delta = 0;
  one_sided only_a, only_b;  ///< over all rows, shown or not
};

struct moment_comparison {
  moment_report a, b;
  site_deltas sites;
};

struct at_comparison {
  std::string schema = at_comparison_schema_version;
  moment_request asked;
  site_match match = site_match::site;
  report_header a, b;
  std::vector<moment_comparison> devices;
  std::vector<std::string> notes;  ///< devices that only one file has
};

}  // namespace memreplay
