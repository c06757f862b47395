// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `segments`: what lies where in a device's memory at one moment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/questions.hpp>
#include <memreplay/report.hpp>

namespace memreplay {

inline constexpr char const* segments_schema_version = "memreplay.segments/1";

/// Into how many equal parts a segment's bar cuts it.
inline constexpr std::size_t bar_slots = 32;

/// `bytes` = `allocated_bytes` + `pending_bytes` + `free_bytes`.
struct segment_fill {
  std::int64_t bytes = 0;
  std::int64_t allocated_bytes = 0, pending_bytes = 0, free_bytes = 0;
  std::int64_t requested_bytes = 0;  ///< asked for, of what is allocated or pending
  std::int64_t blocks = 0;           ///< allocated or pending
  std::int64_t holes = 0;
  std::int64_t largest_hole_bytes = 0;
  double fill = 0.0;  ///< allocated and pending, in percent
};

/// Which allocations may share a segment.
struct segment_pool {
  std::uint64_t stream = 0;
  std::int64_t pool_first = 0, pool_second = 0;  ///< (0, 0) is the default pool
  bool is_small = false;                         ///< for requests up to 1 MiB
  [[nodiscard]] bool is_private() const noexcept { return pool_first != 0 || pool_second != 0; }
};

struct segment_row {
  std::uint64_t address = 0;
  segment_pool of;
  bool is_expandable = false;
  segment_fill fill;
  /// Who owns the blocks; shares are of what is allocated or pending.
  std::vector<site_row> owners;
  rest_row owners_rest;
  std::array<int, bar_slots> bar = {};  ///< occupied part of each slot in percent; 0 only if empty
};

struct segment_pool_row {
  segment_pool of;
  std::int64_t segments = 0;
  segment_fill fill;
};

/// The rows that the table leaves out.
struct segment_rest {
  std::int64_t segments = 0;
  segment_fill fill;
};

/// The rows and their rest sum up to the totals, and so do the pools.
struct device_segments {
  std::int32_t device = 0;
  event_index event = before_trace;
  std::optional<std::int64_t> time_us;
  std::optional<double> seconds;
  std::string within;
  bool is_exact = true;             ///< as far as anyone can tell, this is what the allocator held
  std::string reason;               ///< why not
  std::int64_t unplaced_bytes = 0;  ///< live, but nobody knows where
  segment_summary totals;
  std::vector<segment_row> rows;  ///< by address
  segment_rest rest;
  std::vector<segment_pool_row> pools;  ///< largest first
};

struct segments_report : report_header {
  moment_request asked;
  std::vector<device_segments> devices;
};

}  // namespace memreplay
