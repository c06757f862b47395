// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One device's rows of the event columns, and what a report asks of them besides the replay.
#include "report/trace_view.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

double to_seconds(std::int64_t from_us, std::int64_t to_us) {
  return (static_cast<double>(to_us) - static_cast<double>(from_us)) / 1e6;
}

}  // namespace

trace_view::trace_view(snapshot const& input, std::int32_t device) : columns_(&input.events) {
  if (device >= 0 && static_cast<std::size_t>(device) < input.traces.size()) {
    range_ = input.traces[static_cast<std::size_t>(device)];
  }
  if (columns_->time_us.empty()) return;
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  for (event_index event = 0; event < range_.count; ++event) {
    std::int64_t const time = columns_->time_us[row(event)];
    earliest = std::min(earliest, time == 0 ? earliest : time);  // 0 is no time
    latest = std::max(latest, time == 0 ? latest : time);
  }
  if (earliest > latest) return;
  earliest_us_ = earliest;
  latest_us_ = latest;
}

std::optional<std::int64_t> trace_view::time_us(event_index event) const noexcept {
  if (event < 0 || event >= range_.count || columns_->time_us.empty()) return std::nullopt;
  std::int64_t const time = columns_->time_us[row(event)];
  return time == 0 ? std::nullopt : std::optional<std::int64_t>{time};
}

std::optional<double> trace_view::seconds(event_index event) const noexcept {
  std::optional<std::int64_t> const time = time_us(event);
  if (!time) return std::nullopt;
  return to_seconds(*earliest_us_, *time);
}

std::optional<double> trace_view::span_seconds() const noexcept {
  if (!earliest_us_) return std::nullopt;
  return to_seconds(*earliest_us_, *latest_us_);
}

std::vector<action_count_row> count_actions(trace_view const& trace) {
  std::int64_t counts[action_count] = {};
  for (event_index event = 0; event < trace.count(); ++event)
    ++counts[static_cast<int>(trace.what(event))];
  return name_action_counts(counts);
}

std::vector<action_count_row> name_action_counts(std::int64_t const (&counts)[action_count]) {
  std::vector<action_count_row> rows;
  for (int index = 0; index < action_count; ++index) {
    if (counts[index] > 0) rows.push_back({to_string(static_cast<action>(index)), counts[index]});
  }
  return rows;
}

std::int64_t reserved_after(trace_view const& trace, event_index event, std::int64_t start_bytes) {
  std::int64_t bytes = start_bytes;
  for (event_index at = 0; at <= event && at < trace.count(); ++at) {
    switch (trace.what(at)) {
      case action::segment_alloc:
      case action::segment_map: bytes = add_saturated(bytes, to_bytes(trace.size(at))); break;
      case action::segment_free:
      case action::segment_unmap:
        bytes = subtract_saturated(bytes, to_bytes(trace.size(at)));
        break;
      default: break;
    }
  }
  return bytes;
}

std::vector<stream_row> summarize_streams(snapshot const& input, trace_view const& trace) {
  std::vector<stream_row> by_stream(input.streams.size());
  for (std::size_t index = 0; index < by_stream.size(); ++index)
    by_stream[index].stream = input.streams[index];
  for (event_index event = 0; event < trace.count(); ++event) {
    std::size_t const index = to_row(trace.stream(event));
    if (index >= by_stream.size()) continue;
    stream_row& row = by_stream[index];
    ++row.events;
    if (trace.what(event) != action::alloc) continue;
    ++row.allocs;
    row.alloc_bytes = add_saturated(row.alloc_bytes, to_bytes(trace.size(event)));
  }
  std::erase_if(by_stream, [](stream_row const& row) { return row.events == 0; });
  std::sort(by_stream.begin(), by_stream.end(),
            [](stream_row const& left, stream_row const& right) {
              return std::tie(right.alloc_bytes, right.events, left.stream) <
                     std::tie(left.alloc_bytes, left.events, right.stream);
            });
  return by_stream;
}

}  // namespace memreplay::reporting
