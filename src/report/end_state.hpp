// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A device's memory when the file was written, from its segments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reporting {

/// Segments of this device alone. Fragmentation is inactive / total: memory that awaits a stream is
/// not yet reusable, hence counted from active and not from allocated.
[[nodiscard]] segment_summary summarize_segments(snapshot const& input, std::int32_t device);

/// The same of an address map.
[[nodiscard]] segment_summary summarize_segments(snapshot const& input, address_map const& map);

/// The blocks of a segment, among those of its snapshot or map.
[[nodiscard]] inline std::span<block const> blocks_of(segment const& row,
                                                      std::vector<block> const& blocks) {
  return {blocks.data() + row.first_block, static_cast<std::size_t>(row.block_count)};
}

/// The default pool for a row that names none.
[[nodiscard]] pool_id pool_of(snapshot const& input, segment const& row);

/// Per memory pool, largest first.
[[nodiscard]] std::vector<pool_row> summarize_pools(snapshot const& input, std::int32_t device);

}  // namespace memreplay::reporting
