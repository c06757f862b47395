// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a reader of bytes tells its listener: containers, innermost first, as soon as their items
// are known.
#pragma once

#include <cstdint>
#include <span>

#include "pickle/value.hpp"

namespace memreplay::pickle {

/// The listener reduces containers bottom-up: each call gets the items, already reduced themselves,
/// and returns the payload (below 2^payload_bits, not 0) that stands for the container from now on.
/// No tree is ever built.
class sink {
 public:
  virtual ~sink() = default;

  /// Before the first item; `texts` outlives the run.
  virtual void begin(text_reader const& texts) = 0;
  /// Key, value, key, value ... (an even number). `current` is 0, or the payload of a dict that
  /// goes on. `is_cut`: the input ended inside this dict, so items may be missing (only when
  /// salvaging).
  [[nodiscard]] virtual std::uint64_t dict_items(std::uint64_t current,
                                                 std::span<value const> items, bool is_cut) = 0;
  /// Items to append. `current` is 0, or the payload of the list so far.
  [[nodiscard]] virtual std::uint64_t list_items(std::uint64_t current,
                                                 std::span<value const> items) = 0;
  [[nodiscard]] virtual std::uint64_t tuple_items(std::span<value const> items) = 0;
};

}  // namespace memreplay::pickle
