// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a replay shall compute.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/ids.hpp>

namespace memreplay {

/// Which bytes a curve counts.
enum class measure {
  allocated,  ///< alloc until the first free of the address
  active,     ///< alloc until free_completed
  reserved,   ///< segments held from the driver
};

enum class size_basis {
  requested,  ///< bytes asked for, as the trace records them
  block,      ///< bytes of the allocator's blocks, as memory_allocated() counts them
};

enum class carried_in {
  include,  ///< absolute: memory older than the trace is part of every value
  ignore,   ///< the trace's own view: frees of unknown addresses have no effect
};

enum class backend_choice { automatic, host, cuda };

[[nodiscard]] constexpr char const* to_string(measure value) noexcept {
  switch (value) {
    case measure::allocated: return "allocated";
    case measure::active: return "active";
    case measure::reserved: return "reserved";
  }
  return "";
}
[[nodiscard]] constexpr char const* to_string(size_basis value) noexcept {
  return value == size_basis::requested ? "requested" : "block";
}
[[nodiscard]] constexpr char const* to_string(carried_in value) noexcept {
  return value == carried_in::include ? "include" : "ignore";
}

/// Events [first, last] of one trace; none when last < first.
struct event_range {
  event_index first = 0;
  event_index last = before_trace;
  [[nodiscard]] bool is_empty() const noexcept { return last < first; }
  friend bool operator==(event_range const&, event_range const&) = default;
};

struct replay_plan {
  measure what = measure::allocated;
  size_basis sizes = size_basis::requested;
  carried_in older = carried_in::include;
  /// Distinct peaks wanted, largest first (>= 0). Each gets its live set by stack.
  std::int64_t peak_count = 6;
  /// A candidate is dropped when a selected peak of level L has |L - candidate| * 1e6 <= L *
  /// dedup_ppm.
  std::int64_t dedup_ppm = 30'000;
  /// A candidate closer than this to a selected peak is dropped; 0 = no such rule. Needs event
  /// times.
  std::int64_t min_separation_us = 0;
  /// Buckets of the downsampled curve; 0 = none.
  std::int64_t timeline_width = 72;
  /// Buckets of the downsampled curves of all three measures; 0 = none.
  std::int64_t curve_width = 0;
  /// How many lifetimes of the measured curve are wanted, those first that fill the greatest area
  /// below it.
  std::int64_t largest_count = 0;
  /// Whether totals of all allocations by stack are wanted (`info`).
  bool throughput = false;
  /// Moments whose live set is wanted, each "after this event"; in any order, repetitions allowed.
  std::vector<event_index> moments = {};
  /// Parts of the trace whose greatest value is wanted, and the live set where it holds. They may
  /// overlap.
  std::vector<event_range> ranges = {};
  /// Moments whose address map is wanted: what lies where, in segments.
  std::vector<event_index> maps = {};
  /// Of how many peaks, largest first, the address map is wanted as well.
  std::int64_t peak_maps = 0;
  backend_choice backend = backend_choice::automatic;
};

}  // namespace memreplay
