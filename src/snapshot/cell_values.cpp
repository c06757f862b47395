// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From the values of a file to the cells of a row: wrong types read as missing and are counted.
#include <bit>
#include <cmath>
#include <limits>

#include "snapshot/row_sink.hpp"

namespace memreplay::reading {

using pickle::value;
using pickle::value_kind;

namespace {

/// Names for people: short, and without anything that a terminal would obey. A hostile file cannot
/// fill the table either.
void count_name(std::map<std::string, std::int64_t>& names, std::string_view text) {
  std::string name(text.substr(0, 100));
  for (char& letter : name) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  if (names.size() >= 1000 && !names.contains(name)) name = "...";
  ++names[name];
}

string_id to_string_id(value const& text) {
  return string_id{static_cast<std::uint32_t>(text.bits)};
}

std::optional<std::int64_t> integer_of(json const& number) {
  if (number.is_number_integer()) return number.get<std::int64_t>();
  if (!number.is_number_float()) return std::nullopt;
  double const real = number.get<double>();
  if (!(real >= -0x1p63 && real < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

}  // namespace

std::optional<std::uint64_t> row_sink::odd_unsigned_of(value const& item) {
  switch (item.kind) {
    case value_kind::integer:
    case value_kind::unsigned_integer:
    case value_kind::boolean: return item.bits;
    case value_kind::real: {
      // JSON tools turn integers into floats.
      double const number = std::bit_cast<double>(item.bits);
      if (number >= 0 && number < 0x1p64) return static_cast<std::uint64_t>(number);
      if (number < 0 && number >= -0x1p63)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
      break;
    }
    case value_kind::none: return std::nullopt;
    default: break;
  }
  ++odd_.malformed_values;
  return std::nullopt;
}

std::uint64_t row_sink::odd_size_of(value const& item) {
  std::uint64_t const bytes = unsigned_of(item).value_or(0);
  bool const is_negative = item.kind == value_kind::real ? std::bit_cast<double>(item.bits) < 0
                                                         : item.kind == value_kind::integer &&
                                                               static_cast<std::int64_t>(bytes) < 0;
  if (is_negative) {
    ++odd_.negative_sizes;
    return 0;
  }
  return bytes;
}

std::string_view row_sink::text_of(value const& item) {
  if (item.kind == value_kind::text) return into_.strings[to_string_id(item)];
  if (item.kind != value_kind::none) ++odd_.malformed_values;
  return {};
}

string_id row_sink::string_of(value const& item) {
  if (item.kind == value_kind::text) return to_string_id(item);
  if (item.kind == value_kind::none) return {};
  // Hand-made metadata may be a dictionary: keep it as JSON text.
  auto const written = [&] {
    return interner_.string(
        loose_.to_json(item).dump(-1, ' ', false, json::error_handler_t::replace));
  };
  node const content = to_node(item);
  if (content.kind != node_kind::loose) return written();
  auto const [found, is_new] = loose_texts_.try_emplace(content.row);
  if (is_new) found->second = written();
  return found->second;
}

string_id row_sink::other_context_of(value const& item) {
  if (text_of(item) != "N/A") return string_of(item);
  no_context_ = item.bits;
  return {};
}

void row_sink::count_unknown_key(value const& name) {
  count_name(odd_.unknown_keys, text_of(name));
}

stack_id row_sink::stack_of(value const& item) {
  node const frames = to_node(item);
  if (frames.kind == node_kind::stack) return stack_id{static_cast<std::uint32_t>(frames.row)};
  if (frames.kind == node_kind::empty) return interner_.stack({});
  if (item.kind != value_kind::none) ++odd_.malformed_values;
  return no_stack;
}

action row_sink::other_action_of(value const& item) {
  std::string_view const name = text_of(item);
  action what = action::other;
  for (int row = 0; row < static_cast<int>(action::other); ++row) {
    if (name == to_string(static_cast<action>(row))) what = static_cast<action>(row);
  }
  if (what == action::other) {
    count_name(odd_.unknown_actions, name);
    return what;
  }
  if (item.bits >= actions_.size())
    actions_.resize(static_cast<std::size_t>(item.bits) + 1, action::other);
  actions_[static_cast<std::size_t>(item.bits)] = what;
  return what;
}

stream_id row_sink::other_stream(std::uint64_t raw) {
  auto const [found, is_new] =
      streams_.try_emplace(raw, stream_id{static_cast<std::uint32_t>(into_.streams.size())});
  if (is_new) into_.streams.push_back(raw);
  last_stream_ = raw;
  last_stream_id_ = found->second;
  return last_stream_id_;
}

pool_index row_sink::pool_row(pool_id pool) {
  // A process has a handful of pools; the latest are the likeliest.
  for (std::size_t row = into_.pools.size(); row-- > 0;) {
    if (into_.pools[row] == pool) return pool_index{static_cast<std::uint32_t>(row)};
    if (into_.pools.size() - row > 1024) break;
  }
  into_.pools.push_back(pool);
  return pool_index{static_cast<std::uint32_t>(into_.pools.size() - 1)};
}

pool_index row_sink::pool_of(value const& item) {
  node const pool = to_node(item);
  if (pool.kind == node_kind::pool) return pool_index{static_cast<std::uint32_t>(pool.row)};
  if (pool.kind == node_kind::loose) {  // a list after a round trip through JSON
    json const& pair = loose_[pool.row];
    if (pair.is_array() && pair.size() == 2) {
      std::optional<std::int64_t> const first = integer_of(pair[0]);
      std::optional<std::int64_t> const second = integer_of(pair[1]);
      if (first && second) return pool_row({*first, *second});
    }
  }
  return {};
}

std::int32_t row_sink::device_of(value const& item) {
  std::int64_t const device = signed_of(item);
  if (device < 0 || device > 65'535) {
    ++odd_.malformed_values;
    return 0;
  }
  return static_cast<std::int32_t>(device);
}

}  // namespace memreplay::reading
