// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The holes of a memory map by stream and pool, and why none of them serves a request.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/allocator_rules.hpp>
#include <memreplay/oom_report.hpp>
#include <memreplay/replay.hpp>

namespace memreplay::reporting {

struct free_space {
  std::vector<free_space_row> rows;        ///< free bytes descending, then stream, pool, class
  std::vector<free_reason_row> by_reason;  ///< bytes descending; sums to all free bytes
  std::int64_t free_bytes = 0;
  std::int64_t largest_usable_bytes = 0;  ///< hole of the request's own stream and pool
  /// The holes of the request's stream, pool and size class together.
  std::int64_t own_bytes = 0;
  /// Holes that are large enough but belong elsewhere, each 0 when there is none, and all free
  /// bytes there.
  std::int64_t other_stream_hole = 0, other_stream_bytes = 0;
  std::int64_t other_pool_hole = 0, other_pool_bytes = 0;
};

[[nodiscard]] free_space find_free_space(snapshot const& input, address_map const& map,
                                         failed_request_report const& request,
                                         allocator_rules const& rules);

}  // namespace memreplay::reporting
