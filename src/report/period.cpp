// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds what repeats in a curve, where nobody marked the steps.
#include "report/period.hpp"

#include <algorithm>
#include <cstddef>

#include "report/saturating.hpp"
#include "report/trace_view.hpp"

namespace memreplay::reporting {
namespace {

constexpr std::int64_t most_samples = 2048;
constexpr double least_likeness = 0.5;      // of the curve with itself, one period later
constexpr std::size_t shortest_period = 4;  // samples: below, it is noise of the sampling

/// The lowest value of the curve in each of equally long runs of events, and where it is.
struct samples {
  std::vector<double> low;
  std::vector<event_index> where;
};

samples sample_curve(trace_view const& trace) {
  bool has_completions = false;
  for (event_index event = 0; event < trace.count() && !has_completions; ++event)
    has_completions = trace.what(event) == action::free_completed;
  action const frees = has_completions ? action::free_completed : action::free_requested;

  samples made;
  std::int64_t const count = std::min(most_samples, trace.count());
  std::int64_t bytes = 0;
  event_index event = 0;
  for (std::int64_t sample = 0; sample < count; ++sample) {
    event_index const end = (sample + 1) * trace.count() / count;
    std::int64_t lowest = 0;
    event_index where = event;
    for (bool is_first = true; event < end; ++event, is_first = false) {
      if (trace.what(event) == action::alloc)
        bytes = add_saturated(bytes, to_bytes(trace.size(event)));
      if (trace.what(event) == frees)
        bytes = subtract_saturated(bytes, to_bytes(trace.size(event)));
      if (is_first || bytes < lowest) {
        lowest = bytes;
        where = event;
      }
    }
    made.low.push_back(static_cast<double>(lowest));
    made.where.push_back(where);
  }
  return made;
}

/// Takes a straight line off, so that a curve that only grows is like nothing.
std::vector<double> without_trend(std::vector<double> values) {
  auto const count = static_cast<double>(values.size());
  double sum = 0, sum_x = 0, sum_xy = 0, sum_xx = 0;
  for (std::size_t x = 0; x < values.size(); ++x) {
    auto const at = static_cast<double>(x);
    sum += values[x];
    sum_x += at;
    sum_xy += at * values[x];
    sum_xx += at * at;
  }
  double const spread = count * sum_xx - sum_x * sum_x;
  double const slope = spread > 0 ? (count * sum_xy - sum_x * sum) / spread : 0;
  for (std::size_t x = 0; x < values.size(); ++x)
    values[x] -= sum / count + slope * (static_cast<double>(x) - sum_x / count);
  return values;
}

/// Correlation of the curve with itself `shift` samples later.
double likeness(std::vector<double> const& values, std::size_t shift) {
  double product = 0, left = 0, right = 0;
  for (std::size_t x = 0; x + shift < values.size(); ++x) {
    product += values[x] * values[x + shift];
    left += values[x] * values[x];
    right += values[x + shift] * values[x + shift];
  }
  double const scale = left > right ? left : right;
  return scale > 0 ? product / scale : 0;
}

/// In samples; 0 when there is none.
std::size_t find_shift(std::vector<double> const& values) {
  std::size_t const longest = values.size() / 3;
  std::vector<double> like(longest + 1, 0.0);
  for (std::size_t shift = 1; shift <= longest; ++shift) like[shift] = likeness(values, shift);
  // Every curve is like itself a little later: the search begins where that has worn off.
  std::size_t first = shortest_period;
  while (first <= longest && like[first] > 0.0) ++first;
  double best = least_likeness;
  for (std::size_t shift = first; shift <= longest; ++shift) best = std::max(best, like[shift]);
  // Two periods are as alike as one: the shortest of nearly equals, at its own summit.
  for (std::size_t shift = first; shift <= longest; ++shift) {
    bool const is_summit = shift == longest || like[shift] >= like[shift + 1];
    if (like[shift] >= 0.95 * best && like[shift] > least_likeness && is_summit) return shift;
  }
  return 0;
}

}  // namespace

std::vector<event_range> find_period(snapshot const& input, std::int32_t device) {
  samples const curve = sample_curve(trace_view(input, device));
  std::size_t const shift = find_shift(without_trend(curve.low));
  if (shift == 0) return {};

  // The phase in which the curve is lowest on the whole.
  std::size_t best_phase = 0;
  double lowest = 0;
  for (std::size_t phase = 0; phase < shift; ++phase) {
    double sum = 0;
    double terms = 0;
    for (std::size_t at = phase; at < curve.low.size(); at += shift, ++terms) sum += curve.low[at];
    if (phase == 0 || sum / terms < lowest) {
      lowest = sum / terms;
      best_phase = phase;
    }
  }
  // Steps are not equally long: each border is the lowest point near one period after the last one.
  std::vector<event_index> borders;
  for (std::size_t at = best_phase; at < curve.low.size();) {
    std::size_t const reach = shift / 4;
    std::size_t const from = at > reach ? at - reach : 0;
    std::size_t const to = std::min(at + reach + 1, curve.low.size());
    auto const low = std::min_element(curve.low.begin() + static_cast<std::ptrdiff_t>(from),
                                      curve.low.begin() + static_cast<std::ptrdiff_t>(to));
    auto const found = static_cast<std::size_t>(low - curve.low.begin());
    borders.push_back(curve.where[found]);
    at = found + shift;
  }
  std::vector<event_range> ranges;
  for (std::size_t row = 1; row < borders.size(); ++row) {
    if (borders[row] > borders[row - 1]) ranges.push_back({borders[row - 1] + 1, borders[row]});
  }
  return ranges.size() >= 3 ? ranges : std::vector<event_range>{};
}

}  // namespace memreplay::reporting
