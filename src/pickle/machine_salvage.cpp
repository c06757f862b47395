// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Salvage: what an input that ended early leaves open is closed with what it has.
#include <array>
#include <span>

#include "pickle/machine.hpp"

namespace memreplay::pickle {

/// The input ended, so every open container is closed with what it has, innermost first.
value machine::close_all() {
  while (!marks_.empty()) {
    std::size_t const first = marks_.back();
    marks_.pop_back();
    // Two marks may stand on one container, which is gone after the first.
    if (first <= stack_.size()) close_region(first);
  }
  if (stack_.empty()) fail_damaged("nothing could be salvaged");
  fold_chain(0);
  value result = stack_[0];
  if (result.pending) close_pending(result, true);
  return result;
}

/// Gives what lies above a mark to the container below it. A dictionary that is cut is dropped,
/// except the outermost.
void machine::close_region(std::size_t first) {
  value const below = first == 0 ? value{} : stack_[first - 1];
  bool const is_dict = below.kind == value_kind::dict && !below.shared;
  bool const is_list = below.kind == value_kind::list && !below.shared;
  std::size_t const size = stack_.size();
  if (is_dict) {
    // Keys and values; behind a value stands the next key, or what the value waits for.
    std::size_t row = first;
    while (row + 2 < size && stack_[row + 2].kind == value_kind::text) row += 2;
    if (row + 1 < size) fold_chain(row + 1);
  } else if (is_list && size - first >= 2) {
    value const& holder = stack_[size - 2];
    if (holder.kind == value_kind::list && !holder.shared && holder.bits == 0 &&
        stack_[size - 1].kind == value_kind::dict) {
      fold_chain(size - 2);
    }
  }
  if (is_list && stack_.size() > first && stack_.back().kind == value_kind::dict) {
    // A dictionary that has just begun.
    value& last = stack_.back();
    if (last.pending || last.bits == 0) {
      if (last.pending) close_pending(last, true);
      stack_.resize(stack_.size() - 1, {});
    }
  }
  std::span<value> items(stack_.data() + first, stack_.size() - first);
  close_items(items);
  if (is_dict || is_list) {
    value& container = stack_[first - 1];
    if (container.pending) close_pending(container, is_dict);
    if (is_list && !items.empty()) {
      update(container, listener_.list_items(container.bits, items));
    } else if (is_dict) {
      update(container,
             listener_.dict_items(container.bits, items.first(items.size() / 2 * 2), true));
    }
  }
  stack_.resize(is_dict && first > 1 ? first - 1 : first, {});
}

/// The values from `first` on are open containers, each waiting for the next: puts them into each
/// other, so that only the first is left. Open dictionaries are cut and dropped.
void machine::fold_chain(std::size_t first) {
  while (stack_.size() > first + 1) {
    value item = stack_.back();
    bool const is_cut = item.kind == value_kind::dict && (item.pending || item.bits == 0);
    if (item.pending) close_pending(item, true);
    stack_.resize(stack_.size() - 1, {});
    if (is_cut) continue;
    value& holder = stack_.back();
    if (holder.kind == value_kind::list && !holder.shared) {
      wait(holder, {&item, 1});
    } else if (holder.kind == value_kind::text && stack_.size() >= first + 2) {
      value& dict = stack_[stack_.size() - 2];
      if (dict.kind != value_kind::dict || dict.shared) continue;
      std::array<value, 2> const pair{holder, item};
      stack_.resize(stack_.size() - 1, {});
      wait(dict, pair);
    }
  }
}

}  // namespace memreplay::pickle
