// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pipeline is a page: every line of run() is a step. Below it, the table of functions of this
// back end.
#include "kernels/columns.cuh"
#include "kernels/primitives.cuh"
#include "kernels/staged_events.cuh"
#include "kernels/steps.cuh"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

/// The blocks of the end state, where the steps can read them.
class uploaded_blocks {
 public:
  uploaded_blocks(execution const& exec, block_view const& blocks)
      : count_(blocks.count),
        address_(exec, blocks.address, count_),
        size_(exec, blocks.size, count_),
        stack_(exec, blocks.stack, count_),
        is_pending_(exec, blocks.is_pending, count_) {}

  [[nodiscard]] block_rows rows() const {
    return {count_, address_.data(), size_.data(), stack_.data(), is_pending_.data()};
  }

 private:
  std::int64_t count_;
  input_column<std::uint64_t> address_;
  input_column<std::uint64_t> size_;
  input_column<stack_id> stack_;
  input_column<std::uint8_t> is_pending_;
};

/// The key values of a curve, and its value at every peak and then every other moment.
void note(key_values const& found, measure which, kernel_result& result) {
  auto const note_in = [&](curve_summary& summary, std::int64_t peak::*at_peak,
                           std::int64_t moment_values::*at_moment) {
    summary = found.summary;
    std::size_t row = 0;
    for (peak& at : result.peaks) at.*at_peak = found.at[row++];
    for (moment_values& at : result.history.moments) at.*at_moment = found.at[row++];
  };
  switch (which) {
    case measure::allocated:
      note_in(result.allocated, &peak::allocated_bytes, &moment_values::allocated_bytes);
      break;
    case measure::active:
      note_in(result.active, &peak::active_bytes, &moment_values::active_bytes);
      break;
    case measure::reserved:
      note_in(result.reserved, &peak::reserved_bytes, &moment_values::reserved_bytes);
      break;
  }
}

/// The moments asked for, and those of the ranges: ascending, none twice.
std::vector<event_index> all_moments(replay_plan const& plan,
                                     std::vector<range_replay> const& ranges) {
  std::vector<event_index> moments = plan.moments;
  for (range_replay const& range : ranges) {
    moments.push_back(range.events.first - 1);
    moments.push_back(range.peak_event);
    if (!range.events.is_empty()) moments.push_back(range.events.last);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

std::vector<timeline_bucket>& timeline_of(measure which, curve_timelines& curves) {
  switch (which) {
    case measure::allocated: break;
    case measure::active: return curves.active;
    case measure::reserved: return curves.reserved;
  }
  return curves.allocated;
}

live_lifetimes make_live(execution const& exec, lifetimes const& found, event_index event) {
  lifetime_rows const born = found.rows();
  auto const live = select_live(exec, born, event, measure::active, carried_in::include);
  live_lifetimes made;
  made.event = event;
  made.address = download_rows(exec, found.address.data(), live);
  made.birth = download_rows(exec, born.birth, live);
  made.allocated_end = download_rows(exec, born.allocated_end, live);
  made.active_end = download_rows(exec, born.active_end, live);
  made.stack = download_rows(exec, born.stack, live);
  return made;
}

kernel_result run_steps(execution const& exec, event_rows const& events, kernel_input const& input,
                        replay_plan const& plan) {
  kernel_result result;
  uploaded_blocks const blocks(exec, input.blocks);
  event_survey const seen = survey(exec, events);
  std::copy(std::begin(seen.counts), std::end(seen.counts), std::begin(result.action_counts));

  pair_options const options{input.has_segments, plan.sizes == size_basis::requested,
                             !plan.maps.empty() || plan.peak_maps > 0};
  lifetimes const found = pair(exec, events, seen, blocks.rows(), options, result.counts);
  lifetime_rows const born = found.rows();

  start_rule const rule{plan.older, input.has_segments, input.reserved_end_bytes};
  std::vector<event_index> places;
  {
    curve const measured = accumulate(exec, events, born, plan.what, rule);
    bool const wants_times = plan.min_separation_us > 0 && input.events.time_us != nullptr;
    input_column<std::int64_t> const times(exec, input.events.time_us,
                                           wants_times ? input.events.count : 0);
    result.peaks = find_peaks(exec, measured.rows(), wants_times ? times.data() : nullptr, plan);
    result.timeline = downsample(exec, measured.rows(), plan.timeline_width);
    timeline_of(plan.what, result.curves) = downsample(exec, measured.rows(), plan.curve_width);
    result.ranges = find_range_peaks(exec, measured.rows(), plan.ranges);
    std::vector<event_index> const moments = all_moments(plan, result.ranges);
    for (event_index const event : moments) result.history.moments.push_back({event});
    for (peak const& at : result.peaks) places.push_back(at.event);
    places.insert(places.end(), moments.begin(), moments.end());
    key_values const values = find_key_values(exec, measured.rows(), places);
    result.measured = values.summary;
    for (std::size_t row = 0; row < moments.size(); ++row)
      result.history.moments[row].bytes = values.at[result.peaks.size() + row];
    result.history.changes = follow_live(exec, born, moments, plan.what, plan.older);
    note(values, plan.what, result);
  }
  for (measure const other : {measure::allocated, measure::active, measure::reserved}) {
    if (other == plan.what) continue;
    if (other == measure::reserved && plan.curve_width <= 0) {
      note(find_reserved_key_values(exec, events, rule, places), other, result);
      continue;
    }
    curve const bytes = accumulate(exec, events, born, other, rule);
    note(find_key_values(exec, bytes.rows(), places), other, result);
    timeline_of(other, result.curves) = downsample(exec, bytes.rows(), plan.curve_width);
  }
  for (peak& at : result.peaks) {
    auto const live = select_live(exec, born, at.event, plan.what, plan.older);
    at.carried_in_bytes = carried_in_bytes(exec, born, live);
    at.holders = total_by(exec, born, live);
  }
  result.largest =
      select_largest(exec, born, events.count, plan.what, plan.older, plan.largest_count);
  for (event_index const event : plan.maps) result.maps.push_back(make_live(exec, found, event));
  auto const peak_maps = std::min(plan.peak_maps, static_cast<std::int64_t>(result.peaks.size()));
  for (std::int64_t row = 0; row < peak_maps; ++row) {
    event_index const event = result.peaks[static_cast<std::size_t>(row)].event;
    result.maps.push_back(make_live(exec, found, event));
  }
  if (plan.throughput) result.throughput = total_by(exec, born, select_births(exec, born));
  return result;
}

kernel_result run(kernel_input const& input, replay_plan const& plan, stage* given) {
  if (given == nullptr) {
    staged_events own;
    own.take(input.events, true);
    return run_steps(own.exec(), own.rows(input.events, 0), input, plan);
  }
  auto const& staged = *reinterpret_cast<staged_events const*>(given);
  event_rows events = staged.rows(input.events, input.events.first_row);
  // The file tells no block sizes: they were found only now.
  bool const has_other_sizes = plan.sizes == size_basis::block;
  input_column<std::uint64_t> const sizes(staged.exec(), input.events.size,
                                          has_other_sizes ? events.count : 0);
  if (has_other_sizes) events.size = sizes.data();
  return run_steps(staged.exec(), events, input, plan);
}

stage* open_stage() { return reinterpret_cast<stage*>(new staged_events); }

void stage_rows(stage& staged, event_view const& rows, bool are_all) {
  reinterpret_cast<staged_events&>(staged).take(rows, are_all);
}

void close_stage(stage* staged) noexcept { delete reinterpret_cast<staged_events*>(staged); }

// ---- the steps on host data, for tests and benchmarks

host_lifetimes pair_step(kernel_input const& input, replay_counts& counts) {
  staged_events staged;
  staged.take(input.events, true);
  execution const& exec = staged.exec();
  uploaded_blocks const blocks(exec, input.blocks);
  event_rows const events = staged.rows(input.events, 0);
  lifetimes const found =
      pair(exec, events, survey(exec, events), blocks.rows(), {input.has_segments, true}, counts);
  lifetime_rows const rows = found.rows();
  return {download(exec, rows.birth, rows.count), download(exec, rows.allocated_end, rows.count),
          download(exec, rows.active_end, rows.count), download(exec, rows.size, rows.count),
          download(exec, rows.stack, rows.count)};
}

std::vector<std::int64_t> accumulate_step(kernel_input const& input, replay_plan const& plan,
                                          std::int64_t& start) {
  staged_events staged;
  staged.take(input.events, true);
  execution const& exec = staged.exec();
  uploaded_blocks const blocks(exec, input.blocks);
  replay_counts counts;
  event_rows const events = staged.rows(input.events, 0);
  lifetimes const found =
      pair(exec, events, survey(exec, events), blocks.rows(), {input.has_segments, true}, counts);
  curve const counted = accumulate(exec, events, found.rows(), plan.what,
                                   {plan.older, input.has_segments, input.reserved_end_bytes});
  start = counted.start;
  return download(exec, counted.value.data(), counted.value.count());
}

std::vector<peak> find_peaks_step(std::vector<std::int64_t> const& values, std::int64_t start,
                                  std::int64_t const* time_us, replay_plan const& plan) {
  execution const exec;
  auto const count = static_cast<std::int64_t>(values.size());
  input_column<std::int64_t> const curve(exec, values.data(), count);
  input_column<std::int64_t> const times(exec, time_us, time_us == nullptr ? 0 : count);
  return find_peaks(exec, {count, curve.data(), start}, time_us == nullptr ? nullptr : times.data(),
                    plan);
}

/// Lifetimes of the host, where the steps can read them.
class uploaded_lifetimes {
 public:
  uploaded_lifetimes(execution const& exec, host_lifetimes const& rows)
      : count_(static_cast<std::int64_t>(rows.birth.size())),
        birth_(exec, rows.birth.data(), count_),
        allocated_end_(exec, rows.allocated_end.data(), count_),
        active_end_(exec, rows.active_end.data(), count_),
        size_(exec, rows.size.data(), count_),
        stack_(exec, rows.stack.data(), count_) {}

  [[nodiscard]] lifetime_rows rows() const {
    return {count_,       birth_.data(), allocated_end_.data(), active_end_.data(),
            size_.data(), stack_.data()};
  }

 private:
  std::int64_t count_;
  input_column<event_index> birth_;
  input_column<event_index> allocated_end_;
  input_column<event_index> active_end_;
  input_column<std::uint64_t> size_;
  input_column<stack_id> stack_;
};

std::vector<stack_total> live_by_stack_step(host_lifetimes const& lifetimes, event_index event,
                                            replay_plan const& plan) {
  execution const exec;
  uploaded_lifetimes const born(exec, lifetimes);
  return total_by(exec, born.rows(), select_live(exec, born.rows(), event, plan.what, plan.older));
}

std::vector<large_lifetime> select_largest_step(host_lifetimes const& lifetimes,
                                                std::int64_t events, replay_plan const& plan) {
  execution const exec;
  uploaded_lifetimes const born(exec, lifetimes);
  return select_largest(exec, born.rows(), events, plan.what, plan.older, plan.largest_count);
}

std::vector<timeline_bucket> downsample_step(std::vector<std::int64_t> const& values,
                                             std::int64_t width) {
  execution const exec;
  auto const count = static_cast<std::int64_t>(values.size());
  input_column<std::int64_t> const curve(exec, values.data(), count);
  return downsample(exec, {count, curve.data(), 0}, width);
}

struct number_rows {
  std::uint64_t* row;
  MEMREPLAY_HD void operator()(std::int64_t number) const {
    row[number] = static_cast<std::uint64_t>(number);
  }
};

struct copy_keys {
  std::uint64_t const* from;
  std::uint64_t* to;
  MEMREPLAY_HD void operator()(std::int64_t row) const { to[row] = from[row]; }
};

std::vector<std::int64_t> sort_rows_step(std::vector<std::uint64_t> const& values) {
  execution const exec;
  auto const count = static_cast<std::int64_t>(values.size());
  input_column<std::uint64_t> const given(exec, values.data(), count);
  buffer<std::uint64_t> keys(exec, count);
  buffer<std::uint64_t> rows(exec, count);
  for_each_row(exec, count, copy_keys{given.data(), keys.data()});
  for_each_row(exec, count, number_rows{rows.data()});
  sort_pairs(exec, keys, rows);
  auto const sorted = download(exec, rows.data(), count);
  return {sorted.begin(), sorted.end()};
}

constexpr backend table{MEMREPLAY_TEXT(MEMREPLAY_BACKEND),
                        run,
                        shares_host_memory ? nullptr : open_stage,
                        shares_host_memory ? nullptr : stage_rows,
                        shares_host_memory ? nullptr : close_stage,
                        pair_step,
                        accumulate_step,
                        find_peaks_step,
                        live_by_stack_step,
                        select_largest_step,
                        downsample_step,
                        sort_rows_step};

}  // namespace

[[nodiscard]] backend const& this_backend() noexcept { return table; }

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND

namespace memreplay::kernels {

backend const& MEMREPLAY_JOIN(MEMREPLAY_BACKEND, _backend)() noexcept {
  return MEMREPLAY_BACKEND::this_backend();
}

}  // namespace memreplay::kernels
