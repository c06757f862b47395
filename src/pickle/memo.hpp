// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The memo: one word a slot, dense for the slots that writers use, sparse for the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <memreplay/column.hpp>

#include "pickle/value.hpp"

namespace memreplay::pickle {

/// A slot's word: kind in the top byte, payload below. 8 bytes a slot.
class memo {
 public:
  static constexpr std::uint64_t unset = ~std::uint64_t{0};
  static constexpr std::uint64_t payload_mask = (std::uint64_t{1} << payload_bits) - 1;

  [[nodiscard]] static constexpr std::uint64_t word(std::uint8_t kind,
                                                    std::uint64_t payload) noexcept {
    return std::uint64_t{kind} << payload_bits | payload;
  }
  [[nodiscard]] static constexpr std::uint8_t kind_of(std::uint64_t word) noexcept {
    return static_cast<std::uint8_t>(word >> payload_bits);
  }

  /// Slots that follow each other without a gap: what the next MEMOIZE will get.
  [[nodiscard]] std::size_t size() const noexcept { return dense_.size(); }
  [[nodiscard]] std::size_t sparse_size() const noexcept { return sparse_.size(); }

  [[nodiscard]] std::uint64_t operator[](std::uint64_t slot) const {
    if (slot < dense_.size()) [[likely]] {
      std::uint64_t const found = dense_[static_cast<std::size_t>(slot)];
      if (found != unset || sparse_.empty()) [[likely]]
        return found;
    }
    return sparse_word(slot);
  }
  void append(std::uint64_t word) { dense_.push_back(word); }
  /// Slots below `dense_limit` are kept dense; a hostile file may name any.
  void store(std::uint64_t slot, std::uint64_t word, std::size_t dense_limit) {
    if (slot >= dense_.size()) {
      if (slot >= dense_limit) {
        sparse_[slot] = word;
        return;
      }
      dense_.resize(static_cast<std::size_t>(slot) + 1, unset);
    }
    if (!sparse_.empty()) sparse_.erase(slot);
    dense_[static_cast<std::size_t>(slot)] = word;
  }

 private:
  [[nodiscard]] std::uint64_t sparse_word(std::uint64_t slot) const {
    auto const found = sparse_.find(slot);
    return found == sparse_.end() ? unset : found->second;
  }

  column<std::uint64_t> dense_;
  std::unordered_map<std::uint64_t, std::uint64_t> sparse_;
};

}  // namespace memreplay::pickle
