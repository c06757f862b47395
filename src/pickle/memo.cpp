// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The memo's less usual ways.
#include "pickle/memo.hpp"

#include <algorithm>

#include <memreplay/error.hpp>

namespace memreplay::pickle {

void memo::store(std::uint64_t slot, std::uint64_t word, std::size_t dense_limit) {
  if (slot >= dense_.size()) {
    if (slot >= dense_limit) {
      sparse_[slot] = word;
      return;
    }
    dense_.resize(static_cast<std::size_t>(slot) + 1, unset_cell);
  }
  if (!sparse_.empty()) sparse_.erase(slot);
  dense_[static_cast<std::size_t>(slot)] = to_cell(word);
}

std::uint32_t memo::to_other_cell(std::uint64_t word) {
  std::uint64_t const upper = word & ~low_mask;
  if ((word & low_mask) <= number_mask) {
    auto const* const known = std::find(uppers_.begin(), uppers_.begin() + group_count_, upper);
    auto const group = static_cast<std::uint32_t>(known - uppers_.begin());
    if (group < odd_group) {
      if (group == group_count_) uppers_[group_count_++] = upper;
      groups_[place_of(word)] = static_cast<std::uint8_t>(group);
      return group << number_bits | static_cast<std::uint32_t>(word & number_mask);
    }
  }
  // A slot that is stored again and again leaves its old rows behind: a few bytes for each opcode.
  if (odd_.size() >= number_mask)
    throw error(error_code::refused, "refused: more odd memo entries than any snapshot has");
  odd_.push_back(word);
  return first_odd_cell | static_cast<std::uint32_t>(odd_.size() - 1);
}

std::uint64_t memo::odd_word(std::uint64_t slot) const {
  std::uint32_t const cell =
      slot < dense_.size() ? dense_[static_cast<std::size_t>(slot)] : unset_cell;
  if (cell != unset_cell) return odd_[cell & number_mask];
  auto const found = sparse_.find(slot);
  return found == sparse_.end() ? unset : found->second;
}

}  // namespace memreplay::pickle
