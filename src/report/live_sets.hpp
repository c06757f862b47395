// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live sets of a history, put together again from its changes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <memreplay/replay.hpp>

namespace memreplay::reporting {

struct live_set {
  std::int64_t bytes = 0, count = 0;
  std::int64_t carried_in_bytes = 0, carried_in_count = 0;  ///< part of both
  std::vector<stack_total> by_stack;  ///< ascending by stack; only where asked for
};

/// One for each moment of the history.
[[nodiscard]] std::vector<live_set> read_live_sets(
    live_history const& history, std::function<bool(std::size_t row)> const& wants_stacks);

/// Of one moment, with its stacks.
[[nodiscard]] live_set live_set_at(live_history const& history, event_index event);

}  // namespace memreplay::reporting
