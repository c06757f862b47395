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
// An event begins at most one lifetime and ends at most one (an alloc at an address in use does
// both), so two passes over the lifetimes build the deltas without atomics.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <limits>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

struct start_deltas {
  std::int64_t* delta;
  std::int64_t start;
  MEMREPLAY_HD void operator()(std::int64_t event) const { delta[event] = event == 0 ? start : 0; }
};

struct add_birth {
  event_index const* birth;
  std::uint64_t const* size;
  std::int64_t* delta;
  MEMREPLAY_HD void operator()(std::int64_t lifetime) const {
    event_index const event = birth[lifetime];
    if (event == before_trace) return;
    delta[event] = add_bytes{}(delta[event], static_cast<std::int64_t>(size[lifetime]));
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

/// A value of a curve and the event after which it holds.
struct moment {
  std::int64_t bytes;
  event_index event;
};

struct moment_of {
  curve_rows curve;
  MEMREPLAY_HD moment operator()(std::int64_t event) const { return {curve.value[event], event}; }
};

/// The greater value, of equal ones the earlier.
struct greater_then_earlier {
  MEMREPLAY_HD moment operator()(moment left, moment right) const {
    if (left.bytes != right.bytes) return left.bytes > right.bytes ? left : right;
    return left.event <= right.event ? left : right;
  }
};

struct read_value {
  curve_rows curve;
  event_index const* position;
  std::int64_t* value;
  MEMREPLAY_HD void operator()(std::int64_t row) const { value[row] = curve.at(position[row]); }
};

[[nodiscard]] curve accumulate_reserved(execution const& exec, event_rows const& events,
                                        carried_in older, std::int64_t end_bytes,
                                        bool has_segments) {
  curve reserved{buffer<std::int64_t>(exec, events.count), 0};
  reserved_delta const change{events};
  if (older == carried_in::include && has_segments) {
    std::int64_t const net = reduce_rows(exec, events.count, change, std::int64_t{0}, add_bytes{});
    reserved.start = static_cast<std::int64_t>(static_cast<std::uint64_t>(end_bytes) -
                                               static_cast<std::uint64_t>(net));
  }
  for_each_row(exec, events.count,
               write_reserved_delta{change, reserved.value.data(), reserved.start});
  prefix_sum(exec, reserved.value.data(), events.count);
  return reserved;
}

}  // namespace

curve accumulate(execution const& exec, event_rows const& events, lifetime_rows const& born,
                 measure which, carried_in older, std::int64_t reserved_end_bytes,
                 bool has_segments) {
  if (which == measure::reserved) {
    return accumulate_reserved(exec, events, older, reserved_end_bytes, has_segments);
  }
  event_index const* const end = which == measure::allocated ? born.allocated_end : born.active_end;
  curve counted{buffer<std::int64_t>(exec, events.count), 0};
  if (older == carried_in::include) {
    counted.start = reduce_rows(exec, born.count, carried_in_size{born.birth, end, born.size},
                                std::int64_t{0}, add_bytes{});
  }
  std::int64_t* const delta = counted.value.data();
  for_each_row(exec, events.count, start_deltas{delta, counted.start});
  for_each_row(exec, born.count, add_birth{born.birth, born.size, delta});
  for_each_row(exec, born.count,
               subtract_end{born.birth, end, born.size, delta, older == carried_in::include});
  prefix_sum(exec, delta, events.count);
  return counted;
}

curve_summary summarize(execution const& exec, curve_rows const& bytes) {
  moment const before{bytes.start, before_trace};
  moment const highest =
      reduce_rows(exec, bytes.count, moment_of{bytes}, before, greater_then_earlier{});
  curve_summary summary;
  summary.start_bytes = bytes.start;
  summary.peak_bytes = highest.bytes;
  summary.peak_event = highest.event;
  summary.end_bytes = values_at(exec, bytes, {bytes.count - 1}).front();
  return summary;
}

std::vector<std::int64_t> values_at(execution const& exec, curve_rows const& bytes,
                                    std::vector<event_index> const& positions) {
  auto const count = static_cast<std::int64_t>(positions.size());
  input_column<event_index> const wanted(exec, positions.data(), count);
  buffer<std::int64_t> values(exec, count);
  for_each_row(exec, count, read_value{bytes, wanted.data(), values.data()});
  return download(exec, values.data(), count);
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
