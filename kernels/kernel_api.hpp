// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The seam between the engine and its back ends: plain views in, plain results out, one table of
// functions a back end. No Thrust type crosses it; everything is an integer, so every back end
// gives the same bytes.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/ids.hpp>
#include <memreplay/plan.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::kernels {

/// One device's trace. Host pointers to `count` rows each, in list order; `time_us` may be null.
/// `first_row` is event 0's place in the columns of the whole file, of which a `stage` holds a
/// copy. `size` holds the bytes that the wanted size basis gives to the lifetime which an alloc, or
/// an unmatched free, stands for.
struct event_view {
  std::int64_t count = 0;
  action const* what = nullptr;
  std::uint64_t const* address = nullptr;
  std::uint64_t const* size = nullptr;
  stack_id const* stack = nullptr;
  std::int64_t const* time_us = nullptr;
  std::int64_t first_row = 0;
};

/// The blocks at the end (state not inactive), ascending address, none twice, `size` in the wanted
/// basis.
struct block_view {
  std::int64_t count = 0;
  std::uint64_t const* address = nullptr;
  std::uint64_t const* size = nullptr;
  stack_id const* stack = nullptr;
  std::uint8_t const* is_pending = nullptr;  ///< 1 for active_pending_free
};

struct kernel_input {
  event_view events;
  block_view blocks;
  bool has_segments = false;            ///< false: `blocks` says nothing about the end state
  std::int64_t reserved_end_bytes = 0;  ///< sum of the device's segments
};

/// Lifetimes in a total order: ascending (address, first event). Structure of arrays, same length.
struct host_lifetimes {
  std::vector<event_index> birth;  ///< alloc event, `before_trace` when carried in
  std::vector<event_index>
      allocated_end;  ///< first free; `before_trace` when freed before the trace; `never`
  std::vector<event_index> active_end;  ///< completion; `never`
  std::vector<std::uint64_t> size;
  std::vector<stack_id> stack;  ///< of the alloc; carried in: of its block, else of its free
};

/// The lifetimes open (active) after one event, ascending by address.
struct live_lifetimes {
  event_index event = before_trace;
  std::vector<std::uint64_t> address;
  std::vector<event_index> birth;          ///< as in `host_lifetimes`
  std::vector<event_index> allocated_end;  ///< <= `event`: a freed block that awaits completion
  std::vector<event_index> active_end;
  std::vector<stack_id> stack;
};

/// Everything the device computes for one trace.
struct kernel_result {
  std::int64_t action_counts[action_count] = {};
  curve_summary measured, allocated, active, reserved;
  replay_counts counts;
  std::vector<peak> peaks;
  std::vector<timeline_bucket> timeline;
  curve_timelines curves;
  std::vector<large_lifetime> largest;
  std::vector<stack_total> throughput;
  live_history history;
  std::vector<range_replay> ranges;
  std::vector<live_lifetimes> maps;  ///< of the plan's `maps`, then of its `peak_maps`
};

/// A device made ready before the run, and the event rows that were sent to it while the file was
/// read. Each back end knows what is behind it.
struct stage;

/// A compiled back end. `run` is the pipeline; the rest are its steps, each on host data, for tests
/// and benchmarks.
struct backend {
  char const* name;
  /// `staged` may be null; if not, all rows of the file are there, with the sizes as recorded.
  kernel_result (*run)(kernel_input const&, replay_plan const&, stage* staged);

  /// Null, all three, where steps read the host's columns themselves. Opening takes long; the rest
  /// waits for nothing but a free buffer. Any thread may call, one at a time.
  stage* (*open_stage)();
  /// Rows [0, rows.count) of the file are final; `are_all` says that there will be no more.
  void (*stage_rows)(stage&, event_view const& rows, bool are_all);
  void (*close_stage)(stage*) noexcept;

  host_lifetimes (*pair)(kernel_input const&, replay_counts&);
  /// The curve after each event (`events.count` values); `start` receives the value before event 0.
  std::vector<std::int64_t> (*accumulate)(kernel_input const&, replay_plan const&,
                                          std::int64_t& start);
  /// Selected peaks of a given curve: (event, bytes) only.
  std::vector<peak> (*find_peaks)(std::vector<std::int64_t> const& curve, std::int64_t start,
                                  std::int64_t const* time_us, replay_plan const&);
  /// The lifetimes open after `event`, summed by stack.
  std::vector<stack_total> (*live_by_stack)(host_lifetimes const&, event_index event,
                                            replay_plan const&);
  /// The plan's number of lifetimes that fill the greatest area, in a trace of `events`.
  std::vector<large_lifetime> (*select_largest)(host_lifetimes const&, std::int64_t events,
                                                replay_plan const&);
  std::vector<timeline_bucket> (*downsample)(std::vector<std::int64_t> const& curve,
                                             std::int64_t width);
  /// Stable sort of row numbers by key: the primitive under `pair` and `live_by_stack`.
  std::vector<std::int64_t> (*sort_rows)(std::vector<std::uint64_t> const& keys);
};

/// Thrust on oneTBB: the product's host back end.
[[nodiscard]] backend const& host_backend() noexcept;
/// Thrust's serial system: the tests' second opinion, linked into tests and benchmarks only.
[[nodiscard]] backend const& serial_backend() noexcept;
/// Thrust and CUB on CUDA; exists only in builds with a CUDA compiler.
[[nodiscard]] backend const& cuda_backend() noexcept;

}  // namespace memreplay::kernels
