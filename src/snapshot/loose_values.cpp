// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Building loose values within their budget.
#include "snapshot/loose_values.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "snapshot/node.hpp"

namespace memreplay::reading {
namespace {

constexpr std::uint32_t values_per_container = 10'000;
constexpr std::uint64_t values_in_all = 1'000'000;
constexpr std::uint32_t depth_limit = 16;

}  // namespace

std::uint64_t loose_values::add_dict(std::span<pickle::value const> key_values) {
  entries_.push_back({.content = json::object()});
  extend_dict(entries_.size() - 1, key_values);
  return entries_.size() - 1;
}

std::uint64_t loose_values::add_list(std::span<pickle::value const> items) {
  entries_.push_back({.content = json::array()});
  extend_list(entries_.size() - 1, items);
  return entries_.size() - 1;
}

void loose_values::extend_dict(std::uint64_t row, std::span<pickle::value const> key_values) {
  entry& into = entries_[row];
  for (std::size_t at = 0; at + 1 < key_values.size(); at += 2) {
    if (weight_of(key_values[at]) > 16 || !admit(into, key_values[at + 1])) {
      ++dropped_;
      continue;
    }
    json const name = to_json(key_values[at]);
    into.content[name.is_string() ? name.get<std::string>()
                                  : name.dump(-1, ' ', false, json::error_handler_t::replace)] =
        to_json(key_values[at + 1]);
  }
}

void loose_values::extend_list(std::uint64_t row, std::span<pickle::value const> items) {
  entry& into = entries_[row];
  for (pickle::value const& item : items) {
    if (admit(into, item)) {
      into.content.push_back(to_json(item));
    } else {
      ++dropped_;
    }
  }
}

std::uint64_t loose_values::weight_of(pickle::value const& item) const {
  if (item.kind == pickle::value_kind::text) return 1 + text_of(item).size() / 64;
  node const child = to_node(item);
  return child.kind == node_kind::loose ? 1 + std::uint64_t{entries_[child.row].values} : 1;
}

bool loose_values::admit(entry& into, pickle::value const& item) {
  std::uint64_t const values = weight_of(item);
  std::uint32_t depth = 0;
  if (node const child = to_node(item); child.kind == node_kind::loose)
    depth = entries_[child.row].depth;
  if (into.values + values > values_per_container || total_values_ + values > values_in_all ||
      depth >= depth_limit) {
    return false;
  }
  into.values += static_cast<std::uint32_t>(values);
  into.depth = std::max(into.depth, depth + 1);
  total_values_ += values;
  return true;
}

json loose_values::to_json(pickle::value const& item) const {
  using pickle::value_kind;
  switch (item.kind) {
    case value_kind::boolean: return item.bits != 0;
    case value_kind::integer: return static_cast<std::int64_t>(item.bits);
    case value_kind::unsigned_integer: return item.bits;
    case value_kind::real: return std::bit_cast<double>(item.bits);
    case value_kind::text: return std::string(text_of(item));
    case value_kind::none:
    case value_kind::huge_integer: return nullptr;
    case value_kind::list:
    case value_kind::tuple:
    case value_kind::dict: break;
  }
  node const container = to_node(item);
  if (container.kind == node_kind::loose) return entries_[container.row].content;
  if (container.kind == node_kind::pool) {
    pool_id const& pair = pools_[container.row];
    return json::array({pair.first, pair.second});
  }
  if (container.kind != node_kind::empty) return nullptr;
  return item.kind == value_kind::dict ? json::object() : json::array();
}

}  // namespace memreplay::reading
