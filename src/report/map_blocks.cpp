// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// An address map with few enough blocks to draw.
#include "report/map_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "report/memory_map.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

/// Rows of the segments that are drawn, by address: the largest, of equal ones those before.
std::vector<std::size_t> choose_segments(address_map const& map, std::int64_t most) {
  std::vector<std::size_t> rows(map.segments.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (static_cast<std::int64_t>(rows.size()) <= most) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&map](std::size_t left, std::size_t right) {
    return map.segments[left].total_size > map.segments[right].total_size;
  });
  rows.resize(static_cast<std::size_t>(most));
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Calls `visit(first, count)` for each block, or run of blocks smaller than `limit`, of a segment.
template <class VisitT>
void for_each_run(std::span<block const> blocks, std::uint64_t limit, VisitT visit) {
  for (std::size_t first = 0; first < blocks.size();) {
    std::size_t end = first + 1;
    if (blocks[first].size < limit) {
      while (end < blocks.size() && blocks[end].size < limit) ++end;
    }
    visit(first, end - first);
    first = end;
  }
}

std::int64_t count_runs(address_map const& map, std::vector<std::size_t> const& segments,
                        std::uint64_t limit) {
  std::int64_t count = 0;
  for (std::size_t const row : segments) {
    for_each_run(blocks_of(map, map.segments[row]), limit,
                 [&count](std::size_t, std::size_t) { ++count; });
  }
  return count;
}

/// The least size below which blocks must be merged so that at most `most` remain.
std::uint64_t find_limit(address_map const& map, std::vector<std::size_t> const& segments,
                         std::int64_t most) {
  std::uint64_t enough = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t too_little = 0;
  if (count_runs(map, segments, too_little) <= most) return too_little;
  while (enough - too_little > 1) {
    std::uint64_t const middle = too_little + (enough - too_little) / 2;
    (count_runs(map, segments, middle) <= most ? enough : too_little) = middle;
  }
  return enough;
}

map_state state_of(block const& one) {
  switch (one.state) {
    case block_state::active_allocated: return map_state::allocated;
    case block_state::active_pending_free: return map_state::pending;
    case block_state::inactive: break;
  }
  return map_state::free;
}

void add_block(segment const& owner, std::span<block const> run, stack_collector& stacks,
               segment_map& made) {
  block const& first = run.front();
  std::int64_t bytes = 0;
  std::int64_t requested = 0;
  for (block const& one : run) {
    bytes = add_saturated(bytes, to_bytes(one.size));
    if (one.state != block_state::inactive)
      requested = add_saturated(requested, to_bytes(one.requested_size));
  }
  bool const is_one = run.size() == 1;
  map_state const state = is_one ? state_of(first) : map_state::mixed;
  bool const has_stack = state == map_state::allocated || state == map_state::pending;
  std::uint64_t const offset =
      first.address > owner.address ? first.address - owner.address : std::uint64_t{0};
  made.block_offset.push_back(to_bytes(offset));
  made.block_bytes.push_back(bytes);
  made.block_requested.push_back(requested);
  made.block_state.push_back(state);
  made.block_stack.push_back(has_stack ? stacks.row_of(first.stack) : no_row);
}

map_segment make_segment(snapshot const& input, segment const& from) {
  pool_id const pool = pool_of(input, from);
  map_segment made;
  made.address = from.address;
  made.bytes = to_bytes(from.total_size);
  made.stream = stream_of(input, from.stream);
  made.pool_first = pool.first;
  made.pool_second = pool.second;
  made.is_small = from.is_small;
  made.is_expandable = from.is_expandable;
  return made;
}

}  // namespace

segment_map make_segment_map(snapshot const& input, address_map const& map,
                             timeline_budget const& budget, stack_collector& stacks) {
  segment_map made;
  made.event = map.event;
  made.is_exact = map.exact;
  made.reason = map.reason;
  made.unplaced_bytes = map.unplaced_bytes;
  std::vector<std::size_t> const rows = choose_segments(map, budget.segments);
  std::uint64_t const limit = find_limit(map, rows, budget.blocks);
  for (std::size_t const row : rows) {
    segment const& from = map.segments[row];
    std::span<block const> const blocks = blocks_of(map, from);
    map_segment shown = make_segment(input, from);
    shown.first_block = static_cast<std::int64_t>(made.block_bytes.size());
    for_each_run(blocks, limit, [&](std::size_t first, std::size_t count) {
      add_block(from, blocks.subspan(first, count), stacks, made);
    });
    shown.blocks = static_cast<std::int64_t>(made.block_bytes.size()) - shown.first_block;
    made.segments.push_back(shown);
  }
  std::int64_t all_bytes = 0;
  std::int64_t shown_bytes = 0;
  for (segment const& from : map.segments)
    all_bytes = add_saturated(all_bytes, to_bytes(from.total_size));
  for (map_segment const& shown : made.segments)
    shown_bytes = add_saturated(shown_bytes, shown.bytes);
  made.other_segments = static_cast<std::int64_t>(map.segments.size() - rows.size());
  made.other_bytes = subtract_saturated(all_bytes, shown_bytes);
  return made;
}

}  // namespace memreplay::reporting
