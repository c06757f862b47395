// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report of what lies where at a moment: an address map, segment by segment.
#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>

#include "report/annotations.hpp"
#include "report/end_state.hpp"
#include "report/header.hpp"
#include "report/memory_map.hpp"
#include "report/moments.hpp"
#include "report/redaction.hpp"
#include "report/saturating.hpp"
#include "report/site_rows.hpp"
#include "report/sites.hpp"
#include "report/trace_view.hpp"

namespace memreplay {

using namespace reporting;

namespace {

constexpr std::int64_t most_owners = 3;

void add(segment_fill& sum, segment_fill const& part) {
  sum.bytes = add_saturated(sum.bytes, part.bytes);
  sum.allocated_bytes = add_saturated(sum.allocated_bytes, part.allocated_bytes);
  sum.pending_bytes = add_saturated(sum.pending_bytes, part.pending_bytes);
  sum.free_bytes = add_saturated(sum.free_bytes, part.free_bytes);
  sum.requested_bytes = add_saturated(sum.requested_bytes, part.requested_bytes);
  sum.blocks += part.blocks;
  sum.holes += part.holes;
  sum.largest_hole_bytes = std::max(sum.largest_hole_bytes, part.largest_hole_bytes);
  sum.fill = percent(add_saturated(sum.allocated_bytes, sum.pending_bytes), sum.bytes);
}

segment_fill fill_of(segment const& row, std::span<block const> blocks) {
  segment_fill made;
  made.bytes = to_bytes(row.total_size);
  made.allocated_bytes = to_bytes(row.allocated_size);
  made.pending_bytes = excess(to_bytes(row.active_size), made.allocated_bytes);
  made.free_bytes = excess(made.bytes, to_bytes(row.active_size));
  made.requested_bytes = to_bytes(row.requested_size);
  for (block const& part : blocks) {
    if (part.state != block_state::inactive) {
      ++made.blocks;
      continue;
    }
    ++made.holes;
    made.largest_hole_bytes = std::max(made.largest_hole_bytes, to_bytes(part.size));
  }
  made.fill = percent(to_bytes(row.active_size), made.bytes);
  return made;
}

/// Percents of equal slots, rounded down, but something is never nothing.
std::array<int, bar_slots> bar_of(segment const& row, std::span<block const> blocks) {
  std::array<double, bar_slots> occupied = {};
  double const slot_bytes = static_cast<double>(row.total_size) / bar_slots;
  for (block const& part : blocks) {
    if (part.state == block_state::inactive || part.size == 0) continue;
    double const first = static_cast<double>(part.address - row.address) / slot_bytes;
    double const last = first + static_cast<double>(part.size) / slot_bytes;
    for (auto slot = static_cast<std::size_t>(first); slot < bar_slots; ++slot) {
      auto const begin = static_cast<double>(slot);
      if (begin >= last) break;
      occupied[slot] += std::min(last, begin + 1) - std::max(first, begin);
    }
  }
  std::array<int, bar_slots> made = {};
  std::transform(occupied.begin(), occupied.end(), made.begin(), [](double part) {
    constexpr double rounding_error = 1e-6;
    return part <= 0 ? 0 : std::clamp(static_cast<int>(100 * part + rounding_error), 1, 100);
  });
  return made;
}

std::vector<stack_total> totals_by_stack(std::span<block const> blocks) {
  std::map<std::uint32_t, stack_total> by_stack;
  for (block const& part : blocks) {
    if (part.state == block_state::inactive) continue;
    stack_total& total = by_stack[to_row(part.stack)];
    total.stack = part.stack;
    total.bytes = add_saturated(total.bytes, to_bytes(part.size));
    ++total.count;
  }
  std::vector<stack_total> totals;
  totals.reserve(by_stack.size());
  for (auto const& [stack, total] : by_stack) totals.push_back(total);
  return totals;
}

segment_pool pool_key(snapshot const& input, segment const& row) {
  pool_id const pool = pool_of(input, row);
  return {stream_of(input, row.stream), pool.first, pool.second, row.is_small};
}

segment_row make_row(snapshot const& input, site_table& sites, segment const& row,
                     std::span<block const> blocks) {
  segment_row made;
  made.address = row.address;
  made.of = pool_key(input, row);
  made.is_expandable = row.is_expandable;
  made.fill = fill_of(row, blocks);
  site_rows owners =
      make_site_rows(sites, totals_by_stack(blocks), to_bytes(row.active_size), most_owners);
  made.owners = std::move(owners.rows);
  made.owners_rest = owners.rest;
  made.bar = bar_of(row, blocks);
  return made;
}

/// Which segments are shown: the largest, at equal size those with more free memory.
std::vector<bool> choose_rows(address_map const& map, std::int64_t limit) {
  std::vector<bool> is_shown(map.segments.size(), true);
  if (limit == 0 || static_cast<std::int64_t>(map.segments.size()) <= limit) return is_shown;
  std::vector<std::size_t> order(map.segments.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::stable_sort(order.begin(), order.end(), [&map](std::size_t left, std::size_t right) {
    segment const& a = map.segments[left];
    segment const& b = map.segments[right];
    return std::tie(b.total_size, a.active_size) < std::tie(a.total_size, b.active_size);
  });
  for (std::size_t rank = static_cast<std::size_t>(limit); rank < order.size(); ++rank) {
    is_shown[order[rank]] = false;
  }
  return is_shown;
}

void add_rows(snapshot const& input, site_table& sites, address_map const& map, std::int64_t limit,
              device_segments& made) {
  std::vector<bool> const is_shown = choose_rows(map, limit);
  for (std::size_t at = 0; at < map.segments.size(); ++at) {
    segment const& row = map.segments[at];
    std::span<block const> const blocks = blocks_of(map, row);
    if (is_shown[at]) {
      made.rows.push_back(make_row(input, sites, row, blocks));
    } else {
      ++made.rest.segments;
      add(made.rest.fill, fill_of(row, blocks));
    }
  }
}

std::vector<segment_pool_row> make_pools(snapshot const& input, address_map const& map) {
  auto const key_of = [](segment_pool const& of) {
    return std::tuple(of.stream, of.pool_first, of.pool_second, of.is_small);
  };
  std::map<std::tuple<std::uint64_t, std::int64_t, std::int64_t, bool>, segment_pool_row> by_key;
  for (segment const& row : map.segments) {
    segment_pool const of = pool_key(input, row);
    segment_pool_row& pool = by_key[key_of(of)];
    pool.of = of;
    ++pool.segments;
    add(pool.fill, fill_of(row, blocks_of(map, row)));
  }
  std::vector<segment_pool_row> rows;
  rows.reserve(by_key.size());
  for (auto const& [key, pool] : by_key) rows.push_back(pool);
  std::stable_sort(rows.begin(), rows.end(),
                   [](segment_pool_row const& left, segment_pool_row const& right) {
                     return left.fill.bytes > right.fill.bytes;
                   });
  return rows;
}

address_map const& map_of(device_replay const& replayed, moment_request const& asked) {
  bool const is_peak = asked.how == moment_request::kind::peak;
  auto const count = static_cast<std::int64_t>(replayed.peaks.size());
  if (is_peak && asked.number > count) {
    throw error(error_code::bad_request,
                fmt::format("device {} has no peak {}", replayed.device, asked.number),
                count == 0
                    ? std::string("its curve has none at all")
                    : fmt::format("it has {} distinct peak{}", count, count == 1 ? "" : "s"));
  }
  return replayed.maps.back();
}

device_segments make_device(snapshot const& input, annotation_table const& annotations,
                            site_table& sites, device_replay const& replayed,
                            moment_request const& asked, report_options const& options) {
  trace_view const trace(input, replayed.device);
  address_map const& map = map_of(replayed, asked);
  device_segments made;
  made.device = replayed.device;
  made.event = map.event;
  made.time_us = trace.time_us(map.event);
  made.seconds = trace.seconds(map.event);
  if (made.time_us) made.within = annotations.within(replayed.device, *made.time_us);
  made.is_exact = map.exact;
  made.reason = map.reason;
  made.unplaced_bytes = map.unplaced_bytes;
  made.totals = summarize_segments(input, map);
  add_rows(input, sites, map, options.top_contributors, made);
  made.pools = make_pools(input, map);
  return made;
}

}  // namespace

replay_plan plan_segments(snapshot const& input, std::int32_t device, moment_request const& asked,
                          replay_plan plan) {
  if (asked.how == moment_request::kind::peak) {
    plan.peak_count = asked.number;
    plan.peak_maps = asked.number;
  } else {
    plan.peak_count = 0;
    plan.maps = {find_moment(input, device, asked)};
  }
  plan.timeline_width = 0;
  return plan;
}

segments_report make_segments(snapshot const& input, replay_result const& replayed,
                              replay_plan const& plan, moment_request const& asked,
                              report_options const& options, std::string const& file) {
  site_table sites(input, options.site, site_rule::user);
  annotation_table const annotations(input);
  segments_report made;
  static_cast<report_header&>(made) =
      make_header(segments_schema_version, input, replayed, plan, sites, file);
  made.asked = asked;
  for (device_replay const& device : replayed.devices) {
    made.devices.push_back(make_device(input, annotations, sites, device, asked, options));
  }
  if (options.site.redact) redact(made);
  return made;
}

}  // namespace memreplay
