// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a reader of bytes tells its listener: texts, and containers, innermost first, as soon as
// their items are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "pickle/value.hpp"

namespace memreplay::pickle {

/// `count` dictionaries that follow each other and have the same keys: one row each, one cell a
/// key. All cells of a key have the same kind.
struct dict_rows {
  std::span<value const> keys;        ///< texts
  std::span<value_kind const> kinds;  ///< per key
  std::uint64_t const* cells;         ///< key `k` of row `r` stands at [r * stride + k]
  std::size_t stride;
  std::size_t count;

  [[nodiscard]] value at(std::size_t row, std::size_t key) const noexcept {
    return {.bits = cells[row * stride + key], .kind = kinds[key], .shared = true};
  }
  [[nodiscard]] value const& key(std::size_t at) const noexcept { return keys[at]; }
};

/// The listener reduces containers bottom-up: each call gets the items, already reduced themselves,
/// and returns the payload (below 2^payload_bits, not 0) that stands for the container from now on.
/// No tree is ever built.
class sink {
 public:
  virtual ~sink() = default;

  /// The handle (below 2^payload_bits) that stands for a text; equal texts get equal handles.
  [[nodiscard]] virtual std::uint64_t text(std::string_view content) = 0;
  /// Key, value, key, value ... (an even number). `current` is 0, or the payload of a dict that
  /// goes on. `is_cut`: the input ended inside this dict, so items may be missing (only when
  /// salvaging).
  [[nodiscard]] virtual std::uint64_t dict_items(std::uint64_t current,
                                                 std::span<value const> items, bool is_cut) = 0;
  /// Items to append. `current` is 0, or the payload of the list so far.
  [[nodiscard]] virtual std::uint64_t list_items(std::uint64_t current,
                                                 std::span<value const> items) = 0;
  [[nodiscard]] virtual std::uint64_t tuple_items(std::span<value const> items) = 0;

  /// Whether a list of these items stays what it is: told again, it would get the same payload and
  /// change nothing, so the reader need not tell it twice.
  [[nodiscard]] virtual bool is_settled(std::span<value const> /*items*/) const { return false; }
  /// Whether dictionaries like this one come in great numbers. The reader may then tell them as
  /// rows.
  [[nodiscard]] virtual bool comes_in_rows(std::uint64_t /*dict*/) const { return false; }
  /// Payload that the first of the next rows will get; the k-th gets this + k.
  [[nodiscard]] virtual std::uint64_t next_row() const { return 0; }
  /// Says the same as `dict_items` would for each row in turn.
  virtual void take_rows(dict_rows const& /*rows*/) {}
};

}  // namespace memreplay::pickle
