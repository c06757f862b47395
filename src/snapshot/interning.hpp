// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Equal strings, frames and stacks get one id each: a file spells them out again and again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <memreplay/column.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reading {

/// Open-addressing set of row numbers of some table: knows hashes and rows, asks `is_equal(row)` on
/// a match.
class row_index {
 public:
  static constexpr std::uint32_t absent = 0xffff'ffff;

  template <class IsEqualT>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, IsEqualT is_equal) const {
    if (slots_.empty()) return absent;
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot].row == absent) return absent;
      if (slots_[slot].hash == hash && is_equal(slots_[slot].row)) return slots_[slot].row;
    }
  }
  /// `row` must not be there yet.
  void insert(std::uint64_t hash, std::uint32_t row);

 private:
  struct entry {
    std::uint64_t hash = 0;
    std::uint32_t row = absent;
  };
  void place(entry item);

  column<entry> slots_;
  std::size_t used_ = 0;
};

/// Interns into the tables of one snapshot, which must outlive it.
class interner {
 public:
  explicit interner(snapshot& into);

  [[nodiscard]] string_id string(std::string_view text);
  [[nodiscard]] frame_id frame(memreplay::frame const& content);
  [[nodiscard]] stack_id stack(std::span<frame_id const> frames);

 private:
  snapshot& into_;
  row_index strings_, frames_, stacks_;
};

}  // namespace memreplay::reading
