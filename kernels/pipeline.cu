// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pipeline is a page: every line of run() is a step. Below it, the table of functions of this
// back end.
#include "kernels/columns.cuh"
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <cstdint>
#include <optional>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

/// The caller's columns, where the steps can read them.
class uploaded {
 public:
  uploaded(execution const& exec, kernel_input const& input)
      : count_(input.events.count),
        what_(exec, input.events.what, count_),
        address_(exec, input.events.address, count_),
        size_(exec, input.events.size, count_),
        stack_(exec, input.events.stack, count_),
        block_count_(input.blocks.count),
        block_address_(exec, input.blocks.address, block_count_),
        block_size_(exec, input.blocks.size, block_count_),
        block_stack_(exec, input.blocks.stack, block_count_),
        block_is_pending_(exec, input.blocks.is_pending, block_count_) {}

  [[nodiscard]] event_rows events() const {
    return {count_, what_.data(), address_.data(), size_.data(), stack_.data()};
  }
  [[nodiscard]] block_rows blocks() const {
    return {block_count_, block_address_.data(), block_size_.data(), block_stack_.data(),
            block_is_pending_.data()};
  }
  /// Only `pair` reads addresses.
  void release_addresses() { address_.release(); }

 private:
  std::int64_t count_;
  input_column<action> what_;
  input_column<std::uint64_t> address_;
  input_column<std::uint64_t> size_;
  input_column<stack_id> stack_;
  std::int64_t block_count_;
  input_column<std::uint64_t> block_address_;
  input_column<std::uint64_t> block_size_;
  input_column<stack_id> block_stack_;
  input_column<std::uint8_t> block_is_pending_;
};

void count_actions(execution const& exec, event_rows const& events, kernel_result& result) {
  for (int what = 0; what < action_count; ++what) {
    result.action_counts[what] =
        count_rows(exec, events.count, is_action{events.what, static_cast<action>(what)});
  }
}

/// The key values of a curve, and its value at every peak.
void note_curve(execution const& exec, curve_rows const& bytes, measure which,
                kernel_result& result) {
  std::vector<event_index> places;
  for (peak const& found : result.peaks) places.push_back(found.event);
  std::vector<std::int64_t> const values = values_at(exec, bytes, places);
  auto const note = [&](curve_summary& summary, std::int64_t peak::*value) {
    summary = summarize(exec, bytes);
    for (std::size_t row = 0; row < values.size(); ++row) result.peaks[row].*value = values[row];
  };
  switch (which) {
    case measure::allocated: note(result.allocated, &peak::allocated_bytes); break;
    case measure::active: note(result.active, &peak::active_bytes); break;
    case measure::reserved: note(result.reserved, &peak::reserved_bytes); break;
  }
}

kernel_result run(kernel_input const& input, replay_plan const& plan) {
  execution const exec;
  kernel_result result;
  uploaded columns(exec, input);
  event_rows events = columns.events();
  count_actions(exec, events, result);

  pair_options const options{input.has_segments, plan.sizes == size_basis::requested};
  lifetimes const found = pair(exec, events, columns.blocks(), options, result.counts);
  lifetime_rows const born = found.rows();
  columns.release_addresses();
  events = columns.events();

  auto const curve_of = [&](measure which) {
    return accumulate(exec, events, born, which, plan.older, input.reserved_end_bytes,
                      input.has_segments);
  };
  {
    curve const measured = curve_of(plan.what);
    bool const wants_times = plan.min_separation_us > 0 && input.events.time_us != nullptr;
    input_column<std::int64_t> const times(exec, input.events.time_us,
                                           wants_times ? input.events.count : 0);
    result.peaks = find_peaks(exec, measured.rows(), wants_times ? times.data() : nullptr, plan);
    result.timeline = downsample(exec, measured.rows(), plan.timeline_width);
    result.measured = summarize(exec, measured.rows());
    note_curve(exec, measured.rows(), plan.what, result);
  }
  for (measure const other : {measure::allocated, measure::active, measure::reserved}) {
    if (other != plan.what) note_curve(exec, curve_of(other).rows(), other, result);
  }
  for (peak& at : result.peaks) {
    auto const live = select_live(exec, born, at.event, plan.what, plan.older);
    at.carried_in_bytes = carried_in_bytes(exec, born, live);
    at.holders = total_by(exec, born, live);
  }
  if (plan.throughput) result.throughput = total_by(exec, born, select_births(exec, born));
  return result;
}

// ---- the steps on host data, for tests and benchmarks

host_lifetimes pair_step(kernel_input const& input, replay_counts& counts) {
  execution const exec;
  uploaded const columns(exec, input);
  lifetimes const found =
      pair(exec, columns.events(), columns.blocks(), {input.has_segments, true}, counts);
  lifetime_rows const rows = found.rows();
  return {download(exec, rows.birth, rows.count), download(exec, rows.allocated_end, rows.count),
          download(exec, rows.active_end, rows.count), download(exec, rows.size, rows.count),
          download(exec, rows.stack, rows.count)};
}

std::vector<std::int64_t> accumulate_step(kernel_input const& input, replay_plan const& plan,
                                          std::int64_t& start) {
  execution const exec;
  uploaded const columns(exec, input);
  replay_counts counts;
  lifetimes const found =
      pair(exec, columns.events(), columns.blocks(), {input.has_segments, true}, counts);
  curve const counted = accumulate(exec, columns.events(), found.rows(), plan.what, plan.older,
                                   input.reserved_end_bytes, input.has_segments);
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

std::vector<stack_total> live_by_stack_step(host_lifetimes const& lifetimes, event_index event,
                                            replay_plan const& plan) {
  execution const exec;
  auto const count = static_cast<std::int64_t>(lifetimes.birth.size());
  input_column<event_index> const birth(exec, lifetimes.birth.data(), count);
  input_column<event_index> const allocated_end(exec, lifetimes.allocated_end.data(), count);
  input_column<event_index> const active_end(exec, lifetimes.active_end.data(), count);
  input_column<std::uint64_t> const size(exec, lifetimes.size.data(), count);
  input_column<stack_id> const stack(exec, lifetimes.stack.data(), count);
  lifetime_rows const born{count,       birth.data(), allocated_end.data(), active_end.data(),
                           size.data(), stack.data()};
  return total_by(exec, born, select_live(exec, born, event, plan.what, plan.older));
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
                        pair_step,
                        accumulate_step,
                        find_peaks_step,
                        live_by_stack_step,
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
