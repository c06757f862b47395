// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From a time to a position in a trace.
#include "report/trace_clock.hpp"

#include <algorithm>

namespace memreplay::reporting {

trace_clock::trace_clock(snapshot const& input, std::int32_t device) {
  if (device < 0 || static_cast<std::size_t>(device) >= input.traces.size()) return;
  trace_range const rows = input.traces[static_cast<std::size_t>(device)];
  count_ = rows.count;
  if (rows.count == 0 || input.events.time_us.empty()) return;
  std::int64_t const* const recorded = input.events.time_us.data() + rows.first;
  std::int64_t const* const end = recorded + rows.count;
  for (std::int64_t const* time = recorded; time != end; ++time) {
    if (*time == 0) continue;  // the recorder could not tell
    earliest_us_ = std::min(earliest_us_.value_or(*time), *time);
    latest_us_ = std::max(latest_us_.value_or(*time), *time);
  }
  if (!earliest_us_) return;
  times_ = recorded;
  if (*recorded == *earliest_us_ && std::is_sorted(recorded, end)) return;
  latest_yet_.assign(recorded, end);
  std::int64_t latest = *earliest_us_;
  for (std::int64_t& time : latest_yet_) time = latest = std::max(latest, time);
  times_ = latest_yet_.data();
}

event_index trace_clock::first_from(std::int64_t time_us) const noexcept {
  if (times_ == nullptr) return count_;
  return std::lower_bound(times_, times_ + count_, time_us) - times_;
}

double trace_clock::seconds_at(event_index event) const noexcept {
  if (times_ == nullptr || event < 0) return 0;
  // Events whose time nobody could tell say 0.
  return std::max(0.0,
                  (static_cast<double>(times_[event]) - static_cast<double>(*earliest_us_)) / 1e6);
}

event_range trace_clock::range(std::int64_t start_us, std::int64_t end_us) const noexcept {
  event_index const first = first_from(start_us);
  return {first, std::max(first, first_from(end_us)) - 1};
}

}  // namespace memreplay::reporting
