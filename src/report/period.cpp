// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds what repeats in a curve, where nobody marked the steps.
#include "report/period.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "report/saturating.hpp"
#include "report/trace_view.hpp"

namespace memreplay::reporting {
namespace {

constexpr std::int64_t most_samples = 2048;
constexpr double least_likeness = 0.5;      // of the curve with itself, one period later
constexpr std::size_t fewest_swings = 6;    // fewer are chance
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

/// Takes a straight line off, so that a curve that only grows is like nothing: the one that fits
/// the values from `from` on.
std::vector<double> without_trend(std::vector<double> values, std::size_t from) {
  auto const count = static_cast<double>(values.size() - from);
  double sum = 0, sum_x = 0, sum_xy = 0, sum_xx = 0;
  for (std::size_t x = from; x < values.size(); ++x) {
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

/// The values from `from` on.
std::vector<double> rest_of(std::vector<double> const& values, std::size_t from) {
  return {values.begin() + static_cast<std::ptrdiff_t>(from), values.end()};
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

/// It swings further than from one sample to the next: the rounding of the samples repeats, too.
bool swings(std::vector<double> const& low, std::vector<double> const& values) {
  double moved = 0;
  for (std::size_t at = 1; at < low.size(); ++at) moved += std::abs(low[at] - low[at - 1]);
  auto const [least, most] = std::minmax_element(values.begin(), values.end());
  return (*most - *least) * static_cast<double>(low.size()) > 2 * moved;
}

/// In samples, of the curve from `from` on; 0 when there is none.
std::size_t find_shift(std::vector<double> const& low, std::size_t from) {
  std::vector<double> const values = rest_of(without_trend(low, from), from);
  if (values.empty() || !swings(rest_of(low, from), values)) return 0;
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

/// The sample from which on the curve is lowest on the whole, every `shift` samples.
std::size_t find_phase(std::vector<double> const& low, std::size_t from, std::size_t shift) {
  std::size_t best = from;
  double lowest = 0;
  for (std::size_t phase = from; phase < std::min(from + shift, low.size()); ++phase) {
    double sum = 0;
    double terms = 0;
    for (std::size_t at = phase; at < low.size(); at += shift, ++terms) sum += low[at];
    if (phase != from && sum / terms >= lowest) continue;
    lowest = sum / terms;
    best = phase;
  }
  return best;
}

/// Steps are not equally long: each border is the lowest point near one period after the last one,
/// or before the next one.
std::vector<std::size_t> find_borders(std::vector<double> const& low, std::size_t start,
                                      std::size_t shift) {
  std::size_t const reach = shift / 4;
  auto const lowest_near = [&](std::size_t at) {
    std::size_t const from = at > reach ? at - reach : 0;
    std::size_t const to = std::min(at + reach + 1, low.size());
    return static_cast<std::size_t>(
        std::min_element(low.begin() + static_cast<std::ptrdiff_t>(from),
                         low.begin() + static_cast<std::ptrdiff_t>(to)) -
        low.begin());
  };
  std::vector<std::size_t> borders;
  for (std::size_t at = lowest_near(start); at + reach >= shift;) {
    std::size_t const before = lowest_near(at > shift ? at - shift : 0);
    // What only climbs is the way to the first repetition.
    if (*std::max_element(low.begin() + static_cast<std::ptrdiff_t>(before),
                          low.begin() + static_cast<std::ptrdiff_t>(at)) <= low[at]) {
      break;
    }
    at = before;
    borders.push_back(at);
  }
  std::reverse(borders.begin(), borders.end());
  for (std::size_t at = start; at < low.size();) {
    borders.push_back(lowest_near(at));
    at = borders.back() + shift;
  }
  return borders;
}

/// Two borders of three are about as far apart as the others.
bool are_even(std::vector<std::size_t> const& borders) {
  std::vector<std::size_t> lengths;
  for (std::size_t row = 1; row < borders.size(); ++row)
    lengths.push_back(borders[row] - borders[row - 1]);
  std::sort(lengths.begin(), lengths.end());
  if (lengths.size() < fewest_swings) return false;
  std::size_t const usual = lengths[lengths.size() / 2];
  auto const like_usual = std::count_if(
      lengths.begin(), lengths.end(),
      [usual](std::size_t length) { return length * 3 >= usual * 2 && length * 2 <= usual * 3; });
  return static_cast<std::size_t>(like_usual) * 3 >= lengths.size() * 2;
}

/// Where steps are too unequal for one shift: the low points between which the curve rises from the
/// lower third of its usual range to the upper third. The line and the range are those from
/// `from` on.
std::vector<std::size_t> find_swings(std::vector<double> const& low, std::size_t from) {
  std::vector<double> const values = without_trend(low, from);
  std::vector<double> sorted = rest_of(values, from);
  if (sorted.empty() || !swings(rest_of(low, from), sorted)) return {};
  std::sort(sorted.begin(), sorted.end());
  double const least = sorted[sorted.size() / 10];
  double const most = sorted[sorted.size() - 1 - sorted.size() / 10];
  double const down = least + (most - least) / 3;
  double const up = most - (most - least) / 3;
  std::vector<std::size_t> borders;
  bool is_low = true;
  std::size_t lowest = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (is_low && values[at] > up) {
      borders.push_back(lowest);
      is_low = false;
    } else if (!is_low && values[at] < down) {
      is_low = true;
      lowest = at;
    }
    if (is_low && values[at] < values[lowest]) lowest = at;
  }
  if (is_low) borders.push_back(lowest);
  return are_even(borders) ? borders : std::vector<std::size_t>{};
}

}  // namespace

std::vector<event_range> find_period(snapshot const& input, std::int32_t device) {
  samples const curve = sample_curve(trace_view(input, device));
  // Programs begin with what they do once: weights, the optimizer's state, caches that fill. That
  // stands apart from all that follows, so it is left out where that shows a period.
  std::size_t const count = curve.low.size();
  std::size_t from = 0;
  std::size_t shift = 0;
  for (std::size_t const warm_up : {count / 4, count / 2, std::size_t{0}}) {
    from = warm_up;
    shift = find_shift(curve.low, from);
    if (shift != 0) break;
  }
  std::vector<std::size_t> const borders =
      shift != 0 ? find_borders(curve.low, find_phase(curve.low, from, shift), shift)
                 : find_swings(curve.low, count / 4);
  std::vector<event_range> ranges;
  for (std::size_t row = 1; row < borders.size(); ++row) {
    event_index const before = curve.where[borders[row - 1]];
    event_index const last = curve.where[borders[row]];
    if (last > before) ranges.push_back({before + 1, last});
  }
  return ranges.size() >= 3 ? ranges : std::vector<event_range>{};
}

}  // namespace memreplay::reporting
