// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The steps of the pipeline, and the columns that they hand to each other.
#pragma once

#include "kernels/backend.cuh"
#include "kernels/columns.cuh"
#include "kernels/kernel_api.hpp"
#include "kernels/primitives.cuh"

#include <cstdint>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

/// The trace where steps can read it.
struct event_rows {
  std::int64_t count;
  action const* what;
  std::uint64_t const* address;
  std::uint64_t const* size;
  stack_id const* stack;
};

/// The blocks of the end state, ascending address, none twice.
struct block_rows {
  std::int64_t count;
  std::uint64_t const* address;
  std::uint64_t const* size;
  stack_id const* stack;
  std::uint8_t const* is_pending;
};

/// Lifetimes in ascending (address, first event); the meaning of the columns is `host_lifetimes`'s.
struct lifetime_rows {
  std::int64_t count;
  event_index const* birth;
  event_index const* allocated_end;
  event_index const* active_end;
  std::uint64_t const* size;
  stack_id const* stack;
};

struct lifetimes {
  buffer<event_index> birth;
  buffer<event_index> allocated_end;
  buffer<event_index> active_end;
  buffer<std::uint64_t> size;
  buffer<stack_id> stack;
  buffer<std::uint64_t> address;  ///< empty unless asked for

  lifetimes(execution const& exec, std::int64_t count, bool wants_addresses)
      : birth(exec, count),
        allocated_end(exec, count),
        active_end(exec, count),
        size(exec, count),
        stack(exec, count),
        address(exec, wants_addresses ? count : 0) {}
  [[nodiscard]] lifetime_rows rows() const noexcept {
    return {birth.count(),     birth.data(), allocated_end.data(),
            active_end.data(), size.data(),  stack.data()};
  }
};

/// Bytes after each event, and before the first. The values are sums that wrap around, read as
/// signed.
struct curve_rows {
  std::int64_t count;
  std::int64_t const* value;
  std::int64_t start;

  /// The value after event `position`, `before_trace` included.
  [[nodiscard]] MEMREPLAY_HD std::int64_t at(event_index position) const {
    return position < 0 ? start : value[position];
  }
};

struct curve {
  buffer<std::int64_t> value;
  std::int64_t start;
  [[nodiscard]] curve_rows rows() const noexcept { return {value.count(), value.data(), start}; }
};

/// Allocs and frees: the actions that `pair` chains by address.
[[nodiscard]] MEMREPLAY_HD constexpr bool is_chained(action what) {
  return what <= action::free_completed;
}
static_assert(action::alloc < action::free_requested &&
              action::free_requested < action::free_completed &&
              action::free_completed < action::segment_alloc);

/// What one look at all events tells.
struct event_survey {
  std::int64_t counts[action_count] = {};
  differing_bits addresses;  ///< of the chained events

  [[nodiscard]] std::int64_t count(action what) const { return counts[static_cast<int>(what)]; }
};

/// Counts the actions, and finds the address bits that pairing has to look at.
[[nodiscard]] event_survey survey(execution const& exec, event_rows const& events);

/// How to read sizes and the end state while pairing.
struct pair_options {
  bool has_segments;   ///< `blocks` is the end state; false: nothing is known of it
  bool compare_sizes;  ///< sizes are as recorded, so a free must repeat its alloc's
  bool wants_addresses = false;
};

/// Rows of the trace and the end state -> lifetimes; adds what does not fit together to `counts`.
[[nodiscard]] lifetimes pair(execution const& exec, event_rows const& events,
                             event_survey const& seen, block_rows const& blocks,
                             pair_options options, replay_counts& counts);

/// What a curve starts with: of lifetimes, those carried in; of segments, what the end has beyond
/// the changes of the trace.
struct start_rule {
  carried_in older;
  bool has_segments;          ///< false: nothing is known of the end
  std::int64_t reserved_end;  ///< bytes of the segments
};

/// Lifetimes (or segment events) -> the curve of a measure.
[[nodiscard]] curve accumulate(execution const& exec, event_rows const& events,
                               lifetime_rows const& born, measure which, start_rule const& rule);

/// The start, the greatest value and where it first holds, and the end of a curve; and its values
/// after some events.
struct key_values {
  curve_summary summary;
  std::vector<std::int64_t> at;
};

[[nodiscard]] key_values find_key_values(execution const& exec, curve_rows const& bytes,
                                         std::vector<event_index> const& positions);

/// The same of `reserved`, without its curve: few events change it.
[[nodiscard]] key_values find_reserved_key_values(execution const& exec, event_rows const& events,
                                                  start_rule const& rule,
                                                  std::vector<event_index> const& positions);

/// Distinct local maxima, largest first: `event` and `bytes` of each. `time_us` may be null.
[[nodiscard]] std::vector<peak> find_peaks(execution const& exec, curve_rows const& bytes,
                                           std::int64_t const* time_us, replay_plan const& plan);

/// Where the greatest value of a range first holds, and what the curve is around it. Ranges are
/// within the trace; an empty one has the value before it throughout.
[[nodiscard]] std::vector<range_replay> find_range_peaks(execution const& exec,
                                                         curve_rows const& bytes,
                                                         std::vector<event_range> const& ranges);

/// Row numbers of the lifetimes that the measure counts after `event`, ascending. None for
/// `reserved`.
[[nodiscard]] buffer<std::int64_t> select_live(execution const& exec, lifetime_rows const& born,
                                               event_index event, measure which, carried_in older);

/// The live sets after each of the moments (ascending, none twice), as changes; the meaning and the
/// order are `live_history`'s. None for `reserved`.
[[nodiscard]] std::vector<live_change> follow_live(execution const& exec, lifetime_rows const& born,
                                                   std::vector<event_index> const& moments,
                                                   measure which, carried_in older);

/// The `limit` lifetimes that fill the greatest area below the curve of a measure in a trace of
/// `events`; the meaning and the order are `device_replay::largest`'s. None for `reserved`.
[[nodiscard]] std::vector<large_lifetime> select_largest(execution const& exec,
                                                         lifetime_rows const& born,
                                                         std::int64_t events, measure which,
                                                         carried_in older, std::int64_t limit);

/// Row numbers of the lifetimes born in the trace, ascending.
[[nodiscard]] buffer<std::int64_t> select_births(execution const& exec, lifetime_rows const& born);

/// Bytes of those of the rows that are older than the trace.
[[nodiscard]] std::int64_t carried_in_bytes(execution const& exec, lifetime_rows const& born,
                                            buffer<std::int64_t> const& rows);

/// Bytes and lifetimes by stack: bytes descending, then stack ascending.
[[nodiscard]] std::vector<stack_total> total_by(execution const& exec, lifetime_rows const& born,
                                                buffer<std::int64_t> const& rows);

/// Least and greatest value in each of at most `width` runs of equally many events.
[[nodiscard]] std::vector<timeline_bucket> downsample(execution const& exec,
                                                      curve_rows const& bytes, std::int64_t width);

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
