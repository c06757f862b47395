// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What happened shortly before a moment of a trace.
#include "report/last_events.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/saturating.hpp"
#include "report/site_rows.hpp"

namespace memreplay::reporting {
namespace {

constexpr event_index events_without_times = 1000;

event_index first_of_window(trace_view const& trace, event_index moment, double seconds) {
  std::optional<double> const end = trace.seconds(moment);
  if (!end) return std::max<event_index>(0, moment + 1 - events_without_times);
  event_index first = moment;
  while (first > 0) {
    std::optional<double> const at = trace.seconds(first - 1);
    if (at && *at < *end - seconds) break;
    --first;
  }
  return first;
}

void add(std::int64_t& count, std::int64_t& bytes, std::uint64_t size) {
  ++count;
  bytes = add_saturated(bytes, to_bytes(size));
}

/// `empty_cache` returns the cache, too, and then nothing has failed.
bool is_empty_cache(snapshot const& input, stack_id stack) {
  if (stack == no_stack || stack == before_trace_stack) return false;
  for (frame_id const id : input.stacks[stack]) {
    std::string_view const name = input.strings[input.frames[to_row(id)].function];
    if (name.find("empty_cache") != name.npos || name.find("emptyCache") != name.npos) return true;
  }
  return false;
}

/// The last segments returned before the moment, with no allocation of any kind behind them.
void find_burst(snapshot const& input, trace_view const& trace, event_index moment,
                last_events& made) {
  for (event_index event = moment; event >= 0; --event) {
    switch (trace.what(event)) {
      case action::alloc:
      case action::segment_alloc:
      case action::segment_map: return;
      case action::segment_free:
      case action::segment_unmap:
        if (is_empty_cache(input, trace.stack(event))) return;
        add(made.burst_frees, made.burst_bytes, trace.size(event));
        break;
      default: break;
    }
  }
}

}  // namespace

last_events find_last_events(snapshot const& input, trace_view const& trace, event_index moment,
                             double seconds, site_table& sites, std::int64_t limit) {
  struct live_block {
    stack_id stack;
    std::int64_t bytes;
  };
  last_events made;
  made.first_event = first_of_window(trace, moment, seconds);
  std::optional<double> const begin = trace.seconds(made.first_event);
  std::optional<double> const end = trace.seconds(moment);
  if (begin && end) made.seconds = *end - *begin;

  std::unordered_map<std::uint64_t, live_block> live;
  for (event_index event = made.first_event; event <= moment; ++event) {
    std::uint64_t const size = trace.size(event);
    switch (trace.what(event)) {
      case action::alloc:
        add(made.allocs, made.alloc_bytes, size);
        live[trace.address(event)] = {trace.stack(event), to_bytes(size)};
        break;
      case action::free_requested:
        add(made.frees, made.free_bytes, size);
        live.erase(trace.address(event));
        break;
      case action::free_completed: live.erase(trace.address(event)); break;
      case action::segment_alloc:
      case action::segment_map: add(made.segment_allocs, made.segment_alloc_bytes, size); break;
      case action::segment_free:
      case action::segment_unmap: add(made.segment_frees, made.segment_free_bytes, size); break;
      default: break;
    }
  }
  made.net_bytes = subtract_saturated(made.alloc_bytes, made.free_bytes);
  find_burst(input, trace, moment, made);

  std::map<stack_id, stack_total> by_stack;
  std::int64_t sum = 0;
  for (auto const& [address, one] : live) {
    stack_total& total = by_stack[one.stack];
    total.stack = one.stack;
    total.bytes = add_saturated(total.bytes, one.bytes);
    ++total.count;
    sum = add_saturated(sum, one.bytes);
  }
  std::vector<stack_total> totals;
  for (auto const& [stack, total] : by_stack) totals.push_back(total);
  site_rows table = make_site_rows(sites, totals, sum, limit);
  made.grown = std::move(table.rows);
  made.grown_rest = table.rest;
  return made;
}

}  // namespace memreplay::reporting
