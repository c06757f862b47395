// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reads dictionaries of known forms straight from their bytes. Needs nothing that stands before
// them, so parts of a file can be read at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pickle/phrase_table.hpp"
#include "pickle/row_batch.hpp"
#include "pickle/row_form.hpp"

namespace memreplay::pickle {

/// Forms learnt so far: one thread adds, any number read.
class form_list {
 public:
  static constexpr std::size_t capacity = 8;

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] row_form const& operator[](std::size_t row) const noexcept { return forms_[row]; }
  /// False when the list is full; traces have one form, or two when some events have no stack.
  bool add(row_form const& form);
  [[nodiscard]] bool is_full() const noexcept { return size() == capacity; }

 private:
  std::array<row_form, capacity> forms_;
  std::atomic<std::size_t> size_ = 0;
};

/// Bytes behind the end of a part that a reader may load (never use): they must be zero.
inline constexpr std::size_t read_slack = 64;

class row_reader {
 public:
  /// `forms` must outlive the reader; `number` goes into its batches.
  row_reader(form_list const& forms, std::size_t number);

  /// Whether a row might start here.
  [[nodiscard]] bool may_start(std::uint8_t const* at) const noexcept;
  /// Appends the run of at most `row_limit` rows that starts at `at`, which lies in the part
  /// [first, last). False when there is none.
  bool read_run(std::uint8_t const* first, std::uint8_t const* at, std::uint8_t const* last,
                std::size_t row_limit, row_batch& into);
  /// All runs of a part, wherever they start. What lies between is left to the machine, and so is
  /// the question whether a run starts at an opcode at all.
  void read_all(std::uint8_t const* first, std::uint8_t const* last, row_batch& into);

  /// Number of a phrase in this reader's table; `phrase_table::absent` when that is full.
  [[nodiscard]] std::uint32_t intern(phrase bytes, row_batch& into);

 private:
  std::uint8_t const* read_row(row_form const& form, std::uint8_t const* first,
                               std::uint8_t const* at, std::uint8_t const* last, row_batch& into);

  bool take_list(std::uint8_t const*& at, std::uint8_t const* last, row_batch& into,
                 std::uint32_t& number);

  form_list const& forms_;
  std::size_t number_;
  phrase_table phrases_;
  std::array<std::uint32_t, 2> latest_{};  ///< runs of gets read last
  std::vector<std::uint32_t> followers_;   ///< by the two latest runs: which came next
};

}  // namespace memreplay::pickle
