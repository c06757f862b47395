// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How a device's memory was cut up, at a few moments of its trace.
#include "report/fragmentation.hpp"

#include <algorithm>

#include "report/end_state.hpp"

namespace memreplay::reporting {
namespace {

constexpr std::int64_t most_moments = 12;

}  // namespace

std::vector<event_index> fragmentation_moments(std::int64_t events) {
  std::int64_t const parts = std::min(events, most_moments);
  // In steps of events / parts from the beginning on, without a product that may overflow.
  std::vector<event_index> moments;
  for (std::int64_t part = 0; part < parts; ++part) {
    moments.push_back(events / parts * part + events % parts * part / parts - 1);
  }
  moments.push_back(events - 1);
  return moments;
}

std::vector<fragmentation_row> make_fragmentation(snapshot const& input, trace_view const& trace,
                                                  device_replay const& replayed) {
  std::vector<fragmentation_row> rows;
  bool const has_segments =
      std::any_of(replayed.maps.begin(), replayed.maps.end(),
                  [](address_map const& map) { return !map.segments.empty(); });
  if (!has_segments) return rows;
  for (address_map const& map : replayed.maps) {
    segment_summary const sum = summarize_segments(input, map);
    fragmentation_row row;
    row.event = map.event;
    row.seconds = trace.seconds(map.event);
    row.is_peak = !replayed.peaks.empty() && replayed.peaks.front().event == map.event;
    row.reserved_bytes = sum.total_bytes;
    row.active_bytes = sum.active_bytes;
    row.inactive_bytes = sum.inactive_bytes;
    row.fragmentation = sum.fragmentation;
    row.largest_free_bytes = sum.largest_inactive_bytes;
    row.free_blocks = std::count_if(map.blocks.begin(), map.blocks.end(), [](block const& part) {
      return part.state == block_state::inactive;
    });
    row.exact = map.exact;
    rows.push_back(row);
  }
  auto const by_event = [](fragmentation_row const& left, fragmentation_row const& right) {
    return left.event < right.event;
  };
  std::stable_sort(rows.begin(), rows.end(), by_event);
  auto const is_same = [](fragmentation_row const& left, fragmentation_row const& right) {
    return left.event == right.event;
  };
  rows.erase(std::unique(rows.begin(), rows.end(), is_same), rows.end());
  return rows;
}

}  // namespace memreplay::reporting
