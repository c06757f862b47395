// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Says in plain words what did not fit together in a replay.
#pragma once

#include <cstdint>

#include <memreplay/audit.hpp>
#include <memreplay/replay.hpp>

#include "replay/device_input.hpp"

namespace memreplay {

/// A start value found twice: from the carried-in lifetimes, and backwards from the end state.
struct start_values {
  std::int64_t from_lifetimes = 0;
  std::int64_t from_end_state = 0;
  [[nodiscard]] bool agree() const noexcept { return from_lifetimes == from_end_state; }
};

/// The second way to the start of a curve: the end state minus the net change of the trace.
[[nodiscard]] start_values check_start(curve_summary const& curve,
                                       std::int64_t end_state_bytes) noexcept;

void add_count_rows(replay_counts const& counts, audit& defects);
/// `name` is the measure's; equal values add nothing.
void add_start_row(char const* name, start_values const& values, audit& defects);
/// Segments that were held before the trace cannot be fewer than none.
void add_reserved_row(curve_summary const& reserved, audit& defects);
void add_input_rows(device_input const& input, audit& defects);

}  // namespace memreplay
