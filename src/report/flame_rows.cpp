// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live sets that flame graphs are drawn from.
#include "report/flame_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "report/live_sets.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

/// At most `most` of them, the first and the last among these.
std::vector<event_index> spread(std::vector<event_index> const& moments, std::int64_t most) {
  auto const count = static_cast<std::int64_t>(moments.size());
  if (count <= most) return moments;
  std::vector<event_index> chosen;
  for (std::int64_t row = 0; row < most; ++row) {
    std::int64_t const at = most == 1 ? count - 1 : row * (count - 1) / (most - 1);
    chosen.push_back(moments[static_cast<std::size_t>(at)]);
  }
  return chosen;
}

struct live_at {
  std::int64_t bytes = 0;  ///< of the curve
  std::vector<stack_total> by_stack;
};

void add_rows(event_index event, live_at live, std::int64_t most_rows, stack_collector& stacks,
              flame_rows& made) {
  std::sort(live.by_stack.begin(), live.by_stack.end(), [](auto const& left, auto const& right) {
    if (left.bytes != right.bytes) return left.bytes > right.bytes;
    return to_row(left.stack) < to_row(right.stack);
  });
  std::int64_t rest_bytes = live.bytes;
  std::int64_t rest_tensors = 0;
  std::int64_t rows = 0;
  for (stack_total const& total : live.by_stack) {
    bool const has_room = rows < most_rows && total.bytes > 0;
    std::uint32_t const stack = has_room ? stacks.row_of(total.stack) : no_row;
    if (stack == no_row) {
      rest_tensors = add_saturated(rest_tensors, total.count);
      continue;
    }
    ++rows;
    rest_bytes = subtract_saturated(rest_bytes, total.bytes);
    made.stack.push_back(stack);
    made.bytes.push_back(total.bytes);
    made.tensors.push_back(total.count);
  }
  made.event.push_back(event);
  made.first_row.push_back(static_cast<std::int64_t>(made.stack.size()));
  made.rest_bytes.push_back(rest_bytes);
  made.rest_tensors.push_back(rest_tensors);
}

}  // namespace

flame_rows make_flame_rows(device_replay const& replayed, std::vector<event_index> const& moments,
                           timeline_budget const& budget, stack_collector& stacks) {
  live_history const& history = replayed.history;
  std::map<event_index, live_at> sets;
  std::vector<bool> is_wanted(history.moments.size());
  for (event_index const event : spread(moments, budget.flame_moments))
    is_wanted[history.row_of(event)] = true;
  std::vector<live_set> live =
      read_live_sets(history, [&](std::size_t row) { return is_wanted[row]; });
  for (std::size_t row = 0; row < live.size(); ++row) {
    if (!is_wanted[row]) continue;
    moment_values const& at = history.moments[row];
    sets[at.event] = {at.bytes, std::move(live[row].by_stack)};
  }
  for (peak const& at : replayed.peaks) sets[at.event] = {at.bytes, at.holders};

  flame_rows made;
  made.first_row.push_back(0);
  for (auto& [event, set] : sets) add_rows(event, std::move(set), budget.flame_rows, stacks, made);
  return made;
}

}  // namespace memreplay::reporting
