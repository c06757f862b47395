// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Draws a timeline in one line of text, with the peaks marked on the line below.
#include "writers/sparkline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace memreplay::writers {
namespace {

constexpr char const* blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                  "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr int block_count = 8;

char const* block_for(std::int64_t bytes, std::int64_t floor, std::int64_t top) {
  if (top <= floor || bytes <= floor) return blocks[0];
  double const height = (static_cast<double>(bytes) - static_cast<double>(floor)) /
                        (static_cast<double>(top) - static_cast<double>(floor));
  int const index = static_cast<int>(std::lround(height * (block_count - 1)));
  return blocks[std::clamp(index, 0, block_count - 1)];
}

/// Index of the bucket that holds the event; the first one for a peak before the trace.
std::size_t bucket_of(std::vector<timeline_bucket> const& timeline, event_index event) {
  auto const after = std::upper_bound(timeline.begin(), timeline.end(), event,
                                      [](event_index wanted, timeline_bucket const& bucket) {
                                        return wanted < bucket.first_event;
                                      });
  return after == timeline.begin() ? 0 : static_cast<std::size_t>(after - timeline.begin()) - 1;
}

}  // namespace

sparkline draw_sparkline(std::vector<timeline_bucket> const& timeline,
                         std::vector<peak_report> const& peaks) {
  sparkline drawn;
  if (timeline.empty()) return drawn;
  auto const lowest = std::min_element(
      timeline.begin(), timeline.end(),
      [](auto const& left, auto const& right) { return left.low_bytes < right.low_bytes; });
  auto const highest = std::max_element(
      timeline.begin(), timeline.end(),
      [](auto const& left, auto const& right) { return left.high_bytes < right.high_bytes; });
  drawn.top_bytes = highest->high_bytes;
  bool const stays_high = lowest->low_bytes > drawn.top_bytes / 2;
  drawn.floor_bytes = stays_high || lowest->low_bytes < 0 ? lowest->low_bytes : 0;
  for (timeline_bucket const& bucket : timeline) {
    drawn.curve += block_for(bucket.high_bytes, drawn.floor_bytes, drawn.top_bytes);
  }

  drawn.marks.assign(timeline.size(), ' ');
  for (std::size_t index = peaks.size();
       index-- > 0;) {  // backwards: the larger peak keeps a shared bucket
    char const mark = index < 9 ? static_cast<char>('1' + static_cast<int>(index)) : '*';
    drawn.marks[bucket_of(timeline, peaks[index].event)] = mark;
  }
  drawn.marks.erase(drawn.marks.find_last_not_of(' ') + 1);
  return drawn;
}

}  // namespace memreplay::writers
