// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Dictionaries read by their forms, before anyone knows what the memo says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <memreplay/column.hpp>

#include "pickle/phrase_table.hpp"

namespace memreplay::pickle {

/// First word of a row: where it starts, and which of its values were memoized. Bit 0 is the
/// dictionary, bit k + 1 the value of key k.
struct row_header {
  std::uint32_t begin = 0;  ///< bytes from the start of the part
  std::uint16_t memoized = 0;
  std::uint16_t by_put = 0;  ///< those whose slot is named: one of `row_batch::puts` each, in order
};

/// A cell of a text, list or tuple, as long as the memo has not been asked.
enum class cell_kind : std::uint8_t {
  get,         ///< number: memo slot
  spelled,     ///< number: phrase of the reader's table
  empty_list,  ///< number: 0
};
[[nodiscard]] constexpr std::uint64_t to_cell(cell_kind kind, std::uint64_t number) noexcept {
  return number << 2 | static_cast<std::uint64_t>(kind);
}
[[nodiscard]] constexpr cell_kind kind_of_cell(std::uint64_t cell) noexcept {
  return static_cast<cell_kind>(cell & 3);
}
[[nodiscard]] constexpr std::uint64_t number_of_cell(std::uint64_t cell) noexcept {
  return cell >> 2;
}

/// Rows of one form that follow each other without a byte in between.
struct row_run {
  std::uint32_t begin = 0;  ///< bytes from the start of the part
  std::uint32_t end = 0;
  std::uint32_t form = 0;
  std::uint32_t rows = 0;
  std::size_t first_cell = 0;  ///< each row: its header, then a cell a key
  std::size_t first_put = 0;
};

/// What one reader found in one part.
struct row_batch {
  std::size_t reader = 0;  ///< whose phrases the cells name
  std::vector<row_run> runs;
  column<std::uint64_t> cells;
  column<std::uint32_t> puts;
  std::vector<phrase> new_phrases;  ///< numbered on from those of the reader's earlier batches

  void clear() {
    runs.clear();
    cells.clear();
    puts.clear();
    new_phrases.clear();
  }
};

}  // namespace memreplay::pickle
