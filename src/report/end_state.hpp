// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A device's memory when the file was written, from its segments.
#pragma once

#include <cstdint>
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

/// Per memory pool, largest first.
[[nodiscard]] std::vector<pool_row> summarize_pools(snapshot const& input, std::int32_t device);

/// How the memory older than the trace is known.
[[nodiscard]] baseline_summary summarize_baseline(device_replay const& replayed);

}  // namespace memreplay::reporting
