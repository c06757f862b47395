// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From a time to a position in a trace. The order of the list is the truth and times may step back,
// so an event counts as early as the latest time before it says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reporting {

class trace_clock {
 public:
  trace_clock(snapshot const& input, std::int32_t device);

  [[nodiscard]] bool has_times() const noexcept { return earliest_us_.has_value(); }
  [[nodiscard]] std::int64_t events() const noexcept { return count_; }
  /// Of any event; unset without times.
  [[nodiscard]] std::optional<std::int64_t> earliest_us() const noexcept { return earliest_us_; }
  [[nodiscard]] std::optional<std::int64_t> latest_us() const noexcept { return latest_us_; }
  /// The first event that is not before `time_us`; the number of events when all are.
  [[nodiscard]] event_index first_from(std::int64_t time_us) const noexcept;
  /// Since the earliest time, of the latest time up to an event; 0 before the first event. Only
  /// with times.
  [[nodiscard]] double seconds_at(event_index event) const noexcept;
  /// The events of [start_us, end_us).
  [[nodiscard]] event_range range(std::int64_t start_us, std::int64_t end_us) const noexcept;

 private:
  std::int64_t count_ = 0;
  std::optional<std::int64_t> earliest_us_, latest_us_;
  std::int64_t const* times_ = nullptr;   ///< ascending
  std::vector<std::int64_t> latest_yet_;  ///< only where the recorded times step back
};

}  // namespace memreplay::reporting
