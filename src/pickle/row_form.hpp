// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The bytes that all dictionaries of one kind have in common, learnt from one of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pickle/load.hpp"
#include "pickle/value.hpp"

namespace memreplay::pickle {

/// Up to eight bytes that must stand in a place; compared in one load.
struct byte_literal {
  std::uint64_t bytes = 0;
  std::uint64_t mask = 0;
  std::uint32_t length = 0;

  [[nodiscard]] bool matches(std::uint8_t const* at) const noexcept {
    return ((load<std::uint64_t>(at) ^ bytes) & mask) == 0;
  }
  friend bool operator==(byte_literal const&, byte_literal const&) = default;
};

enum class slot_kind : std::uint8_t { integer, text, list, tuple, constant };

/// One value, and what stands between it and the next: the next key's memo get, or SETITEMS.
struct row_slot {
  slot_kind what = slot_kind::constant;
  std::uint8_t constant = 0;  ///< the opcode, when the value is None or a boolean
  byte_literal after;
  friend bool operator==(row_slot const&, row_slot const&) = default;
};

/// EMPTY_DICT MARK key value ... SETITEMS with keys from the memo. Values are integers of any
/// width, texts spelled out or from the memo, lists of memo gets or lists from the memo, pairs of
/// integers or tuples from the memo, None and booleans; each may be followed by a MEMOIZE or PUT.
struct row_form {
  static constexpr std::size_t max_width = 15;

  enum class memo_style : std::uint8_t {
    none,     ///< the dictionary has no slot, or gets one when it is complete
    memoize,  ///< MEMOIZE after EMPTY_DICT
    put,      ///< BINPUT or LONG_BINPUT after EMPTY_DICT
  };

  memo_style style = memo_style::none;
  byte_literal opening;    ///< to the first value; with `put` just EMPTY_DICT
  byte_literal first_key;  ///< with `put`: MARK and the first key
  std::size_t width = 0;   ///< keys
  std::array<row_slot, max_width> slots{};
  std::size_t named = 0;  ///< keys whose values are texts, lists or tuples
  std::array<std::uint8_t, max_width> named_keys{};
  std::array<value, max_width> keys{};
  std::array<std::uint32_t, max_width> key_slots{};  ///< of the memo
  std::array<value_kind, max_width> kinds{};

  /// From a dictionary that was just read: its `bytes`, SETITEMS included, and its items (key,
  /// value ...). None when it has no such form.
  [[nodiscard]] static std::optional<row_form> learn(std::span<std::uint8_t const> bytes,
                                                     std::span<value const> items);
  /// Whether the same bytes fit both.
  [[nodiscard]] bool reads_like(row_form const& other) const noexcept {
    return style == other.style && opening == other.opening && first_key == other.first_key &&
           width == other.width && slots == other.slots && kinds == other.kinds;
  }
};

}  // namespace memreplay::pickle
