// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `timeline`: what a page or a picture draws of one or more runs, bounded however long
// the traces are.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/report.hpp>

namespace memreplay {

inline constexpr char const* timeline_schema_version = "memreplay.timeline/1";

/// Row of a table of stacks where there is none: unknown, or left out for want of room.
inline constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

/// How much of one device is drawn at most. Together these keep a page below 8 MB.
struct timeline_budget {
  std::int64_t buckets = 20'480;        ///< of the curves
  std::int64_t moments = 1024;          ///< of the areas
  std::int64_t area_sites = 32;         ///< with an area of their own
  std::int64_t lifetimes = 5000;        ///< drawn as shapes
  std::int64_t vertices = 100'000;      ///< of all of these shapes
  std::int64_t flame_moments = 64;      ///< beside the peaks
  std::int64_t flame_rows = 400;        ///< of each live set
  std::int64_t segments = 3000;         ///< of the map
  std::int64_t blocks = 20'000;         ///< of the map
  std::int64_t marks = 2000;            ///< steps, and as many annotations
  std::int64_t text_bytes = 1'750'000;  ///< of stacks, frames and sites
};

/// What each of `shares` devices may have of one page. Never so little that nothing can be seen.
[[nodiscard]] timeline_budget share_of(timeline_budget const& whole, std::int64_t shares) noexcept;

/// One curve in the buckets that all curves of a device share.
struct timeline_curve : curve_summary {
  std::vector<std::int64_t> low_bytes, high_bytes;
};

/// Bucket i holds the events [first_event[i], first_event[i + 1]). `seconds` belong to
/// `first_event`, never step back, and are empty in a trace without times.
struct timeline_curves {
  std::vector<event_index> first_event;
  std::vector<double> seconds;
  timeline_curve allocated, active, reserved;
};

struct timeline_step {
  std::int64_t number = 0;
  std::string name;
  event_index first_event = 0, last_event = 0;
  bool is_complete = false;
};

/// `last_event` is the number of events where it never ends.
struct timeline_annotation {
  std::string name;
  event_index first_event = 0, last_event = 0;
};

/// The measured curve at some moments, split by who holds it: one row for each of `sites`, one for
/// all other sites, one for what is carried in. Rows follow each other in `bytes`; the column of a
/// moment sums to the curve.
struct area_bands {
  std::vector<event_index> event;  ///< ascending, none twice
  std::vector<double> seconds;     ///< empty in a trace without times
  std::vector<std::uint32_t> sites;
  std::vector<std::int64_t> bytes;
};

/// The lifetimes that fill the greatest area below the measured curve, stacked in order of birth.
/// The lower edge of lifetime i steps to `vertex_bytes` at `vertex_event`, for the vertices
/// [first_vertex[i], first_vertex[i + 1]); the first is its birth.
struct lifetime_stack {
  std::vector<event_index> birth;
  std::vector<event_index> end;  ///< the number of events where it is never freed
  std::vector<std::int64_t> bytes;
  std::vector<std::uint32_t> stack;
  std::vector<std::int64_t> first_vertex;
  std::vector<event_index> vertex_event;
  std::vector<std::int64_t> vertex_bytes;
};

/// Live sets by stack, ascending by event: rows [first_row[i], first_row[i + 1]) and a rest sum to
/// the measured curve.
struct flame_rows {
  std::vector<event_index> event;
  std::vector<std::int64_t> first_row;
  std::vector<std::uint32_t> stack;
  std::vector<std::int64_t> bytes, tensors;
  std::vector<std::int64_t> rest_bytes, rest_tensors;
};

/// How a stretch of a segment is used. `mixed` stands for several small blocks side by side.
enum class map_state : std::uint8_t { free = 0, allocated = 1, pending = 2, mixed = 3 };

struct map_segment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint64_t stream = 0;
  std::int64_t pool_first = 0, pool_second = 0;
  bool is_small = false, is_expandable = false;
  std::int64_t first_block = 0, blocks = 0;
};

/// An address map with few enough blocks to draw. Sums of bytes and of requested bytes are those of
/// the whole map.
struct segment_map {
  event_index event = before_trace;
  std::optional<double> seconds;
  bool is_oom = false;
  bool is_exact = true;
  std::string reason;  ///< why not
  std::int64_t unplaced_bytes = 0;
  std::vector<map_segment> segments;  ///< by address
  std::int64_t other_segments = 0;    ///< the smallest, where there are too many
  std::int64_t other_bytes = 0;
  std::vector<std::int64_t> block_offset, block_bytes, block_requested;
  std::vector<map_state> block_state;
  std::vector<std::uint32_t> block_stack;
};

struct device_timeline {
  std::int32_t device = 0;
  std::int64_t events = 0;
  std::optional<double> span_seconds;
  bool has_times = false;
  curve_summary measured;
  exactness measured_exactness, max_memory_allocated;
  timeline_curves curves;
  std::vector<peak_report> peaks;  ///< without their sites
  std::vector<oom_row> ooms;
  std::vector<timeline_step> steps;
  std::vector<timeline_annotation> annotations;
  std::vector<finding> findings;
  audit defects;
  area_bands areas;
  lifetime_stack lifetimes;
  flame_rows flames;
  std::optional<segment_map> map;
};

struct shown_frame {
  std::string function, file;
  std::int64_t line = 0;  ///< 0 = unknown
  std::string link;       ///< URL or empty
};

struct shown_site {
  std::string site, label, file;
  std::int64_t line = 0;
  std::string link;
};

/// The stacks that a run's tables name, and what they consist of. Stack i has the frames
/// [first[i], first[i + 1]) of `frame`, innermost first.
struct shown_stacks {
  std::vector<shown_frame> frames;
  std::vector<std::int64_t> first;
  std::vector<std::uint32_t> frame;
  std::vector<std::uint32_t> site;  ///< of each stack
  std::vector<shown_site> sites;
};

/// One snapshot.
struct timeline_run : report_header {
  std::string label;
  shown_stacks stacks;
  std::vector<device_timeline> devices;
};

struct timeline_report {
  std::string schema = timeline_schema_version;
  std::string program;  ///< name and version
  std::vector<timeline_run> runs;
};

}  // namespace memreplay
