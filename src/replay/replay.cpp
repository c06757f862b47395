// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Snapshot and plan in, replay out: shapes each device's columns, runs the back end, checks what it
// found against the end state, and says how exact the result is.
#include <memreplay/replay.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <memreplay/error.hpp>

#include "base/expects.hpp"
#include "replay/address_map.hpp"
#include "replay/backend.hpp"
#include "replay/block_sizes.hpp"
#include "replay/device_input.hpp"
#include "replay/replay_audit.hpp"

namespace memreplay {
namespace {

constexpr char const* no_end_state_reason =
    "the file has no segments, so memory that is older may be missing";
constexpr char const* mismatch_reason = "the trace and the segments disagree about the start";

exactness exactly(std::int64_t bytes) { return {true, bytes, bytes, {}}; }

exactness between(std::int64_t one, std::int64_t other, std::string reason) {
  return {false, std::min(one, other), std::max(one, other), std::move(reason)};
}

std::int64_t shifted(std::int64_t bytes, std::int64_t from, std::int64_t to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(bytes) +
                                   static_cast<std::uint64_t>(to) -
                                   static_cast<std::uint64_t>(from));
}

/// Requested bytes are exact where the start value is.
exactness exactness_of_requested(std::int64_t peak_bytes, device_input const& input,
                                 start_values const& start) {
  if (!input.has_end_state) {
    if (input.events == 0) return exactly(peak_bytes);
    return between(peak_bytes, peak_bytes, no_end_state_reason);
  }
  if (start.agree()) return exactly(peak_bytes);
  return between(peak_bytes, shifted(peak_bytes, start.from_lifetimes, start.from_end_state),
                 mismatch_reason);
}

/// Block bytes are as exact as the block sizes. `allocated` is bounded by the model that found
/// them; for the other measure its width is taken over.
exactness exactness_of_blocks(std::int64_t peak_bytes, device_replay const& replayed,
                              block_sizes const& sizes, replay_plan const& plan) {
  exactness const& known = sizes.peak_allocated;
  std::string const reason = known.reason.empty() ? sizes.reason : known.reason;
  if (plan.what == measure::allocated && plan.older == carried_in::include) {
    if (known.exact && known.low == peak_bytes) return exactly(peak_bytes);
    return {false, std::min(known.low, peak_bytes), std::max(known.high, peak_bytes), reason};
  }
  if (sizes.exact) return exactly(peak_bytes);
  std::int64_t const counted = replayed.allocated.peak_bytes;
  return {false, std::min(peak_bytes, shifted(peak_bytes, counted, known.low)),
          std::max(peak_bytes, shifted(peak_bytes, counted, known.high)), reason};
}

exactness exactness_of_reserved(device_replay const& replayed, device_input const& input) {
  std::int64_t const peak_bytes = replayed.measured.peak_bytes;
  if (!input.has_end_state && input.events > 0)
    return between(peak_bytes, peak_bytes, no_end_state_reason);
  std::int64_t const start = replayed.reserved.start_bytes;
  if (start < 0) return between(peak_bytes, shifted(peak_bytes, start, 0), mismatch_reason);
  return exactly(peak_bytes);
}

/// The identity "start value = end state minus net change", in requested bytes, per curve. Where it
/// cannot be asked (other sizes, carried-in memory left out, no end state) the two values are
/// equal.
start_values check_curve(curve_summary const& curve, std::int64_t end_state_bytes,
                         device_input const& input, replay_plan const& plan) {
  bool const can_ask = plan.sizes == size_basis::requested && plan.older == carried_in::include &&
                       input.has_end_state;
  if (!can_ask) return {curve.start_bytes, curve.start_bytes};
  return check_start(curve, end_state_bytes);
}

/// A plan is made for one trace: moments outside of it are a mistake of the caller.
void expect_within(replay_plan const& plan, std::int64_t events) {
  auto const is_moment = [events](event_index event) {
    return event >= before_trace && event < events;
  };
  MEMREPLAY_EXPECTS(std::all_of(plan.moments.begin(), plan.moments.end(), is_moment));
  MEMREPLAY_EXPECTS(std::all_of(plan.maps.begin(), plan.maps.end(), is_moment));
  MEMREPLAY_EXPECTS(
      std::all_of(plan.ranges.begin(), plan.ranges.end(), [&](event_range const& range) {
        return range.first >= 0 && range.first <= events && range.last < events &&
               range.last >= range.first - 1;
      }));
}

/// Where the file itself tells what lay where, nothing is derived.
std::vector<address_map> make_maps(snapshot const& input, std::int32_t device,
                                   std::vector<kernels::live_lifetimes> const& live,
                                   block_sizes const& sizes) {
  if (live.empty()) return {};
  trace_range const range = trace_of(input, device);
  std::vector<address_map> maps = make_address_maps(input, device, live, sizes);
  if (!knows_end_state(input, range)) return maps;
  for (address_map& map : maps) {
    if (map.event == range.count - 1) map = end_map(input, device);
  }
  return maps;
}

device_replay replay_device(snapshot const& input, std::int32_t device, replay_plan const& plan,
                            kernels::backend const& engine, kernels::stage* staged) {
  device_replay made;
  made.device = device;
  made.events = trace_of(input, device).count;
  expect_within(plan, made.events);

  // Block sizes are one walk over the trace, so they go beside the steps where they can: only
  // `--sizes block` has to wait for them. Neither reads what the other writes.
  bool const wants_blocks = plan.sizes == size_basis::block;
  block_sizes sizes;
  tbb::task_group beside;
  if (made.events > 0) beside.run([&] { sizes = find_block_sizes(input, device); });
  if (wants_blocks) beside.wait();
  std::span<std::uint64_t const> event_size;  // empty: the recorded sizes serve
  if (wants_blocks) event_size = sizes.size;
  MEMREPLAY_EXPECTS(event_size.empty() ||
                    static_cast<std::int64_t>(event_size.size()) == made.events);
  device_input const columns = make_device_input(input, device, plan.sizes, event_size);
  kernels::kernel_result found;
  // Isolated: a step that waits for its own tasks shall not begin with the block sizes meanwhile.
  tbb::this_task_arena::isolate([&] { found = engine.run(columns.view(), plan, staged); });
  beside.wait();
  std::copy(std::begin(found.action_counts), std::end(found.action_counts),
            std::begin(made.action_counts));
  made.measured = found.measured;
  made.allocated = found.allocated;
  made.active = found.active;
  made.reserved = found.reserved;
  made.counts = found.counts;
  made.peaks = std::move(found.peaks);
  made.timeline = std::move(found.timeline);
  made.curves = std::move(found.curves);
  made.largest = std::move(found.largest);
  made.throughput = std::move(found.throughput);
  made.history = std::move(found.history);
  made.ranges = std::move(found.ranges);
  made.maps = make_maps(input, device, found.maps, sizes);

  start_values const allocated = check_curve(made.allocated, columns.end.allocated, columns, plan);
  start_values const active = check_curve(made.active, columns.end.active, columns, plan);
  add_input_rows(columns, made.defects);
  add_start_row("allocated", allocated, made.defects);
  // Without completions nobody can tell how long freed memory stayed active.
  bool const has_completions = made.action_counts[static_cast<int>(action::free_completed)] > 0;
  bool const has_requests = made.action_counts[static_cast<int>(action::free_requested)] > 0;
  if (has_completions || !has_requests) add_start_row("active", active, made.defects);
  add_reserved_row(made.reserved, made.defects);
  add_count_rows(made.counts, made.defects);
  made.defects.insert(made.defects.end(), sizes.defects.begin(), sizes.defects.end());

  made.max_memory_allocated =
      made.events > 0 ? sizes.peak_allocated : exactly(columns.end.allocated_blocks);
  std::int64_t const peak_bytes = made.measured.peak_bytes;
  if (plan.what == measure::reserved) {
    made.measured_exactness = exactness_of_reserved(made, columns);
  } else if (wants_blocks && made.events > 0) {
    made.measured_exactness = exactness_of_blocks(peak_bytes, made, sizes, plan);
  } else {
    made.measured_exactness = exactness_of_requested(
        peak_bytes, columns, plan.what == measure::allocated ? allocated : active);
  }
  return made;
}

}  // namespace

std::size_t live_history::row_of(event_index event) const {
  auto const found = std::lower_bound(
      moments.begin(), moments.end(), event,
      [](moment_values const& row, event_index wanted) { return row.event < wanted; });
  MEMREPLAY_EXPECTS(found != moments.end() && found->event == event);
  return static_cast<std::size_t>(found - moments.begin());
}

struct replayer::opened_backend {
  explicit opened_backend(backend_choice wanted) : chosen(choose_backend(wanted)) {
    if (chosen.engine->open_stage != nullptr) staged = chosen.engine->open_stage();
  }
  opened_backend(opened_backend const&) = delete;
  opened_backend& operator=(opened_backend const&) = delete;
  ~opened_backend() {
    if (staged != nullptr) chosen.engine->close_stage(staged);
  }

  void take_rows(event_columns const& events, std::size_t rows, bool are_all) {
    if (staged == nullptr) return;
    kernels::event_view view;
    view.count = static_cast<std::int64_t>(rows);
    view.what = events.what.data();
    view.address = events.address.data();
    view.size = events.size.data();
    view.stack = events.stack.data();
    chosen.engine->stage_rows(*staged, view, are_all);
  }

  chosen_backend chosen;
  kernels::stage* staged = nullptr;
};

// The host's back end is there at once.
replayer::replayer(backend_choice wanted)
    : opening_(
          std::async(wanted == backend_choice::host ? std::launch::deferred : std::launch::async,
                     [wanted] { return std::make_shared<opened_backend>(wanted); })
              .share()) {}

replayer::~replayer() = default;

void replayer::take_rows(event_columns const& events, std::size_t rows) {
  if (opening_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  std::shared_ptr<opened_backend> opened;
  try {
    opened = opening_.get();
  } catch (...) {
    return;  // kept for `replay`
  }
  opened->take_rows(events, rows, false);
}

replay_result replayer::replay(snapshot const& input, std::vector<std::int32_t> const& devices,
                               replay_plan const& plan) {
  for (std::int32_t const device : devices) {
    if (has_device(input, device)) continue;
    throw error(error_code::bad_request,
                "the file says nothing about device " + std::to_string(device),
                "memreplay info lists the devices");
  }
  opened_backend& opened = *opening_.get();
  opened.take_rows(input.events, input.events.size_rows(), true);
  replay_result result;
  result.backend = opened.chosen.engine->name;
  result.backend_reason = opened.chosen.reason;
  for (std::int32_t const device : devices) {
    result.devices.push_back(
        replay_device(input, device, plan, *opened.chosen.engine, opened.staged));
  }
  return result;
}

replay_result replay(snapshot const& input, std::vector<std::int32_t> const& devices,
                     replay_plan const& plan) {
  return replayer(plan.backend).replay(input, devices, plan);
}

}  // namespace memreplay
