// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The holes of a memory map by stream and pool, and why none of them serves a request.
#include "report/free_space.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "report/memory_map.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

// What a request of at least max_split_size may take more than it needs (the allocator's
// max_non_split_rounding_mb).
constexpr std::uint64_t most_oversize_slack = std::uint64_t{20} << 20;

/// stream, pool, is_small
using place = std::tuple<std::uint64_t, std::int64_t, std::int64_t, bool>;

struct place_total {
  free_space_row row;
  std::int64_t usable_hole = 0;  ///< largest hole that the request could be cut from
};

bool fits(std::uint64_t hole, std::uint64_t wanted, allocator_rules const& rules) {
  if (hole < wanted) return false;
  return wanted < rules.max_split_size ? hole < rules.max_split_size
                                       : hole - wanted < most_oversize_slack;
}

void add_segment(address_map const& map, segment const& owner, failed_request_report const& request,
                 allocator_rules const& rules, place_total& total) {
  free_space_row& row = total.row;
  ++row.segments;
  row.reserved_bytes = add_saturated(row.reserved_bytes, to_bytes(owner.total_size));
  for (block const& part : blocks_of(map, owner)) {
    std::int64_t const bytes = to_bytes(part.size);
    if (part.state == block_state::active_pending_free) {
      row.pending_bytes = add_saturated(row.pending_bytes, bytes);
    }
    if (part.state != block_state::inactive) continue;
    ++row.holes;
    row.free_bytes = add_saturated(row.free_bytes, bytes);
    row.largest_bytes = std::max(row.largest_bytes, bytes);
    bool const is_usable =
        request.bytes && fits(part.size, static_cast<std::uint64_t>(*request.bytes), rules);
    if (is_usable) total.usable_hole = std::max(total.usable_hole, bytes);
  }
}

bool is_own_pool(free_space_row const& row, failed_request_report const& request) {
  return row.pool_first == request.pool_first && row.pool_second == request.pool_second;
}

std::string reason_of(place_total const& total, failed_request_report const& request) {
  free_space_row const& row = total.row;
  if (!request.bytes) return "no_request";
  if (!is_own_pool(row, request)) {
    return row.pool_first == 0 && row.pool_second == 0 ? "default_pool" : "private_pool";
  }
  if (row.is_small != request.is_small) return row.is_small ? "small_pool" : "large_pool";
  if (row.stream != request.stream) return "other_stream";
  if (total.usable_hole > 0) return "would_fit";
  return row.largest_bytes >= *request.bytes ? "split_limit" : "too_fragmented";
}

void add_reason(free_space_row const& row, std::vector<free_reason_row>& out) {
  if (row.free_bytes == 0) return;
  auto found = std::find_if(out.begin(), out.end(),
                            [&row](free_reason_row const& one) { return one.why == row.why; });
  if (found == out.end()) found = out.insert(out.end(), {row.why, 0, 0, 0});
  found->bytes = add_saturated(found->bytes, row.free_bytes);
  found->holes += row.holes;
  found->largest_bytes = std::max(found->largest_bytes, row.largest_bytes);
}

void add_elsewhere(place_total const& total, std::int64_t& hole, std::int64_t& bytes) {
  hole = std::max(hole, total.usable_hole);
  bytes = add_saturated(bytes, total.row.free_bytes);
}

}  // namespace

free_space find_free_space(snapshot const& input, address_map const& map,
                           failed_request_report const& request, allocator_rules const& rules) {
  std::map<place, place_total> places;
  for (segment const& owner : map.segments) {
    pool_id const pool = pool_of(input, owner);
    std::uint64_t const stream = stream_of(input, owner.stream);
    place_total& total = places[{stream, pool.first, pool.second, owner.is_small}];
    total.row.stream = stream;
    total.row.pool_first = pool.first;
    total.row.pool_second = pool.second;
    total.row.is_small = owner.is_small;
    add_segment(map, owner, request, rules, total);
  }

  free_space made;
  for (auto& [where, total] : places) {
    free_space_row& row = total.row;
    row.why = reason_of(total, request);
    made.free_bytes = add_saturated(made.free_bytes, row.free_bytes);
    add_reason(row, made.by_reason);
    bool const is_own = is_own_pool(row, request) && row.stream == request.stream;
    bool const is_own_class = row.is_small == request.is_small;
    if (is_own && (is_own_class || !request.bytes)) {
      made.own_bytes = add_saturated(made.own_bytes, row.free_bytes);
      made.largest_usable_bytes = std::max(made.largest_usable_bytes, row.largest_bytes);
    }
    if (request.bytes && is_own_class && !is_own) {
      if (!is_own_pool(row, request)) {
        add_elsewhere(total, made.other_pool_hole, made.other_pool_bytes);
      } else {
        add_elsewhere(total, made.other_stream_hole, made.other_stream_bytes);
      }
    }
    made.rows.push_back(row);
  }
  std::stable_sort(made.rows.begin(), made.rows.end(),
                   [](free_space_row const& left, free_space_row const& right) {
                     return left.free_bytes > right.free_bytes;
                   });
  std::stable_sort(made.by_reason.begin(), made.by_reason.end(),
                   [](free_reason_row const& left, free_reason_row const& right) {
                     return left.bytes > right.bytes;
                   });
  return made;
}

}  // namespace memreplay::reporting
