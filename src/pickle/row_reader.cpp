// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The loop over the keys of a form. It is the hot one: a multi-gigabyte snapshot is little else.
#include "pickle/row_reader.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "pickle/gets.hpp"
#include "pickle/opcode.hpp"

namespace memreplay::pickle {
namespace {

/// Bytes after the opcode, for BININT1, BININT2 and BININT.
constexpr std::array<std::uint8_t, 256> integer_widths = [] {
  std::array<std::uint8_t, 256> widths{};
  widths[opcode::binint1] = 1;
  widths[opcode::binint2] = 2;
  widths[opcode::binint] = 4;
  return widths;
}();

/// Reads an integer of at most 64 bits and moves `at` behind it.
[[gnu::always_inline]] inline bool take_integer(std::uint8_t const*& at, std::uint64_t& number) {
  std::uint8_t const code = *at;
  if (code == opcode::long1) {
    std::uint32_t const width = at[1];
    if (width - 1 > 7) return false;
    std::uint32_t const unused_bits = 64 - 8 * width;
    number = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(load<std::uint64_t>(at + 2) << unused_bits) >> unused_bits);
    at += 2 + width;
    return true;
  }
  std::uint32_t const width = integer_widths[code];
  if (width == 0) return false;
  // Only the widest of the three is signed.
  std::uint64_t const low = load<std::uint64_t>(at + 1);
  std::uint64_t const masked = low & ((std::uint64_t{1} << 8 * width) - 1);
  number = width == 4 ? static_cast<std::uint64_t>(std::int64_t{
                            static_cast<std::int32_t>(static_cast<std::uint32_t>(low))})
                      : masked;
  at += 1 + width;
  return true;
}

[[gnu::always_inline]] inline bool take_get(std::uint8_t const*& at, std::uint64_t& cell) {
  if (*at == opcode::binget) {
    cell = to_cell(cell_kind::get, at[1]);
    at += 2;
    return true;
  }
  if (*at == opcode::long_binget) {
    cell = to_cell(cell_kind::get, load<std::uint32_t>(at + 1));
    at += 5;
    return true;
  }
  return false;
}

/// Collects which values of a row are memoized.
class memo_marks {
 public:
  explicit memo_marks(column<std::uint32_t>& puts) : puts_(puts) {}

  [[gnu::always_inline]] inline void take(std::uint8_t const*& at, std::size_t bit) {
    if (*at == opcode::memoize) {
      memoized_ |= 1U << bit;
      ++at;
    } else if (*at == opcode::binput) {
      take_put(bit, at[1]);
      at += 2;
    } else if (*at == opcode::long_binput) {
      take_put(bit, load<std::uint32_t>(at + 1));
      at += 5;
    }
  }
  void take_put(std::size_t bit, std::uint32_t slot) {
    memoized_ |= 1U << bit;
    by_put_ |= 1U << bit;
    puts_.push_back(slot);
  }
  [[nodiscard]] bool has(std::size_t bit) const noexcept { return (memoized_ >> bit & 1) != 0; }
  [[nodiscard]] row_header header(std::size_t begin) const noexcept {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint16_t>(memoized_),
            static_cast<std::uint16_t>(by_put_)};
  }
  void start(bool dict_is_memoized) noexcept { memoized_ = dict_is_memoized ? 1 : 0; }

 private:
  column<std::uint32_t>& puts_;
  std::uint32_t memoized_ = 0;
  std::uint32_t by_put_ = 0;
};

}  // namespace

row_reader::row_reader(form_list const& forms, std::size_t number)
    : forms_(forms), number_(number), followers_(std::size_t{1} << 14, phrase_table::absent) {}

bool form_list::add(row_form const& form) {
  std::size_t const row = size_.load(std::memory_order_relaxed);
  if (row == forms_.size()) return false;
  forms_[row] = form;
  size_.store(row + 1, std::memory_order_release);
  return true;
}

bool row_reader::may_start(std::uint8_t const* at) const noexcept {
  for (std::size_t row = 0; row < forms_.size(); ++row) {
    if (forms_[row].opening.matches(at)) return true;
  }
  return false;
}

std::uint32_t row_reader::intern(phrase bytes, row_batch& into) {
  into.reader = number_;
  std::size_t const known = phrases_.size();
  std::uint32_t const number = phrases_.intern(bytes);
  if (phrases_.size() != known) into.new_phrases.push_back(phrases_[number]);
  return number;
}

/// Reads a run of gets up to the APPENDS that ends it, and moves `at` there. What came after the
/// same two runs before is tried first: a program allocates in the same order again and again.
bool row_reader::take_list(std::uint8_t const*& at, std::uint8_t const* last, row_batch& into,
                           std::uint32_t& number) {
  std::size_t const place =
      (std::size_t{latest_[0]} * 0x9e37'79b1U + latest_[1]) % followers_.size();
  std::uint32_t const guess = followers_[place];
  bool is_right = false;
  if (guess != phrase_table::absent) {
    phrase const known = phrases_[guess];
    is_right = known.size() < static_cast<std::size_t>(last - at) &&
               at[known.size()] == opcode::appends &&
               std::memcmp(at, known.data(), known.size()) == 0;
    if (is_right) {
      at += known.size();
      number = guess;
    }
  }
  if (!is_right) {
    std::uint8_t const* const end = end_of_gets(at, last);
    if (end == at || end >= last || *end != opcode::appends) return false;
    number = intern({at, end}, into);
    if (number == phrase_table::absent) return false;
    followers_[place] = number;
    at = end;
  }
  latest_ = {number, latest_[0]};
  return true;
}

/// Returns the byte behind the row; null when the bytes are something else, or not all there. Bytes
/// up to `read_slack` behind `last` are looked at: they are zero, which fits nothing.
std::uint8_t const* row_reader::read_row(row_form const& form, std::uint8_t const* first,
                                         std::uint8_t const* at, std::uint8_t const* last,
                                         row_batch& into) {
  if (!form.opening.matches(at)) return nullptr;
  std::uint8_t const* const begin = at;
  at += form.opening.length;
  memo_marks marks(into.puts);
  if (form.style == row_form::memo_style::put) {
    marks.take(at, 0);
    if (!marks.has(0) || !form.first_key.matches(at)) return nullptr;
    at += form.first_key.length;
  }
  marks.start(form.style != row_form::memo_style::none);

  std::uint64_t* const cells = into.cells.extend(form.width + 1) + 1;
  for (std::size_t key = 0; key < form.width; ++key) {
    row_slot const& slot = form.slots[key];
    std::uint64_t& cell = cells[key];
    auto const take_phrase = [&](phrase bytes) {
      std::uint32_t const number = intern(bytes, into);
      cell = to_cell(cell_kind::spelled, number);
      return number != phrase_table::absent;
    };
    switch (slot.what) {
      case slot_kind::integer:
        if (!take_integer(at, cell)) return nullptr;
        break;
      case slot_kind::constant:
        if (*at != slot.constant) return nullptr;
        cell = slot.constant == opcode::newtrue;
        ++at;
        break;
      case slot_kind::text: {
        if (take_get(at, cell)) break;
        std::size_t length = 0;
        if (*at == opcode::short_binunicode) {
          length = std::size_t{2} + at[1];
        } else if (*at == opcode::binunicode) {
          length = std::size_t{5} + load<std::uint32_t>(at + 1);
        } else {
          return nullptr;
        }
        if (length > static_cast<std::size_t>(last - at)) return nullptr;
        if (!take_phrase({at, length})) return nullptr;
        at += length;
        marks.take(at, key + 1);
        break;
      }
      case slot_kind::tuple: {
        if (take_get(at, cell)) break;
        std::uint8_t const* const pair = at;
        std::uint64_t number = 0;
        if (!take_integer(at, number) || !take_integer(at, number)) return nullptr;
        if (*at++ != opcode::tuple2) return nullptr;
        if (!take_phrase({pair, at})) return nullptr;
        marks.take(at, key + 1);
        break;
      }
      case slot_kind::list: {
        if (take_get(at, cell)) break;
        if (*at++ != opcode::empty_list) return nullptr;
        marks.take(at, key + 1);
        bool const was_memoized = marks.has(key + 1);
        cell = to_cell(cell_kind::empty_list, 0);
        if (*at == opcode::mark) {
          if (++at >= last) return nullptr;
          if (*at != opcode::appends) {
            std::uint32_t number = 0;
            if (!take_list(at, last, into, number)) return nullptr;
            cell = to_cell(cell_kind::spelled, number);
          }
          ++at;
        } else if (*at == opcode::binget || *at == opcode::long_binget) {
          // One item and APPEND; else the get is the next key, and the list stays empty.
          std::uint8_t const* const end = at + (*at == opcode::binget ? 2 : 5);
          if (end < last && *end == opcode::append) {
            if (!take_phrase({at, end})) return nullptr;
            at = end + 1;
          }
        }
        if (!was_memoized) marks.take(at, key + 1);
        break;
      }
    }
    if (at > last || !slot.after.matches(at)) return nullptr;
    at += slot.after.length;
  }
  if (form.style == row_form::memo_style::none) marks.take(at, 0);
  if (at > last) return nullptr;
  cells[-1] = std::bit_cast<std::uint64_t>(marks.header(static_cast<std::size_t>(begin - first)));
  return at;
}

bool row_reader::read_run(std::uint8_t const* first, std::uint8_t const* at,
                          std::uint8_t const* last, std::size_t row_limit, row_batch& into) {
  into.reader = number_;
  std::size_t const forms = forms_.size();
  for (std::size_t row = 0; row < forms; ++row) {
    row_form const& form = forms_[row];
    row_run run{.begin = static_cast<std::uint32_t>(at - first),
                .form = static_cast<std::uint32_t>(row),
                .first_cell = into.cells.size(),
                .first_put = into.puts.size()};
    while (run.rows < row_limit && at < last) {
      std::size_t const kept_cells = into.cells.size();
      std::size_t const kept_puts = into.puts.size();
      std::uint8_t const* const next = read_row(form, first, at, last, into);
      if (next == nullptr) {
        into.cells.shrink_to(kept_cells);
        into.puts.shrink_to(kept_puts);
        break;
      }
      at = next;
      ++run.rows;
    }
    if (run.rows == 0) continue;
    run.end = static_cast<std::uint32_t>(at - first);
    into.runs.push_back(run);
    return true;
  }
  return false;
}

void row_reader::read_all(std::uint8_t const* first, std::uint8_t const* last, row_batch& into) {
  std::uint8_t const* at = first;
  while (at < last && forms_.size() > 0) {
    at = static_cast<std::uint8_t const*>(
        std::memchr(at, opcode::empty_dict, static_cast<std::size_t>(last - at)));
    if (at == nullptr) return;
    if (read_run(first, at, last, std::numeric_limits<std::size_t>::max(), into)) {
      at = first + into.runs.back().end;
    } else {
      ++at;
    }
  }
}

}  // namespace memreplay::pickle
