// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `memreplay oom`: what failed, what the memory looked like then, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/report.hpp>

namespace memreplay {

inline constexpr char const* oom_schema_version = "memreplay.oom/1";

/// Why a request failed; docs/report-schema.md has the rules.
enum class oom_cause {
  none,             ///< no sign that any request failed
  unknown_request,  ///< something failed, the file does not say what
  memory_limit,     ///< the driver had enough, yet the allocator got nothing
  outside,          ///< others took memory that the request would have fitted into
  other_stream,     ///< free memory of another stream would have served
  private_pool,     ///< free memory of another pool would have served
  fragmentation,    ///< enough free bytes, in pieces that are too small
  huge_request,     ///< a request out of all proportion
  capacity,         ///< live tensors fill the device
};
[[nodiscard]] constexpr char const* to_string(oom_cause value) noexcept {
  switch (value) {
    case oom_cause::none: return "none";
    case oom_cause::unknown_request: return "unknown_request";
    case oom_cause::memory_limit: return "memory_limit";
    case oom_cause::outside: return "outside";
    case oom_cause::other_stream: return "other_stream";
    case oom_cause::private_pool: return "private_pool";
    case oom_cause::fragmentation: return "fragmentation";
    case oom_cause::huge_request: return "huge_request";
    case oom_cause::capacity: return "capacity";
  }
  return "none";
}

enum class confidence { certain, likely };
[[nodiscard]] constexpr char const* to_string(confidence value) noexcept {
  return value == confidence::certain ? "certain" : "likely";
}

/// Where the failed request is known from.
enum class request_origin { oom_event, given, unknown };
[[nodiscard]] constexpr char const* to_string(request_origin value) noexcept {
  switch (value) {
    case request_origin::oom_event: return "oom event";
    case request_origin::given: return "given";
    case request_origin::unknown: return "unknown";
  }
  return "unknown";
}

struct failed_request_report {
  request_origin origin = request_origin::unknown;
  std::optional<std::int64_t> bytes;         ///< rounded, the size of the block
  std::optional<std::int64_t> driver_bytes;  ///< what the driver would have had to give for it
  bool is_small = false;                     ///< served by the small pools
  std::uint64_t stream = 0;
  std::int64_t pool_first = 0, pool_second = 0;
  std::string site, label, file;  ///< who asked; empty when no stack was recorded
  std::int64_t line = 0;
  std::string link, chain;
};

/// The device's memory at the moment. Unset: the file does not tell.
struct oom_memory {
  std::optional<std::int64_t> allocated_bytes, requested_bytes, pending_bytes, inactive_bytes;
  std::int64_t reserved_bytes = 0;
  std::int64_t segments = 0;
  std::int64_t private_pool_bytes = 0;  ///< reserved by pools other than the default
  std::optional<std::int64_t> driver_free_bytes;
  std::optional<std::int64_t> capacity_bytes;  ///< as given
  std::optional<std::int64_t> outside_bytes;   ///< capacity - reserved - driver free
  /// The most that this process is known to have had at its disposal earlier: its reserved bytes,
  /// or those and what the driver had left at an earlier out-of-memory event.
  std::int64_t available_earlier_bytes = 0;
  event_index available_earlier_event = before_trace;
  /// How much of that others hold at the moment; a lower bound, unset when nothing is proved.
  std::optional<std::int64_t> taken_since_bytes;
  std::int64_t unplaced_bytes = 0;  ///< live, but in no known segment
  bool exact = true;
  std::string reason;  ///< why not exact
};

/// Free bytes of one stream in one pool, and why they do not serve the request.
struct free_space_row {
  std::uint64_t stream = 0;
  std::int64_t pool_first = 0, pool_second = 0;
  bool is_small = false;
  std::int64_t segments = 0;
  std::int64_t reserved_bytes = 0, pending_bytes = 0, free_bytes = 0;
  std::int64_t holes = 0;
  std::int64_t largest_bytes = 0;  ///< of the holes
  /// `too_fragmented`, `split_limit`, `other_stream`, `small_pool`, `large_pool`, `private_pool`,
  /// `default_pool`, `would_fit`, or `no_request`.
  std::string why;
};

struct free_reason_row {
  std::string why;
  std::int64_t bytes = 0, holes = 0, largest_bytes = 0;
};

/// A site whose blocks keep nearly empty segments from being returned.
struct pinner_row {
  std::string site, label, file;
  std::int64_t line = 0;
  std::string link;
  std::int64_t stranded_bytes = 0;  ///< free in segments where this site holds the most bytes
  std::int64_t segments = 0;
  std::int64_t live_bytes = 0;   ///< of this site in those segments
  std::int64_t other_sites = 0;  ///< that hold something in them, too
};
struct pinner_rest_row {
  std::int64_t sites = 0, stranded_bytes = 0, segments = 0;
};

/// What happened shortly before.
struct last_events {
  event_index first_event = 0;    ///< the window is [first_event, the moment]
  std::optional<double> seconds;  ///< how long it is; unset without times
  std::int64_t allocs = 0, alloc_bytes = 0, frees = 0, free_bytes = 0, net_bytes = 0;
  std::int64_t segment_allocs = 0, segment_alloc_bytes = 0;
  std::int64_t segment_frees = 0, segment_free_bytes = 0;
  /// The burst with which the allocator returns its cache before it gives up; 0 = there is none.
  std::int64_t burst_frees = 0, burst_bytes = 0;
  std::vector<site_row> grown;  ///< allocated in the window and still live, shares of that sum
  rest_row grown_rest;
};

struct oom_verdict {
  oom_cause cause = oom_cause::none;
  confidence sure = confidence::likely;
  std::string text;
  std::vector<oom_cause> secondary;
};

/// What would have helped.
struct oom_advice {
  std::string kind;  ///< stable snake_case name
  std::string what;  ///< the setting or the action
  std::string why;
  std::optional<std::int64_t> bytes;  ///< that it would have made available
};

struct oom_device_report {
  std::int32_t device = 0;
  std::int64_t events = 0;
  std::int64_t oom_count = 0;
  event_index event = before_trace;  ///< the moment is after it; before_trace without a trace
  bool is_end = true;                ///< the moment is the end of the trace
  std::optional<std::int64_t> time_us;
  std::optional<double> seconds;
  std::string within;  ///< the step or annotation it falls in, may be empty
  failed_request_report request;
  oom_memory memory;
  bool has_map = false;  ///< segments are known: the tables below mean something
  oom_verdict verdict;
  std::vector<oom_advice> advice;
  std::vector<free_space_row> free_space;       ///< free bytes descending
  std::vector<free_reason_row> free_by_reason;  ///< sums to the inactive bytes
  std::int64_t largest_hole_bytes = 0;          ///< that a request on this stream could use
  std::vector<pinner_row> pinners;
  pinner_rest_row pinners_rest;
  std::int64_t pinned_bytes = 0;  ///< free in nearly empty segments, the sum of the pinners' rows
  std::int64_t empty_segments = 0, empty_segment_bytes = 0;
  std::vector<site_row> holders;  ///< of all blocks in use, by block bytes
  rest_row holders_rest;
  std::optional<last_events> before;
  audit defects;
};

struct oom_report : report_header {
  std::vector<oom_device_report> devices;
};

}  // namespace memreplay
