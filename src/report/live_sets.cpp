// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live sets of a history, put together again from its changes.
#include "report/live_sets.hpp"

#include <map>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

void add(stack_total& sum, live_change const& change) {
  sum.bytes = add_saturated(sum.bytes, change.bytes);
  sum.count += change.count;
}

}  // namespace

std::vector<live_set> read_live_sets(live_history const& history,
                                     std::function<bool(std::size_t row)> const& wants_stacks) {
  std::vector<live_set> sets(history.moments.size());
  std::map<std::uint32_t, stack_total> live;
  stack_total all;
  stack_total carried_in;
  auto change = history.changes.begin();
  for (std::size_t row = 0; row < sets.size(); ++row) {
    for (; change != history.changes.end() && change->moment == static_cast<std::int64_t>(row);
         ++change) {
      stack_total& total = live[to_row(change->stack)];
      total.stack = change->stack;
      add(total, *change);
      if (total.count == 0 && total.bytes == 0) live.erase(to_row(change->stack));
      add(all, *change);
      if (change->is_carried_in) add(carried_in, *change);
    }
    sets[row] = {all.bytes, all.count, carried_in.bytes, carried_in.count, {}};
    if (!wants_stacks(row)) continue;
    for (auto const& [stack, total] : live) sets[row].by_stack.push_back(total);
  }
  return sets;
}

live_set live_set_at(live_history const& history, event_index event) {
  std::size_t const wanted = history.row_of(event);
  return read_live_sets(history, [wanted](std::size_t row) { return row == wanted; })[wanted];
}

}  // namespace memreplay::reporting
