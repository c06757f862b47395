// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Learning a form.
#include "pickle/row_form.hpp"

#include "pickle/opcode.hpp"

namespace memreplay::pickle {
namespace {

using bytes_left = std::span<std::uint8_t const>;

/// Bytes of the memo get at the start; 0 when there is none.
std::size_t get_length(bytes_left bytes) {
  if (bytes.size() >= 2 && bytes[0] == opcode::binget) return 2;
  if (bytes.size() >= 5 && bytes[0] == opcode::long_binget) return 5;
  return 0;
}

std::uint32_t slot_of_get(bytes_left bytes) {
  return bytes[0] == opcode::binget ? bytes[1] : load<std::uint32_t>(bytes.data() + 1);
}

std::size_t put_length(bytes_left bytes) {
  if (!bytes.empty() && bytes[0] == opcode::memoize) return 1;
  if (bytes.size() >= 2 && bytes[0] == opcode::binput) return 2;
  if (bytes.size() >= 5 && bytes[0] == opcode::long_binput) return 5;
  return 0;
}

std::size_t integer_length(bytes_left bytes) {
  if (bytes.size() < 2) return 0;
  switch (bytes[0]) {
    case opcode::binint1: return 2;
    case opcode::binint2: return 3;
    case opcode::binint: return 5;
    case opcode::long1: return bytes[1] >= 1 && bytes[1] <= 8 ? std::size_t{2} + bytes[1] : 0;
    default: return 0;
  }
}

std::size_t text_length(bytes_left bytes) {
  if (bytes.size() >= 2 && bytes[0] == opcode::short_binunicode) return std::size_t{2} + bytes[1];
  if (bytes.size() >= 5 && bytes[0] == opcode::binunicode)
    return std::size_t{5} + load<std::uint32_t>(bytes.data() + 1);
  return 0;
}

std::size_t pair_length(bytes_left bytes) {
  std::size_t const first = integer_length(bytes);
  if (first == 0 || first >= bytes.size()) return 0;
  std::size_t const second = integer_length(bytes.subspan(first));
  std::size_t const both = first + second;
  return second != 0 && both < bytes.size() && bytes[both] == opcode::tuple2 ? both + 1 : 0;
}

/// With the PUT that may stand in it.
std::size_t list_length(bytes_left bytes) {
  if (bytes.empty() || bytes[0] != opcode::empty_list) return 0;
  std::size_t at = 1;
  at += put_length(bytes.subspan(at));
  if (at < bytes.size() && bytes[at] == opcode::mark) {
    ++at;
    while (get_length(bytes.subspan(at)) != 0) at += get_length(bytes.subspan(at));
    return at < bytes.size() && bytes[at] == opcode::appends ? at + 1 : 0;
  }
  std::size_t const get = get_length(bytes.subspan(at));
  bool const has_item = get != 0 && at + get < bytes.size() && bytes[at + get] == opcode::append;
  return has_item ? at + get + 1 : at;
}

std::optional<slot_kind> slot_of(value const& content) {
  switch (content.kind) {
    case value_kind::integer: return slot_kind::integer;
    case value_kind::text: return slot_kind::text;
    case value_kind::list: return slot_kind::list;
    case value_kind::tuple: return slot_kind::tuple;
    case value_kind::none:
    case value_kind::boolean: return slot_kind::constant;
    default: return std::nullopt;
  }
}

/// Bytes of the value at the start, its PUT included; 0 when it is spelled in some other way.
std::size_t value_length(slot_kind what, bytes_left bytes) {
  if (what == slot_kind::integer) return integer_length(bytes);
  if (what == slot_kind::constant)
    return !bytes.empty() && (bytes[0] == opcode::none || bytes[0] == opcode::newtrue ||
                              bytes[0] == opcode::newfalse)
               ? 1
               : 0;
  if (std::size_t const get = get_length(bytes)) return get;
  std::size_t const length = what == slot_kind::text    ? text_length(bytes)
                             : what == slot_kind::tuple ? pair_length(bytes)
                                                        : list_length(bytes);
  if (length == 0 || length > bytes.size()) return 0;
  return length + put_length(bytes.subspan(length));
}

byte_literal literal_of(bytes_left bytes) {
  byte_literal made{.length = static_cast<std::uint32_t>(bytes.size())};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    made.bytes |= std::uint64_t{bytes[at]} << 8 * at;
    made.mask |= std::uint64_t{0xff} << 8 * at;
  }
  return made;
}

}  // namespace

std::optional<row_form> row_form::learn(bytes_left bytes, std::span<value const> items) {
  row_form made;
  made.width = items.size() / 2;
  if (made.width == 0 || made.width > max_width) return std::nullopt;
  if (bytes.empty() || bytes[0] != opcode::empty_dict) return std::nullopt;

  std::size_t at = 1;
  std::size_t const put = put_length(bytes.subspan(at));
  made.style = put == 0 ? memo_style::none : put == 1 ? memo_style::memoize : memo_style::put;
  at += put;
  std::size_t const mark_at = at;
  if (at >= bytes.size() || bytes[at++] != opcode::mark) return std::nullopt;
  std::size_t const first_get = get_length(bytes.subspan(at));
  if (first_get == 0) return std::nullopt;
  made.key_slots[0] = slot_of_get(bytes.subspan(at));
  at += first_get;
  if (made.style == memo_style::put) {
    made.opening = literal_of(bytes.first(1));
    made.first_key = literal_of(bytes.subspan(mark_at, at - mark_at));
  } else {
    made.opening = literal_of(bytes.first(at));
  }

  for (std::size_t key = 0; key < made.width; ++key) {
    if (items[2 * key].kind != value_kind::text) return std::nullopt;
    value const& content = items[2 * key + 1];
    std::optional<slot_kind> const what = slot_of(content);
    if (!what) return std::nullopt;
    std::size_t const length = value_length(*what, bytes.subspan(at));
    if (length == 0) return std::nullopt;
    row_slot& slot = made.slots[key];
    slot.what = *what;
    if (*what == slot_kind::constant) slot.constant = bytes[at];
    if (*what != slot_kind::integer && *what != slot_kind::constant)
      made.named_keys[made.named++] = static_cast<std::uint8_t>(key);
    at += length;
    bytes_left const rest = bytes.subspan(at);
    bool const is_last = key + 1 == made.width;
    std::size_t const after =
        is_last ? std::size_t{!rest.empty() && rest[0] == opcode::setitems} : get_length(rest);
    if (after == 0) return std::nullopt;
    if (!is_last) made.key_slots[key + 1] = slot_of_get(rest);
    slot.after = literal_of(rest.first(after));
    at += after;
    made.keys[key] = items[2 * key];
    made.kinds[key] = content.kind;
  }
  return at == bytes.size() ? std::optional(made) : std::nullopt;
}

}  // namespace memreplay::pickle
