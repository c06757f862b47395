// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One device's rows of the event columns, and what a report asks of them besides the replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reporting {

/// The trace of one device ordinal; empty when the file has none. The snapshot must outlive the
/// view.
class trace_view {
 public:
  trace_view(snapshot const& input, std::int32_t device);

  [[nodiscard]] std::int64_t count() const noexcept { return range_.count; }
  [[nodiscard]] action what(event_index event) const noexcept { return columns_->what[row(event)]; }
  [[nodiscard]] std::uint64_t address(event_index event) const noexcept {
    return columns_->address[row(event)];
  }
  [[nodiscard]] std::uint64_t size(event_index event) const noexcept {
    return columns_->size[row(event)];
  }
  [[nodiscard]] stack_id stack(event_index event) const noexcept {
    return columns_->stack[row(event)];
  }
  [[nodiscard]] stream_id stream(event_index event) const noexcept {
    return columns_->stream[row(event)];
  }

  /// Unset where the file has no times, where the recorder could not tell (it writes 0), and
  /// outside the trace.
  [[nodiscard]] std::optional<std::int64_t> time_us(event_index event) const noexcept;
  /// The same as seconds since the earliest time of the trace.
  [[nodiscard]] std::optional<double> seconds(event_index event) const noexcept;
  [[nodiscard]] std::optional<double> span_seconds() const noexcept;

 private:
  [[nodiscard]] std::size_t row(event_index event) const noexcept {
    return static_cast<std::size_t>(range_.first + event);
  }

  event_columns const* columns_;
  trace_range range_;
  std::optional<std::int64_t> earliest_us_, latest_us_;
};

/// How often each action occurs, in the order of `action`, without those that do not.
[[nodiscard]] std::vector<action_count_row> count_actions(trace_view const& trace);

/// The same from counts that the replay made.
[[nodiscard]] std::vector<action_count_row> name_action_counts(
    std::int64_t const (&counts)[action_count]);

/// Reserved bytes after `event`, given those before the trace.
[[nodiscard]] std::int64_t reserved_after(trace_view const& trace, event_index event,
                                          std::int64_t start_bytes);

/// Per stream, largest allocations first.
[[nodiscard]] std::vector<stream_row> summarize_streams(snapshot const& input,
                                                        trace_view const& trace);

}  // namespace memreplay::reporting
