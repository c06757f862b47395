// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The memo: one word a slot, dense for the slots that writers use, sparse for the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <memreplay/column.hpp>

#include "pickle/value.hpp"

namespace memreplay::pickle {

/// A slot's word has the kind in its top byte and the payload below. The two upper bytes of all
/// words of a file take a handful of values, and payloads below them are row numbers: so a slot is
/// kept in 4 bytes, 5 bits for the upper bytes and 27 for the number; what does not fit is kept
/// aside.
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
      std::uint32_t const cell = dense_[static_cast<std::size_t>(slot)];
      if (cell < first_odd_cell) [[likely]]
        return uppers_[cell >> number_bits] | (cell & number_mask);
    }
    return odd_word(slot);
  }
  void append(std::uint64_t word) { dense_.push_back(to_cell(word)); }
  /// Slots below `dense_limit` are kept dense; a hostile file may name any.
  void store(std::uint64_t slot, std::uint64_t word, std::size_t dense_limit);

 private:
  static constexpr int number_bits = 27;
  static constexpr std::uint32_t number_mask = (std::uint32_t{1} << number_bits) - 1;
  static constexpr std::uint32_t odd_group = 31;  ///< rows of `odd_`, and `unset_cell`
  static constexpr std::uint32_t first_odd_cell = odd_group << number_bits;
  static constexpr std::uint32_t unset_cell = ~std::uint32_t{0};
  static constexpr std::uint64_t low_mask = (std::uint64_t{1} << 48) - 1;

  [[nodiscard]] static constexpr std::size_t place_of(std::uint64_t word) noexcept {
    return static_cast<std::size_t>((word >> payload_bits) * 32 + (word >> 48 & 0xff)) % 512;
  }
  [[nodiscard]] std::uint32_t to_cell(std::uint64_t word) {
    std::uint32_t const group = groups_[place_of(word)];
    if ((word & ~low_mask) == uppers_[group] && (word & low_mask) <= number_mask) [[likely]]
      return group << number_bits | static_cast<std::uint32_t>(word & number_mask);
    return to_other_cell(word);
  }
  [[nodiscard]] std::uint32_t to_other_cell(std::uint64_t word);
  [[nodiscard]] std::uint64_t odd_word(std::uint64_t slot) const;

  column<std::uint32_t> dense_;
  std::array<std::uint64_t, odd_group> uppers_{};  ///< per group: the upper two bytes of its words
  std::array<std::uint8_t, 512> groups_{};         ///< by the hash of a word's upper bytes
  std::uint32_t group_count_ = 1;                  ///< group 0 is that of zeros
  std::vector<std::uint64_t> odd_;
  std::unordered_map<std::uint64_t, std::uint64_t> sparse_;
};

}  // namespace memreplay::pickle
