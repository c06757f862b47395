// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live sets that flame graphs are drawn from.
#pragma once

#include <memreplay/replay.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/shown_stacks.hpp"

namespace memreplay::reporting {

/// At each peak, and at some of `moments` (of the replay's history), evenly spread.
[[nodiscard]] flame_rows make_flame_rows(device_replay const& replayed,
                                         std::vector<event_index> const& moments,
                                         timeline_budget const& budget, stack_collector& stacks);

}  // namespace memreplay::reporting
