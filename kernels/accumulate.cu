// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `accumulate`: bytes after each event, from the lifetimes (or, for `reserved`, from the
// events).
//
//   event               0      1      2      3      4
//   lifetimes        +8 B   -4 A   +2 C            -8 B     A was carried in: it counts before 0
//   delta               8     -4      2      0     -8
//   start 4, curve     12      8     10     10      2
//
// Every alloc begins a lifetime of its own size: a pass over the events adds the births. An event
// ends at most one lifetime (an alloc at an address in use does both), so a pass over the lifetimes
// subtracts the ends without atomics.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <limits>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

/// What an event adds by itself: every alloc is a birth.
struct write_births {
  event_rows events;
  std::int64_t* delta;
  std::int64_t start;
  MEMREPLAY_HD void operator()(std::int64_t event) const {
    std::int64_t const born =
        events.what[event] == action::alloc ? static_cast<std::int64_t>(events.size[event]) : 0;
    delta[event] = event == 0 ? add_bytes{}(born, start) : born;
  }
};

struct subtract_end {
  event_index const* birth;
  event_index const* end;
  std::uint64_t const* size;
  std::int64_t* delta;
  bool counts_carried_in;
  MEMREPLAY_HD void operator()(std::int64_t lifetime) const {
    event_index const event = end[lifetime];
    if (event == before_trace || event == never) return;
    if (birth[lifetime] == before_trace && !counts_carried_in) return;
    delta[event] = add_bytes{}(delta[event], static_cast<std::int64_t>(0 - size[lifetime]));
  }
};

/// Bytes of a lifetime that the measure counts before event 0.
struct carried_in_size {
  event_index const* birth;
  event_index const* end;
  std::uint64_t const* size;
  MEMREPLAY_HD std::int64_t operator()(std::int64_t lifetime) const {
    bool const is_counted = birth[lifetime] == before_trace && end[lifetime] > before_trace;
    return is_counted ? static_cast<std::int64_t>(size[lifetime]) : 0;
  }
};

/// What an event changes in the bytes held from the driver.
struct reserved_delta {
  event_rows events;
  MEMREPLAY_HD std::int64_t operator()(std::int64_t event) const {
    switch (events.what[event]) {
      case action::segment_alloc:
      case action::segment_map: return static_cast<std::int64_t>(events.size[event]);
      case action::segment_free:
      case action::segment_unmap: return static_cast<std::int64_t>(0 - events.size[event]);
      default: return 0;
    }
  }
};

struct write_reserved_delta {
  reserved_delta change;
  std::int64_t* delta;
  std::int64_t start;
  MEMREPLAY_HD void operator()(std::int64_t event) const {
    delta[event] = add_bytes{}(change(event), event == 0 ? start : 0);
  }
};

struct is_segment_event {
  action const* what;
  MEMREPLAY_HD bool operator()(std::int64_t event) const {
    return what[event] >= action::segment_alloc && what[event] <= action::segment_unmap;
  }
};
static_assert(static_cast<int>(action::segment_unmap) ==
              static_cast<int>(action::segment_alloc) + 3);

/// Some of the events, and the curve that they alone change: one value after each of them.
struct change_rows {
  event_index const* event;
  curve_rows curve;

  /// The value after any event of the trace.
  [[nodiscard]] MEMREPLAY_HD std::int64_t at(event_index position) const {
    std::int64_t first = 0;
    std::int64_t end = curve.count;
    while (first < end) {
      std::int64_t const middle = first + (end - first) / 2;
      if (event[middle] <= position) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return curve.at(first - 1);
  }
};

struct write_change {
  reserved_delta change;
  event_index const* event;
  std::int64_t* delta;
  MEMREPLAY_HD void operator()(std::int64_t row) const { delta[row] = change(event[row]); }
};

struct add_start {
  std::int64_t start;
  std::int64_t* value;
  MEMREPLAY_HD void operator()(std::int64_t row) const {
    value[row] = add_bytes{}(value[row], start);
  }
};

/// A value of a curve and the event after which it holds.
struct moment {
  std::int64_t bytes;
  event_index event;
};

struct moment_of {
  curve_rows curve;
  MEMREPLAY_HD moment operator()(std::int64_t event) const { return {curve.value[event], event}; }
};

/// The same of a part of the curve.
struct moment_in_range {
  curve_rows curve;
  event_index first;
  MEMREPLAY_HD moment operator()(std::int64_t row) const {
    return {curve.value[first + row], first + row};
  }
};

struct moment_of_change {
  change_rows changes;
  MEMREPLAY_HD moment operator()(std::int64_t row) const {
    return {changes.curve.value[row], changes.event[row]};
  }
};

/// The greater value, of equal ones the earlier.
struct greater_then_earlier {
  MEMREPLAY_HD moment operator()(moment left, moment right) const {
    if (left.bytes != right.bytes) return left.bytes > right.bytes ? left : right;
    return left.event <= right.event ? left : right;
  }
};

template <class CurveT>
struct read_value {
  CurveT curve;
  event_index const* position;
  std::int64_t* value;
  MEMREPLAY_HD void operator()(std::int64_t row) const { value[row] = curve.at(position[row]); }
};

template <class CurveT>
[[nodiscard]] std::vector<std::int64_t> read_values(execution const& exec, CurveT const& curve,
                                                    std::vector<event_index> const& positions) {
  auto const count = static_cast<std::int64_t>(positions.size());
  input_column<event_index> const wanted(exec, positions.data(), count);
  buffer<std::int64_t> values(exec, count);
  for_each_row(exec, count, read_value<CurveT>{curve, wanted.data(), values.data()});
  return download(exec, values.data(), count);
}

[[nodiscard]] curve_summary summary_of(std::int64_t start, moment highest, std::int64_t end) {
  curve_summary summary;
  summary.start_bytes = start;
  summary.peak_bytes = highest.bytes;
  summary.peak_event = highest.event;
  summary.end_bytes = end;
  return summary;
}

/// The reserved bytes before event 0, from those at the end and the sum of all changes.
[[nodiscard]] std::int64_t reserved_start(start_rule const& rule, std::int64_t net) {
  if (rule.older != carried_in::include || !rule.has_segments) return 0;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(rule.reserved_end) -
                                   static_cast<std::uint64_t>(net));
}

[[nodiscard]] curve accumulate_reserved(execution const& exec, event_rows const& events,
                                        start_rule const& rule) {
  curve reserved{buffer<std::int64_t>(exec, events.count), 0};
  reserved_delta const change{events};
  reserved.start =
      reserved_start(rule, reduce_rows(exec, events.count, change, std::int64_t{0}, add_bytes{}));
  for_each_row(exec, events.count,
               write_reserved_delta{change, reserved.value.data(), reserved.start});
  prefix_sum(exec, reserved.value.data(), events.count);
  return reserved;
}

}  // namespace

curve accumulate(execution const& exec, event_rows const& events, lifetime_rows const& born,
                 measure which, start_rule const& rule) {
  if (which == measure::reserved) return accumulate_reserved(exec, events, rule);
  event_index const* const end = which == measure::allocated ? born.allocated_end : born.active_end;
  bool const counts_carried_in = rule.older == carried_in::include;
  curve counted{buffer<std::int64_t>(exec, events.count), 0};
  if (counts_carried_in) {
    counted.start = reduce_rows(exec, born.count, carried_in_size{born.birth, end, born.size},
                                std::int64_t{0}, add_bytes{});
  }
  std::int64_t* const delta = counted.value.data();
  for_each_row(exec, events.count, write_births{events, delta, counted.start});
  for_each_row(exec, born.count,
               subtract_end{born.birth, end, born.size, delta, counts_carried_in});
  prefix_sum(exec, delta, events.count);
  return counted;
}

key_values find_key_values(execution const& exec, curve_rows const& bytes,
                           std::vector<event_index> const& positions) {
  moment const highest = reduce_rows(exec, bytes.count, moment_of{bytes},
                                     moment{bytes.start, before_trace}, greater_then_earlier{});
  auto const end = read_values(exec, bytes, {bytes.count - 1}).front();
  return {summary_of(bytes.start, highest, end), read_values(exec, bytes, positions)};
}

key_values find_reserved_key_values(execution const& exec, event_rows const& events,
                                    start_rule const& rule,
                                    std::vector<event_index> const& positions) {
  auto const places = selected_rows(exec, events.count, is_segment_event{events.what});
  std::int64_t const count = places.count();
  buffer<std::int64_t> value(exec, count);
  for_each_row(exec, count, write_change{{events}, places.data(), value.data()});
  prefix_sum(exec, value.data(), count);
  curve_rows net{count, value.data(), 0};
  net.start = reserved_start(rule, read_values(exec, net, {count - 1}).front());
  for_each_row(exec, count, add_start{net.start, value.data()});
  change_rows const changes{places.data(), net};
  moment const highest = reduce_rows(exec, count, moment_of_change{changes},
                                     moment{net.start, before_trace}, greater_then_earlier{});
  auto const last = read_values(exec, net, {count - 1}).front();
  return {summary_of(net.start, highest, last), read_values(exec, changes, positions)};
}

std::vector<range_replay> find_range_peaks(execution const& exec, curve_rows const& bytes,
                                           std::vector<event_range> const& ranges) {
  std::vector<event_index> edges;
  for (event_range const& range : ranges) {
    edges.push_back(range.first - 1);
    edges.push_back(range.is_empty() ? range.first - 1 : range.last);
  }
  std::vector<std::int64_t> const at_edges = read_values(exec, bytes, edges);
  std::vector<range_replay> found;
  for (std::size_t row = 0; row < ranges.size(); ++row) {
    event_range const& range = ranges[row];
    std::int64_t const start = at_edges[2 * row];
    moment const highest =
        reduce_rows(exec, range.last - range.first + 1, moment_in_range{bytes, range.first},
                    moment{start, range.first - 1}, greater_then_earlier{});
    found.push_back({range, start, highest.bytes, highest.event, at_edges[2 * row + 1]});
  }
  return found;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
