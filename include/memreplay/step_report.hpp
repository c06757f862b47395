// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The models of `steps` and `leaks`: what happens from one part of a trace to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/questions.hpp>
#include <memreplay/report.hpp>

namespace memreplay {

inline constexpr char const* steps_schema_version = "memreplay.steps/1";
inline constexpr char const* leaks_schema_version = "memreplay.leaks/1";

/// A part of a trace: a profiler step, a range of an annotation, a window. Its events are those
/// from its start to before its end.
struct span {
  std::string name;
  std::int64_t number = 0;  ///< of the step; else counted from 0
  event_range events;
  std::optional<std::int64_t> start_us, end_us;
  std::optional<double> duration_ms;
  bool is_complete = true;  ///< both of its ends are in the file
};

/// How a trace was cut into parts.
struct span_list {
  span_request::kind by = span_request::kind::steps;
  std::string what;  ///< `profiler steps`, `ranges of Optimizer.step`, ...: plural
  std::vector<span> spans;
  std::int64_t outside = 0;  ///< parts of which no event is in the trace
};

/// What happens in one span. `absolute_peak` is the measured curve's greatest value from before the
/// span to its end, `peak_delta` how far that is above its start.
struct span_report {
  span where;
  std::int64_t alloc_count = 0;
  std::int64_t free_count = 0;  ///< completions, or requests in a trace without completions
  std::int64_t throughput_bytes = 0;
  std::int64_t start_bytes = 0, end_bytes = 0, end_delta = 0;
  std::int64_t absolute_peak = 0, peak_delta = 0;
  event_index peak_event = before_trace;
  std::int64_t reserved_at_peak_bytes = 0;
  std::int64_t carried_in_bytes = 0;  ///< of the peak: older than the trace
  std::int64_t live_count = 0;        ///< at the peak
  /// Memory older than the trace that is freed in this span.
  std::int64_t unmatched_frees = 0, unmatched_free_bytes = 0;
  std::vector<site_row> sites;  ///< live at the peak; only where asked for
  rest_row rest;
  bool has_sites = false;
  std::vector<annotation_row> annotations;  ///< that begin in the span, most frequent first
};

struct device_steps {
  std::int32_t device = 0;
  std::int64_t events = 0;
  span_list cut;
  std::vector<span_report> spans;
};

struct steps_report : report_header {
  std::vector<device_steps> devices;
};

/// A site whose live bytes grow from step to step.
struct leak_row {
  std::string site, label, link, chain;
  double slope_bytes = 0.0;  ///< least squares, per step
  std::int64_t growing_steps = 0;
  std::int64_t first_bytes = 0, last_bytes = 0, growth_bytes = 0;
  std::int64_t first_tensors = 0, last_tensors = 0;
  std::vector<std::int64_t> bytes;  ///< at the end of each step
};

struct device_leaks {
  std::int32_t device = 0;
  std::int64_t events = 0;
  span_list cut;  ///< complete spans only
  std::int64_t steps = 0;
  std::vector<std::int64_t> live_bytes;  ///< the measured curve at the end of each step
  double slope_bytes = 0.0;              ///< of that
  std::vector<leak_row> leaks;           ///< slope descending
  std::int64_t leaks_rest = 0;           ///< rows left out
  /// Sites that grow too, in memory that is never given back by design: graph pools.
  std::vector<leak_row> in_private_pools;
  /// Born in the trace and not freed in it, by site.
  std::int64_t never_freed_bytes = 0, never_freed_tensors = 0;
  std::vector<site_row> never_freed;
  rest_row never_freed_rest;
  std::vector<finding> findings;
};

struct leaks_report : report_header {
  std::vector<device_leaks> devices;
};

}  // namespace memreplay
