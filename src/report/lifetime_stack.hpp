// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Stacks lifetimes upon each other, as the allocation map that people know from PyTorch's viewer.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/replay.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/shown_stacks.hpp"

namespace memreplay::reporting {

/// `largest` as the replay gives them, of a trace of `events`. A lifetime falls when one below it
/// ends, and each fall is a vertex: the smallest are left out where the vertices are more than
/// `most_vertices`.
[[nodiscard]] lifetime_stack make_lifetime_stack(std::vector<large_lifetime> const& largest,
                                                 std::int64_t events, std::int64_t most_vertices,
                                                 stack_collector& stacks);

}  // namespace memreplay::reporting
