// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Round numbers along the axes of a picture.
#pragma once

#include <string>
#include <vector>

namespace memreplay::writers {

struct axis_tick {
  double value = 0.0;
  std::string text;
};

struct chart_axis {
  std::vector<axis_tick> ticks;  ///< ascending from 0, none beyond the greatest value
  std::string unit;
};

/// Of bytes, in the largest binary unit of which the greatest value holds one.
[[nodiscard]] chart_axis make_byte_axis(double most_bytes);
/// Of seconds or, in whole numbers, of events.
[[nodiscard]] chart_axis make_seconds_axis(double most_seconds);
[[nodiscard]] chart_axis make_event_axis(double most_events);

}  // namespace memreplay::writers
