// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report model: everything a writer may print, nothing it would have to compute. JSON is this
// model one to one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memreplay/audit.hpp>
#include <memreplay/ids.hpp>
#include <memreplay/plan.hpp>
#include <memreplay/replay.hpp>

namespace memreplay {

/// Version of the JSON schema: the major number changes when a key changes its meaning or goes.
inline constexpr char const* report_schema_version = "memreplay.report/1";
inline constexpr char const* info_schema_version = "memreplay.info/1";

enum class site_rule { project, user };
[[nodiscard]] constexpr char const* to_string(site_rule value) noexcept {
  return value == site_rule::project ? "project" : "user";
}
enum class link_style { vscode, cursor, github, file, none };

/// How stacks become sites, and sites become text and links.
struct site_options {
  /// Unset: the command's default, but `user` when no frame of the file lies under the root.
  std::optional<site_rule> rule;
  std::string project_root = ".";
  std::int64_t frame_depth = 1;                               ///< frames of a `user` site
  std::vector<std::pair<std::string, std::string>> path_map;  ///< OLD prefix -> NEW prefix
  bool redact = false;
  link_style links = link_style::vscode;
  std::string repo_url;
  std::string commit;  ///< empty: HEAD of the project root
};

struct report_options {
  site_options site;
  std::int64_t top_contributors = 15;  ///< 0 = all rows
};

/// Who holds bytes: one row of a table.
struct site_row {
  std::string site;       ///< `train.py:42`, or several frames joined by ` -> `
  std::string label;      ///< `Class.method`, else the frame's function; may be empty
  std::string file;       ///< as shown; empty for `<no frames>` and `before the trace`
  std::int64_t line = 0;  ///< 0 = unknown
  std::string link;       ///< URL or empty
  std::string chain;      ///< of the row's largest stack, innermost first, joined by ` <- `
  std::int64_t bytes = 0;
  std::int64_t tensors = 0;
  double share = 0.0;  ///< of the peak, in percent
};

/// The rows that a table leaves out, so that its shares sum to 100 %.
struct rest_row {
  std::int64_t sites = 0, bytes = 0, tensors = 0;
  double share = 0.0;
};

struct peak_report {
  std::int64_t bytes = 0;
  event_index event = before_trace;
  std::optional<std::int64_t> time_us;  ///< as recorded
  std::optional<double> seconds;        ///< since the trace's first event
  bool is_global = false;
  std::int64_t carried_in_bytes = 0;  ///< part of `bytes` that is older than the trace
  std::int64_t trace_bytes = 0;       ///< the other part
  std::int64_t allocated_bytes = 0, active_bytes = 0, reserved_bytes = 0;
  std::int64_t pending_bytes = 0;   ///< active - allocated: freed, but held for another stream
  std::int64_t inactive_bytes = 0;  ///< reserved - active, never negative
  double fragmentation = 0.0;       ///< inactive / reserved, in percent
  std::string within;               ///< the step or annotation it falls in, may be empty
  std::vector<site_row> sites;
  rest_row rest;
};

/// A sentence with a number, worth a reader's time.
struct finding {
  std::string kind;  ///< stable snake_case name
  std::string text;
  std::int64_t bytes = 0;
};

/// A failed request: an `oom` event of the trace.
struct oom_row {
  event_index event = 0;
  std::optional<std::int64_t> time_us;
  std::optional<double> seconds;
  std::int64_t requested_bytes = 0;    ///< as recorded: rounded by the allocator
  std::int64_t device_free_bytes = 0;  ///< what the driver had left
  std::string site;                    ///< who asked; empty when no stack was recorded
  std::string within;                  ///< the step or annotation it falls in, may be empty
};

struct action_count_row {
  std::string action;
  std::int64_t count = 0;
};

/// The device's memory at the end of the file, from its segments.
struct segment_summary {
  std::int64_t count = 0;
  std::int64_t total_bytes = 0, allocated_bytes = 0, active_bytes = 0, pending_bytes = 0,
               inactive_bytes = 0, requested_bytes = 0;
  std::int64_t largest_inactive_bytes = 0;
  std::int64_t private_pool_bytes = 0;
  double fragmentation = 0.0;  ///< inactive / total, in percent
};

/// One trace of the file, shown or not.
struct trace_row {
  std::int32_t device = 0;
  std::int64_t events = 0;
  std::vector<action_count_row> actions;
};

/// How the memory older than the trace is known, in one size basis:
/// `start_bytes` = `end_active_bytes` - `still_live_bytes` + `freed_bytes`.
struct baseline_summary {
  std::int64_t start_bytes = 0;       ///< active when the trace begins
  std::int64_t end_active_bytes = 0;  ///< active when it ends
  std::int64_t freed_bytes = 0;       ///< older than the trace and freed in it
  std::int64_t still_live_bytes = 0;  ///< born in the trace and active when it ends
};

/// A `ProfilerStep#N` range.
struct step_row {
  std::int64_t step = 0;
  std::optional<std::int64_t> start_us, end_us;
  std::optional<double> duration_ms;
  bool complete = false;
};

struct annotation_row {
  std::string name;
  std::int64_t count = 0;  ///< ranges, also those of which one end is not in the file
};
struct annotation_rest_row {
  std::int64_t names = 0, count = 0;
};

struct pool_row {
  std::int64_t first = 0, second = 0, segments = 0, bytes = 0;
};
struct stream_row {
  std::uint64_t stream = 0;
  std::int64_t events = 0, allocs = 0, alloc_bytes = 0;
};

/// How the device's memory was cut up at one moment, from its address map.
struct fragmentation_row {
  event_index event = before_trace;
  std::optional<double> seconds;
  bool is_peak = false;  ///< of the measured curve
  std::int64_t reserved_bytes = 0, active_bytes = 0, inactive_bytes = 0;
  double fragmentation = 0.0;  ///< inactive / reserved, in percent
  std::int64_t largest_free_bytes = 0;
  std::int64_t free_blocks = 0;
  bool exact = true;
};

struct device_report {
  std::int32_t device = 0;
  std::int64_t events = 0;
  std::vector<action_count_row> actions;
  std::optional<double> span_seconds;
  curve_summary measured, allocated, active, reserved;
  exactness measured_exactness;
  exactness max_memory_allocated;
  std::int64_t carried_in_bytes = 0;  ///< of the measured curve when the trace begins
  std::int64_t reserved_at_peak_bytes = 0;
  std::int64_t unmatched_frees = 0;
  std::optional<baseline_summary> baseline;  ///< unset without traces or without segments
  bool ring_truncated = false;
  std::string ring_reason;  ///< how that is known
  segment_summary segments;
  replay_counts counts;
  std::vector<timeline_bucket> timeline;
  std::vector<peak_report> peaks;
  std::int64_t oom_count = 0;
  std::vector<oom_row> ooms;  ///< the last of them, in the order of the trace
  /// Of `info`: by bytes allocated in the trace, `tensors` counts allocations.
  std::vector<site_row> top_allocators;
  rest_row top_allocators_rest;
  std::vector<stream_row> streams;
  std::vector<pool_row> pools;
  std::vector<fragmentation_row> fragmentation;  ///< of `info`, by event up to the end
  std::vector<finding> findings;
  audit defects;
};

/// What every answer says about its file, and about how it was asked.
struct report_header {
  std::string schema;
  std::string file;  ///< as given, or `-`
  std::uint64_t file_bytes = 0, snapshot_bytes = 0;
  std::string container;
  std::int32_t pickle_protocol = -1;  ///< -1 when not a pickle
  bool has_traces = false, has_segments = false;
  bool is_salvaged = false;  ///< read up to a cut
  std::string backend, backend_reason;
  replay_plan plan;
  site_rule rule = site_rule::project;
  std::string rule_note;  ///< why another rule than the default was used, or empty
  std::string project_root;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::int32_t> devices_in_file;  ///< with events or segments
  audit defects;
};

struct report : report_header {
  std::vector<step_row> steps;
  std::vector<annotation_row> annotations;  ///< most frequent first, steps apart
  annotation_rest_row annotations_rest;     ///< names that the list leaves out
  std::vector<trace_row> traces;            ///< every trace with events, also of devices not shown
  std::vector<device_report> devices;       ///< those asked for
};

}  // namespace memreplay
