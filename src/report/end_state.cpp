// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A device's memory when the file was written, from its segments.
#include "report/end_state.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "report/memory_map.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

void add_to(std::int64_t& sum, std::uint64_t recorded) {
  sum = add_saturated(sum, to_bytes(recorded));
}

void add_segment(snapshot const& input, segment const& row, std::span<block const> blocks,
                 segment_summary& sum) {
  ++sum.count;
  add_to(sum.total_bytes, row.total_size);
  add_to(sum.allocated_bytes, row.allocated_size);
  add_to(sum.active_bytes, row.active_size);
  add_to(sum.requested_bytes, row.requested_size);
  if (!(pool_of(input, row) == pool_id{})) add_to(sum.private_pool_bytes, row.total_size);
  for (block const& part : blocks) {
    if (part.state != block_state::inactive) continue;
    sum.largest_inactive_bytes = std::max(sum.largest_inactive_bytes, to_bytes(part.size));
  }
}

void finish(segment_summary& sum) {
  sum.pending_bytes = excess(sum.active_bytes, sum.allocated_bytes);
  sum.inactive_bytes = excess(sum.total_bytes, sum.active_bytes);
  sum.fragmentation = percent(sum.inactive_bytes, sum.total_bytes);
}

}  // namespace

segment_summary summarize_segments(snapshot const& input, std::int32_t device) {
  segment_summary sum;
  for (segment const& row : input.segments) {
    if (row.device != device) continue;
    std::span<block const> const blocks(input.blocks.data() + row.first_block,
                                        static_cast<std::size_t>(row.block_count));
    add_segment(input, row, blocks, sum);
  }
  finish(sum);
  return sum;
}

segment_summary summarize_segments(snapshot const& input, address_map const& map) {
  segment_summary sum;
  for (segment const& row : map.segments) {
    add_segment(input, row, blocks_of(map, row), sum);
  }
  finish(sum);
  return sum;
}

std::vector<pool_row> summarize_pools(snapshot const& input, std::int32_t device) {
  std::map<std::pair<std::int64_t, std::int64_t>, pool_row> by_id;
  for (segment const& row : input.segments) {
    if (row.device != device) continue;
    pool_id const id = pool_of(input, row);
    pool_row& pool = by_id[{id.first, id.second}];
    pool.first = id.first;
    pool.second = id.second;
    ++pool.segments;
    add_to(pool.bytes, row.total_size);
  }
  std::vector<pool_row> rows;
  rows.reserve(by_id.size());
  for (auto const& [id, pool] : by_id) rows.push_back(pool);
  std::sort(rows.begin(), rows.end(), [](pool_row const& left, pool_row const& right) {
    return std::tie(right.bytes, left.first, left.second) <
           std::tie(left.bytes, right.first, right.second);
  });
  return rows;
}

baseline_summary summarize_baseline(device_replay const& replayed) {
  baseline_summary made;
  made.start_bytes = replayed.active.start_bytes;
  made.end_active_bytes = replayed.active.end_bytes;
  made.freed_bytes = replayed.counts.unmatched_free_bytes;
  made.still_live_bytes =
      subtract_saturated(add_saturated(made.end_active_bytes, made.freed_bytes), made.start_bytes);
  return made;
}

}  // namespace memreplay::reporting
