// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// An address map with few enough blocks to draw.
#pragma once

#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/shown_stacks.hpp"

namespace memreplay::reporting {

/// Where the blocks are too many, small ones side by side become one `mixed` block; as few of them
/// as possible, the smallest. `seconds` and `is_oom` are left to the caller.
[[nodiscard]] segment_map make_segment_map(snapshot const& input, address_map const& map,
                                           timeline_budget const& budget, stack_collector& stacks);

}  // namespace memreplay::reporting
