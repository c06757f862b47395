// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Draws a timeline in one line of text, with the peaks marked on the line below.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <memreplay/report.hpp>

namespace memreplay::writers {

struct sparkline {
  std::string curve;  ///< one block character a bucket, the bucket's greatest value
  std::string marks;  ///< the number of the peak that falls into the bucket (`*` beyond 9)
  std::int64_t floor_bytes = 0;  ///< what the lowest block stands for
  std::int64_t top_bytes = 0;    ///< what the full block stands for
};

/// The axis starts at 0 unless the curve stays in the upper half of its range, where its shape
/// would be lost.
[[nodiscard]] sparkline draw_sparkline(std::vector<timeline_bucket> const& timeline,
                                       std::vector<peak_report> const& peaks);

}  // namespace memreplay::writers
