// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One loop over the events, one map from addresses to what happened there.
#include "naive_replay.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace memreplay::test {
namespace {

using bytes = std::uint64_t;  // sums wrap around, as the kernels' do

struct lifetime {
  event_index birth = before_trace;
  event_index allocated_end = never;
  event_index active_end = never;
  std::uint64_t size = 0;
  stack_id stack = no_stack;
};

enum class phase { none, live, pending, requested_and_closed };

struct place {
  std::vector<lifetime> lifetimes;
  phase now = phase::none;
  bool touched = false;  ///< by an event
};

bool says(kernels::kernel_input const& input, action what) {
  return std::find(input.events.what, input.events.what + input.events.count, what) !=
         input.events.what + input.events.count;
}

// No free_requested at all, yet a free_completed releases a block that the trace allocated.
bool skips_requests(kernels::kernel_input const& input) {
  if (says(input, action::free_requested)) return false;
  std::set<std::uint64_t> live;
  for (std::int64_t e = 0; e < input.events.count; ++e) {
    if (input.events.what[e] == action::alloc) live.insert(input.events.address[e]);
    if (input.events.what[e] == action::free_completed && live.erase(input.events.address[e]) > 0)
      return true;
  }
  return false;
}

stack_id or_before_trace(stack_id stack) { return stack == no_stack ? before_trace_stack : stack; }

std::int64_t as_signed(bytes value) { return static_cast<std::int64_t>(value); }

void add_to(std::int64_t& sum, bytes value) { sum = as_signed(static_cast<bytes>(sum) + value); }

event_index end_of(kernels::host_lifetimes const& rows, std::size_t row, measure which) {
  return which == measure::allocated ? rows.allocated_end[row] : rows.active_end[row];
}

void order(std::vector<stack_total>& totals) {
  std::sort(totals.begin(), totals.end(), [](auto const& a, auto const& b) {
    return a.bytes > b.bytes || (a.bytes == b.bytes && to_row(a.stack) < to_row(b.stack));
  });
}

}  // namespace

naive_lifetimes naive_pair(kernels::kernel_input const& input, bool compare_sizes) {
  auto const& events = input.events;
  auto const& blocks = input.blocks;
  bool const no_completions = !says(input, action::free_completed);
  bool const no_requests = skips_requests(input);
  replay_counts counts;
  std::map<std::uint64_t, place> places;

  for (event_index e = 0; e < events.count; ++e) {
    action const what = events.what[e];
    if (what != action::alloc && what != action::free_requested && what != action::free_completed)
      continue;
    place& here = places[events.address[e]];
    here.touched = true;
    bool const is_open = here.now == phase::live || here.now == phase::pending;
    if (what == action::alloc) {
      if (is_open) {
        ++counts.double_allocs;
        lifetime& old = here.lifetimes.back();
        if (here.now == phase::live) old.allocated_end = e;
        old.active_end = e;
      }
      here.lifetimes.push_back({e, never, never, events.size[e], events.stack[e]});
      here.now = phase::live;
      ++counts.lifetimes;
      continue;
    }
    bool const is_known =
        is_open || (here.now == phase::requested_and_closed && what == action::free_requested);
    if (!is_known) {
      ++counts.unmatched_frees;
      add_to(counts.unmatched_free_bytes, events.size[e]);
      here.lifetimes.push_back(
          {before_trace, never, never, events.size[e], or_before_trace(events.stack[e])});
    } else if (compare_sizes && events.size[e] != here.lifetimes.back().size) {
      ++counts.size_mismatches;
    }
    lifetime& one = here.lifetimes.back();
    if (what == action::free_requested) {
      if (is_known && here.now != phase::live) {
        ++counts.double_free_requests;
        continue;
      }
      one.allocated_end = e;
      here.now = phase::pending;
      if (no_completions) {
        one.active_end = e;
        here.now = phase::requested_and_closed;
      }
    } else {
      if (!is_known) {
        ++counts.unmatched_completed_only;
        add_to(counts.unmatched_completed_only_bytes, events.size[e]);
        one.allocated_end = no_requests ? e : before_trace;
      } else if (here.now == phase::live) {
        one.allocated_end = e;
      }
      one.active_end = e;
      here.now = phase::none;
    }
  }

  std::set<std::uint64_t> in_segments;
  for (std::int64_t b = 0; b < blocks.count; ++b) {
    in_segments.insert(blocks.address[b]);
    bool const is_pending = blocks.is_pending[b] != 0;
    place& here = places[blocks.address[b]];
    if (!here.touched) {
      here.lifetimes.push_back({before_trace, is_pending ? before_trace : never, never,
                                blocks.size[b], or_before_trace(blocks.stack[b])});
      ++(is_pending ? counts.pending_carried_in : counts.never_freed);
      add_to(is_pending ? counts.pending_carried_in_bytes : counts.never_freed_bytes,
             blocks.size[b]);
    } else if (here.now == phase::live || here.now == phase::pending) {
      if (compare_sizes && blocks.size[b] != here.lifetimes.back().size)
        ++counts.end_size_mismatches;
    } else if (!(no_completions && is_pending)) {
      ++counts.freed_but_in_segments;
      add_to(counts.freed_but_in_segments_bytes, blocks.size[b]);
    }
  }

  naive_lifetimes made;
  for (auto const& [address, here] : places) {
    if (here.now == phase::pending) ++counts.pending_at_end;
    bool const is_open = here.touched && (here.now == phase::live || here.now == phase::pending);
    if (is_open && input.has_segments && in_segments.count(address) == 0) {
      ++counts.live_not_in_segments;
      add_to(counts.live_not_in_segments_bytes, here.lifetimes.back().size);
    }
    for (lifetime const& one : here.lifetimes) {
      made.rows.birth.push_back(one.birth);
      made.rows.allocated_end.push_back(one.allocated_end);
      made.rows.active_end.push_back(one.active_end);
      made.rows.size.push_back(one.size);
      made.rows.stack.push_back(one.stack);
      made.address.push_back(address);
    }
  }
  made.counts = counts;
  return made;
}

naive_curve naive_accumulate(kernels::kernel_input const& input, measure which, carried_in older) {
  naive_curve made;
  auto const count = static_cast<std::size_t>(input.events.count);
  std::vector<bytes> delta(count, 0);
  bytes start = 0;
  if (which == measure::reserved) {
    bytes net = 0;
    for (std::size_t e = 0; e < count; ++e) {
      action const what = input.events.what[e];
      if (what == action::segment_alloc || what == action::segment_map)
        delta[e] = input.events.size[e];
      if (what == action::segment_free || what == action::segment_unmap)
        delta[e] = 0 - input.events.size[e];
      net += delta[e];
    }
    if (input.has_segments && older == carried_in::include)
      start = static_cast<bytes>(input.reserved_end_bytes) - net;
  } else {
    auto const rows = naive_pair(input, true).rows;
    for (std::size_t row = 0; row < rows.birth.size(); ++row) {
      event_index const end = end_of(rows, row, which);
      if (rows.birth[row] == before_trace) {
        if (older == carried_in::ignore || end == before_trace) continue;
        start += rows.size[row];
      } else {
        delta[static_cast<std::size_t>(rows.birth[row])] += rows.size[row];
      }
      if (end != never) delta[static_cast<std::size_t>(end)] -= rows.size[row];
    }
  }
  made.start = as_signed(start);
  for (bytes const change : delta) made.after.push_back(as_signed(start += change));
  return made;
}

curve_summary naive_summary(naive_curve const& curve) {
  curve_summary made{curve.start, curve.start, before_trace, curve.start};
  for (std::size_t e = 0; e < curve.after.size(); ++e) {
    if (curve.after[e] > made.peak_bytes) {
      made.peak_bytes = curve.after[e];
      made.peak_event = static_cast<event_index>(e);
    }
    made.end_bytes = curve.after[e];
  }
  return made;
}

std::vector<peak> naive_peaks(naive_curve const& curve, std::int64_t const* time_us,
                              replay_plan const& plan) {
  // Position 0 stands for "before event 0".
  std::vector<std::int64_t> value{curve.start};
  value.insert(value.end(), curve.after.begin(), curve.after.end());
  struct candidate {
    std::int64_t bytes;
    event_index event;
  };
  std::vector<candidate> candidates;
  for (std::size_t first = 0; first < value.size();) {
    std::size_t last = first;
    while (last + 1 < value.size() && value[last + 1] == value[first]) ++last;
    bool const rises = first == 0 || value[first - 1] < value[first];
    bool const falls = last + 1 == value.size() || value[last + 1] < value[last];
    if (rises && falls && value[last] > 0)
      candidates.push_back({value[last], static_cast<event_index>(last) - 1});
    first = last + 1;
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](auto a, auto b) { return a.bytes > b.bytes; });

  auto const time_of = [&](event_index event) {
    return static_cast<__int128>(time_us[event < 0 ? 0 : event]);
  };
  bool const has_times = time_us != nullptr && !curve.after.empty() && plan.min_separation_us > 0;
  std::vector<peak> peaks;
  for (candidate const& one : candidates) {
    if (static_cast<std::int64_t>(peaks.size()) >= plan.peak_count) break;
    bool const is_apart = std::all_of(peaks.begin(), peaks.end(), [&](peak const& chosen) {
      __int128 const level = chosen.bytes;
      if ((level - one.bytes) * 1'000'000 <= level * plan.dedup_ppm) return false;
      if (!has_times) return true;
      __int128 const gap = time_of(one.event) - time_of(chosen.event);
      return (gap < 0 ? -gap : gap) >= plan.min_separation_us;
    });
    if (!is_apart) continue;
    peak made;
    made.event = one.event;
    made.bytes = one.bytes;
    peaks.push_back(made);
  }
  return peaks;
}

std::vector<stack_total> naive_live(kernels::host_lifetimes const& rows, event_index event,
                                    measure which, carried_in older) {
  std::map<std::uint32_t, stack_total> by_stack;
  for (std::size_t row = 0; row < rows.birth.size() && which != measure::reserved; ++row) {
    if (rows.birth[row] == before_trace && older == carried_in::ignore) continue;
    if (rows.birth[row] > event || end_of(rows, row, which) <= event) continue;
    stack_total& total = by_stack[to_row(rows.stack[row])];
    total.stack = rows.stack[row];
    add_to(total.bytes, rows.size[row]);
    ++total.count;
  }
  std::vector<stack_total> totals;
  for (auto const& [stack, total] : by_stack) totals.push_back(total);
  order(totals);
  return totals;
}

std::vector<timeline_bucket> naive_downsample(naive_curve const& curve, std::int64_t width) {
  auto const count = static_cast<std::int64_t>(curve.after.size());
  std::int64_t const buckets = std::min(width, count);
  std::vector<timeline_bucket> timeline;
  for (std::int64_t i = 0; i < buckets; ++i) {
    auto const begin = curve.after.begin() + i * count / buckets;
    auto const end = curve.after.begin() + (i + 1) * count / buckets;
    timeline.push_back({begin - curve.after.begin(), *std::min_element(begin, end),
                        *std::max_element(begin, end)});
  }
  return timeline;
}

std::vector<large_lifetime> naive_largest(kernels::host_lifetimes const& rows, std::int64_t events,
                                          replay_plan const& plan) {
  struct weighed {
    unsigned __int128 area;
    large_lifetime lifetime;
  };
  std::vector<weighed> all;
  for (std::size_t row = 0; row < rows.birth.size() && plan.what != measure::reserved; ++row) {
    if (rows.birth[row] == before_trace && plan.older == carried_in::ignore) continue;
    event_index const end = end_of(rows, row, plan.what);
    unsigned __int128 area = 0;
    for (event_index e = rows.birth[row]; e < std::min(end, events); ++e) area += rows.size[row];
    constexpr unsigned __int128 most = ~std::uint64_t{0};
    if (area == 0) continue;
    all.push_back(
        {std::min(area, most), {rows.birth[row], end, as_signed(rows.size[row]), rows.stack[row]}});
  }
  std::stable_sort(all.begin(), all.end(), [](weighed const& a, weighed const& b) {
    return a.area > b.area || (a.area == b.area && a.lifetime.birth < b.lifetime.birth);
  });
  std::vector<large_lifetime> largest;
  for (weighed const& one : all) {
    if (static_cast<std::int64_t>(largest.size()) < plan.largest_count)
      largest.push_back(one.lifetime);
  }
  return largest;
}

live_history naive_history(kernels::host_lifetimes const& rows, replay_plan const& plan,
                           std::vector<range_replay> const& ranges) {
  std::set<event_index> events(plan.moments.begin(), plan.moments.end());
  for (range_replay const& range : ranges) {
    events.insert({range.events.first - 1, range.peak_event});
    if (range.events.last >= range.events.first) events.insert(range.events.last);
  }
  live_history made;
  // The whole live set of every moment, and what differs from the one before.
  using who = std::pair<std::uint32_t, bool>;
  std::map<who, std::pair<bytes, std::int64_t>> before;
  for (event_index const event : events) {
    std::map<who, std::pair<bytes, std::int64_t>> now;
    for (std::size_t row = 0; row < rows.birth.size() && plan.what != measure::reserved; ++row) {
      bool const is_older = rows.birth[row] == before_trace;
      if (is_older && plan.older == carried_in::ignore) continue;
      if (rows.birth[row] > event || end_of(rows, row, plan.what) <= event) continue;
      auto& sum = now[{to_row(rows.stack[row]), is_older}];
      sum.first += rows.size[row];
      ++sum.second;
    }
    for (auto const& [key, sum] : now) before.try_emplace(key);
    for (auto const& [key, sum] : before) {
      std::int64_t const grown = as_signed(now[key].first - sum.first);
      std::int64_t const more = now[key].second - sum.second;
      if (grown == 0 && more == 0) continue;
      made.changes.push_back({static_cast<std::int64_t>(made.moments.size()), stack_id{key.first},
                              key.second, grown, more});
    }
    before = std::move(now);
    made.moments.push_back({event});
  }
  return made;
}

kernels::kernel_result naive_run(kernels::kernel_input const& input, replay_plan const& plan) {
  kernels::kernel_result made;
  for (event_index e = 0; e < input.events.count; ++e)
    ++made.action_counts[static_cast<int>(input.events.what[e])];
  auto const paired = naive_pair(input, plan.sizes == size_basis::requested);
  made.counts = paired.counts;
  auto const curve_of = [&](measure which) { return naive_accumulate(input, which, plan.older); };
  auto const at = [](naive_curve const& curve, event_index event) {
    return event < 0 ? curve.start : curve.after[static_cast<std::size_t>(event)];
  };
  naive_curve const measured = curve_of(plan.what);
  naive_curve const allocated = curve_of(measure::allocated);
  naive_curve const active = curve_of(measure::active);
  naive_curve const reserved = curve_of(measure::reserved);
  made.measured = naive_summary(measured);
  made.allocated = naive_summary(allocated);
  made.active = naive_summary(active);
  made.reserved = naive_summary(reserved);
  made.timeline = naive_downsample(measured, plan.timeline_width);
  made.curves = {naive_downsample(allocated, plan.curve_width),
                 naive_downsample(active, plan.curve_width),
                 naive_downsample(reserved, plan.curve_width)};
  made.largest = naive_largest(paired.rows, input.events.count, plan);
  made.peaks = naive_peaks(measured, input.events.time_us, plan);
  for (peak& one : made.peaks) {
    one.allocated_bytes = at(allocated, one.event);
    one.active_bytes = at(active, one.event);
    one.reserved_bytes = at(reserved, one.event);
    one.holders = naive_live(paired.rows, one.event, plan.what, plan.older);
    for (std::size_t row = 0; row < paired.rows.birth.size() && plan.what != measure::reserved;
         ++row) {
      bool const is_older =
          paired.rows.birth[row] == before_trace && plan.older == carried_in::include;
      if (is_older && end_of(paired.rows, row, plan.what) > one.event)
        add_to(one.carried_in_bytes, paired.rows.size[row]);
    }
  }
  if (plan.throughput) {
    std::map<std::uint32_t, stack_total> by_stack;
    for (event_index e = 0; e < input.events.count; ++e) {
      if (input.events.what[e] != action::alloc) continue;
      stack_total& total = by_stack[to_row(input.events.stack[e])];
      total.stack = input.events.stack[e];
      add_to(total.bytes, input.events.size[e]);
      ++total.count;
    }
    for (auto const& [stack, total] : by_stack) made.throughput.push_back(total);
    order(made.throughput);
  }
  for (event_range const& range : plan.ranges) {
    range_replay one;
    one.events = range;
    one.start_bytes = one.peak_bytes = one.end_bytes = at(measured, range.first - 1);
    one.peak_event = range.first - 1;
    for (event_index e = range.first; e <= range.last; ++e) {
      one.end_bytes = at(measured, e);
      if (one.end_bytes <= one.peak_bytes) continue;
      one.peak_bytes = one.end_bytes;
      one.peak_event = e;
    }
    made.ranges.push_back(one);
  }
  made.history = naive_history(paired.rows, plan, made.ranges);
  for (moment_values& one : made.history.moments) {
    one.bytes = at(measured, one.event);
    one.allocated_bytes = at(allocated, one.event);
    one.active_bytes = at(active, one.event);
    one.reserved_bytes = at(reserved, one.event);
  }
  std::vector<event_index> mapped = plan.maps;
  for (std::size_t row = 0; row < made.peaks.size(); ++row) {
    if (static_cast<std::int64_t>(row) < plan.peak_maps) mapped.push_back(made.peaks[row].event);
  }
  for (event_index const event : mapped) {
    kernels::live_lifetimes live;
    live.event = event;
    for (std::size_t row = 0; row < paired.rows.birth.size(); ++row) {
      if (paired.rows.birth[row] > event || paired.rows.active_end[row] <= event) continue;
      live.address.push_back(paired.address[row]);
      live.birth.push_back(paired.rows.birth[row]);
      live.allocated_end.push_back(paired.rows.allocated_end[row]);
      live.active_end.push_back(paired.rows.active_end[row]);
      live.stack.push_back(paired.rows.stack[row]);
    }
    made.maps.push_back(live);
  }
  return made;
}

}  // namespace memreplay::test
