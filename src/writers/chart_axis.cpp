// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Round numbers along the axes of a picture.
#include "writers/chart_axis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "writers/plain_text.hpp"

namespace memreplay::writers {
namespace {

constexpr double fewest_ticks = 4.0;

/// 1, 2 or 5 times a power of ten.
struct round_step {
  double size;
  int digits;  ///< after the point
};

round_step step_for(double most) {
  double const rough = most / fewest_ticks;
  int const power = static_cast<int>(std::floor(std::log10(rough)));
  double const ten = std::pow(10.0, power);
  double const mantissa = rough / ten;
  double const chosen = mantissa >= 5 ? 5 : mantissa >= 2 ? 2 : 1;
  return {chosen * ten, std::max(0, -power)};
}

/// `text_of(value, digits)` of multiples of the step.
template <class TextOfT>
chart_axis make_axis(double most, double scale, std::string unit, TextOfT text_of) {
  chart_axis made;
  made.unit = std::move(unit);
  round_step const step = step_for(most / scale);
  for (int tick = 0; tick * step.size * scale <= most * (1 + 1e-9); ++tick) {
    double const value = tick * step.size;
    made.ticks.push_back({value * scale, text_of(value, step.digits)});
  }
  return made;
}

std::string decimal_text(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

}  // namespace

chart_axis make_byte_axis(double most_bytes) {
  constexpr std::pair<char const*, double> units[] = {{"EiB", 0x1p60}, {"PiB", 0x1p50},
                                                      {"TiB", 0x1p40}, {"GiB", 0x1p30},
                                                      {"MiB", 0x1p20}, {"KiB", 0x1p10}};
  double const most = std::max(most_bytes, 1.0);
  for (auto const& [name, bytes] : units) {
    if (most >= bytes) return make_axis(most, bytes, name, decimal_text);
  }
  return make_axis(std::max(most, fewest_ticks), 1.0, "B", decimal_text);
}

chart_axis make_seconds_axis(double most_seconds) {
  return make_axis(std::max(most_seconds, 1e-6), 1.0, "seconds", decimal_text);
}

chart_axis make_event_axis(double most_events) {
  return make_axis(std::max(most_events, fewest_ticks), 1.0, "events",
                   [](double value, int) { return count_text(static_cast<std::int64_t>(value)); });
}

}  // namespace memreplay::writers
