// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Replay of one device's trace: the curves' key values, the peaks, and who is live at each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <memreplay/audit.hpp>
#include <memreplay/ids.hpp>
#include <memreplay/plan.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay {

/// Bytes at the interesting moments of one curve. `peak_event` is the first event after which the
/// maximum holds, `before_trace` when it stands before event 0.
struct curve_summary {
  std::int64_t start_bytes = 0;
  std::int64_t peak_bytes = 0;
  event_index peak_event = before_trace;
  std::int64_t end_bytes = 0;
};

/// A value known exactly (low == high), or between two bounds for a reason.
struct exactness {
  bool exact = true;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::string reason;  ///< empty when exact
};

/// Live bytes and lifetimes of one stack.
struct stack_total {
  stack_id stack = no_stack;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  friend bool operator==(stack_total const&, stack_total const&) = default;
};

/// A selected local maximum of the measured curve.
struct peak {
  event_index event =
      before_trace;  ///< last event of the plateau; `before_trace` when it ends before 0
  std::int64_t bytes = 0;
  std::int64_t carried_in_bytes = 0;  ///< part of `bytes` that is older than the trace
  std::int64_t allocated_bytes = 0;   ///< the other measures at the same event, same size basis
  std::int64_t active_bytes = 0;
  std::int64_t reserved_bytes = 0;
  /// The live set by stack: bytes descending, then stack ascending; sums to `bytes`. Empty for
  /// `reserved`.
  std::vector<stack_total> holders;
};

/// The curves after one event.
struct moment_values {
  event_index event = before_trace;
  std::int64_t bytes = 0;  ///< of the measured curve
  std::int64_t allocated_bytes = 0, active_bytes = 0, reserved_bytes = 0;
  friend bool operator==(moment_values const&, moment_values const&) = default;
};

/// How much the live bytes of one stack grow (or shrink) from one moment to the next.
struct live_change {
  std::int64_t moment = 0;  ///< row of `live_history::moments` at which it shows
  stack_id stack = no_stack;
  bool is_carried_in = false;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  friend bool operator==(live_change const&, live_change const&) = default;
};

/// The live set at several moments, as its changes: those of the first moment are the whole set.
/// Moments ascending, none twice; changes ascending by (moment, stack, carried in), none of them
/// without effect. Empty changes for `reserved`.
struct live_history {
  std::vector<moment_values> moments;
  std::vector<live_change> changes;

  /// Row of the moment after `event`; it must be one of the moments.
  [[nodiscard]] std::size_t row_of(event_index event) const;
};

/// What one asked range comes to. The peak is the greatest value of the measured curve before the
/// range and after each of its events; `peak_event` is where it first holds, `first - 1` when that
/// is before the range. All three moments are in the history.
struct range_replay {
  event_range events;
  std::int64_t start_bytes = 0;  ///< before its first event
  std::int64_t peak_bytes = 0;
  event_index peak_event = before_trace;
  std::int64_t end_bytes = 0;  ///< after its last event
  friend bool operator==(range_replay const&, range_replay const&) = default;
};

/// What the device's memory looked like after an event, in the shape that a snapshot has for its
/// end: segments by address, and blocks that fill each of them without a gap (`inactive` ones are
/// holes).
struct address_map {
  event_index event = before_trace;
  std::vector<segment> segments;
  std::vector<block> blocks;
  bool exact = true;   ///< as far as anyone can tell, this is what the allocator held
  std::string reason;  ///< why not, one phrase; empty when exact
  /// Live bytes for which no segment is known, or which another block covers: they are in no block.
  std::int64_t unplaced_bytes = 0;
};

/// Least and greatest value of the curve within one bucket of events.
struct timeline_bucket {
  event_index first_event = 0;
  std::int64_t low_bytes = 0;
  std::int64_t high_bytes = 0;
  friend bool operator==(timeline_bucket const&, timeline_bucket const&) = default;
};

/// The curves of all measures in the same buckets; empty unless asked for.
struct curve_timelines {
  std::vector<timeline_bucket> allocated, active, reserved;
};

/// A lifetime of the measured curve, which counts it after the events [birth, end).
struct large_lifetime {
  event_index birth = before_trace;
  event_index end = never;
  std::int64_t bytes = 0;
  stack_id stack = no_stack;
  friend bool operator==(large_lifetime const&, large_lifetime const&) = default;
};

/// How the trace and the end state in `segments` fit together; all zero in a perfect file,
/// `carried_in_*` and `unmatched_frees` apart, which are normal when recording began late or the
/// ring buffer wrapped.
struct replay_counts {
  std::int64_t lifetimes = 0;        ///< born in the trace
  std::int64_t unmatched_frees = 0;  ///< first frees of addresses the trace did not allocate
  std::int64_t unmatched_free_bytes = 0;
  std::int64_t unmatched_completed_only =
      0;  ///< of those, a completion whose request is not in the trace
  std::int64_t unmatched_completed_only_bytes = 0;
  std::int64_t never_freed = 0;  ///< carried in and still allocated at the end
  std::int64_t never_freed_bytes = 0;
  std::int64_t pending_carried_in = 0;  ///< carried in, freed before the trace, pending at the end
  std::int64_t pending_carried_in_bytes = 0;
  std::int64_t double_allocs = 0;  ///< alloc at an open address: the older lifetime ends there
  std::int64_t double_free_requests = 0;
  std::int64_t size_mismatches = 0;       ///< free whose size differs from its alloc's
  std::int64_t pending_at_end = 0;        ///< free_requested without free_completed
  std::int64_t live_not_in_segments = 0;  ///< open at the end, no such block in `segments`
  std::int64_t live_not_in_segments_bytes = 0;
  std::int64_t freed_but_in_segments = 0;  ///< closed at the end, but `segments` has it active
  std::int64_t freed_but_in_segments_bytes = 0;
  std::int64_t end_size_mismatches = 0;  ///< open at the end, block with another requested size
  friend bool operator==(replay_counts const&, replay_counts const&) = default;
};

/// The replay of one device's trace.
struct device_replay {
  std::int32_t device = 0;
  std::int64_t events = 0;
  std::int64_t action_counts[action_count] = {};
  curve_summary measured;   ///< of the plan's measure and size basis
  curve_summary allocated;  ///< same size basis
  curve_summary active;
  curve_summary reserved;
  /// The measured peak's exactness, and that of `torch.cuda.max_memory_allocated` over the trace's
  /// window.
  exactness measured_exactness;
  exactness max_memory_allocated;
  replay_counts counts;
  std::vector<peak> peaks;
  std::vector<timeline_bucket> timeline;
  curve_timelines curves;
  /// Bytes times events descending, then birth ascending, then by address. Empty for `reserved`.
  std::vector<large_lifetime> largest;
  std::vector<stack_total> throughput;  ///< bytes allocated in the trace by stack, when asked for
  live_history history;                 ///< of the plan's moments, and those of its ranges
  std::vector<range_replay> ranges;     ///< in the plan's order
  std::vector<address_map> maps;        ///< in the plan's order, then those of peaks
  audit defects;
};

struct replay_result {
  std::string backend;                 ///< "host" or "cuda"
  std::string backend_reason;          ///< why this one, one sentence
  std::vector<device_replay> devices;  ///< in the order asked for
};

/// A replay that gets ready while its snapshot is still being read: another thread chooses the back
/// end and opens its device, and event rows go there as they come. One snapshot each.
class replayer {
 public:
  explicit replayer(backend_choice wanted);
  replayer(replayer const&) = delete;
  replayer& operator=(replayer const&) = delete;
  ~replayer();

  /// For `read_options::on_rows`. Never waits for the device to be opened, and throws nothing of
  /// what went wrong there: `replay` does both.
  void take_rows(event_columns const& events, std::size_t rows);

  /// As `replay` below, of the snapshot that the rows are from. `plan.backend` is not looked at.
  [[nodiscard]] replay_result replay(snapshot const& input,
                                     std::vector<std::int32_t> const& devices,
                                     replay_plan const& plan);

 private:
  struct opened_backend;
  std::shared_future<std::shared_ptr<opened_backend>> opening_;
};

/// The map of the end: the file's own segments.
[[nodiscard]] address_map end_map(snapshot const& input, std::int32_t device);

/// Replays the traces of the given device ordinals. Throws `error` (no_device) when CUDA was asked
/// for and cannot run, (bad_request) for an ordinal without trace and without segments.
[[nodiscard]] replay_result replay(snapshot const& input, std::vector<std::int32_t> const& devices,
                                   replay_plan const& plan);

}  // namespace memreplay
