// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Rows: what was read by form gets its meaning from the memo.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "pickle/load.hpp"
#include "pickle/machine.hpp"
#include "pickle/number_text.hpp"
#include "pickle/opcode.hpp"

namespace memreplay::pickle {
namespace {

/// Rows that are told at once: their cells stay in the cache.
constexpr std::size_t rows_at_once = 256;

/// The integer at the start of `bytes`, which is moved behind it. The reader has checked the form.
value take_integer(phrase& bytes) {
  std::size_t head = 1;
  std::size_t width = 0;
  switch (bytes[0]) {
    case opcode::binint1: width = 1; break;
    case opcode::binint2: width = 2; break;
    case opcode::binint: width = 4; break;
    default: head = 2; width = bytes[1];
  }
  phrase const digits = bytes.subspan(head, width);
  bool const is_signed = width != 1 && width != 2 && head == 1;
  bytes = bytes.subspan(head + width);
  if (head == 2 || is_signed) return integer_from_bytes(digits);
  return {.bits = width == 1 ? std::uint64_t{digits[0]} : load<std::uint16_t>(digits.data()),
          .kind = value_kind::integer};
}

}  // namespace

/// At EMPTY_DICT: pushes the rows that start here, as many as are known. False when the opcode must
/// be executed.
bool machine::push_rows() {
  if (input_.forms().size() == 0 || !reader_.may_start(opcode_at_)) return false;
  if (offset_of(opcode_at_) < no_rows_before_) return false;
  if (std::ptrdiff_t const at = opcode_at_ - part_->first(); at >= 0) {
    std::vector<row_run> const& ahead = part_->rows.runs;
    auto const begin = static_cast<std::size_t>(at);
    while (next_run_ < ahead.size() && ahead[next_run_].begin < begin) ++next_run_;
    if (next_run_ < ahead.size() && ahead[next_run_].begin == begin)
      return push_run(part_->first(), part_->rows, ahead[next_run_]);
  }
  found_.clear();
  bool const is_found = reader_.read_run(opcode_at_, opcode_at_, last_, rows_at_once, found_);
  learn_phrases(found_);
  return is_found && push_run(opcode_at_, found_, found_.runs.front());
}

/// `base` is where the offsets of the run count from. A row that cannot be told as one is left to
/// its opcodes: then false, with the machine at its EMPTY_DICT.
bool machine::push_run(std::uint8_t const* base, row_batch& batch, row_run const& run) {
  if (!has_its_keys(run.form)) return false;
  row_form const& form = input_.forms()[run.form];
  std::size_t const stride = form.width + 1;
  bool const is_dict_first = form.style != row_form::memo_style::none;
  std::uint32_t const* put = batch.puts.data() + run.first_put;
  std::uint32_t const* const last_put = batch.puts.end();

  for (std::size_t first_row = 0; first_row < run.rows; first_row += rows_at_once) {
    std::size_t const limit = std::min(rows_at_once, run.rows - first_row);
    std::uint64_t* const cells = batch.cells.data() + run.first_cell + first_row * stride;
    std::uint64_t const payload = listener_.next_row();
    std::size_t const open_values = stack_.size();
    std::size_t row = 0;
    bool const has_room = open_values + limit < value_limit() &&
                          memo_.size() + memo_.sparse_size() + limit * stride < memo_limit();
    for (; has_room && row < limit; ++row) {
      std::uint64_t* const of_row = cells + row * stride;
      auto const header = std::bit_cast<row_header>(of_row[0]);
      if (!resolve_row(form, of_row + 1, batch)) break;
      value made{.bits = payload + row, .kind = value_kind::dict};
      if (header.by_put != 0 &&
          !can_memoize(header, {put, static_cast<std::size_t>(last_put - put)}))
        break;
      auto const memoize = [&](std::size_t bit, value_kind kind, std::uint64_t bits) {
        std::uint64_t const word = memo::word(static_cast<std::uint8_t>(kind), bits);
        std::size_t slot = memo_.size();
        if ((header.by_put >> bit & 1) == 0) {
          memo_.append(word);
        } else {
          slot = *put++;
          memo_.store(slot, word, memo_limit());
        }
        if (bit == 0) made.memo = static_cast<std::uint32_t>(slot);
      };
      std::uint32_t memoized = header.memoized;
      if (is_dict_first && (memoized & 1) != 0) memoize(0, value_kind::dict, made.bits);
      for (std::uint32_t left = memoized & ~1U; left != 0; left &= left - 1) {
        auto const bit = static_cast<std::size_t>(std::countr_zero(left));
        memoize(bit, form.kinds[bit - 1], of_row[bit]);
      }
      if (!is_dict_first && (memoized & 1) != 0) memoize(0, value_kind::dict, made.bits);
      stack_.push_back(made);
    }
    if (row > 0) {
      listener_.take_rows({.keys = {form.keys.data(), form.width},
                           .kinds = {form.kinds.data(), form.width},
                           .cells = cells + 1,
                           .stride = stride,
                           .count = row});
    }
    if (row == limit) continue;
    auto const begin_of = [&](std::size_t which) {
      return std::bit_cast<row_header>(cells[which * stride]).begin;
    };
    bool const is_last = first_row + row + 1 == run.rows;
    opcode_at_ = base + begin_of(row);
    dict_at_ = opcode_at_;
    next_ = opcode_at_ + 1;
    no_rows_before_ = offset_of(base + (is_last ? run.end : begin_of(row + 1)));
    return false;
  }
  next_ = base + run.end;
  dict_at_ = nullptr;
  return true;
}

/// Whether the slots of the form's keys still hold what they held when it was learnt.
bool machine::has_its_keys(std::size_t form) {
  if (form_ages_[form] == memo_age_) return true;
  row_form const& learnt = input_.forms()[form];
  for (std::size_t key = 0; key < learnt.width; ++key) {
    if (memo_[learnt.key_slots[key]] !=
        memo::word(static_cast<std::uint8_t>(value_kind::text), learnt.keys[key].bits))
      return false;
  }
  form_ages_[form] = memo_age_;
  return true;
}

/// Replaces what the cells name by what it is: handles of texts, payloads of lists and tuples. What
/// it tells the listener until it fails, the row's opcodes will tell again, in the same order.
bool machine::resolve_row(row_form const& form, std::uint64_t* cells, row_batch const& batch) {
  for (std::size_t at = 0; at < form.named; ++at) {
    std::size_t const key = form.named_keys[at];
    std::uint64_t word = 0;
    std::uint64_t const number = number_of_cell(cells[key]);
    switch (kind_of_cell(cells[key])) {
      case cell_kind::get: word = memo_[number]; break;
      case cell_kind::spelled:
        word = word_of(phrases_[batch.reader][static_cast<std::size_t>(number)]);
        break;
      case cell_kind::empty_list:
        word = memo::word(static_cast<std::uint8_t>(value_kind::list), 0);
        break;
    }
    // Also tells slots that were never made, or wait.
    if (memo::kind_of(word) != static_cast<std::uint8_t>(form.kinds[key])) return false;
    cells[key] = word & memo::payload_mask;
  }
  return true;
}

/// Whether the named slots of a row are new, each once: then no list that was told goes stale.
bool machine::can_memoize(row_header header, std::span<std::uint32_t const> puts) const {
  auto const count = static_cast<std::size_t>(std::popcount(header.by_put));
  if (header.by_put != header.memoized || count > puts.size()) return false;
  for (std::size_t at = 0; at < count; ++at) {
    if (puts[at] == value::no_memo || memo_[puts[at]] != memo::unset) return false;
    if (std::ranges::find(puts.first(at), puts[at]) !=
        puts.begin() + static_cast<std::ptrdiff_t>(at))
      return false;
  }
  return true;
}

/// Unset when the machine must ask opcode by opcode.
std::uint64_t machine::word_of(known_phrase& known) {
  if (known.age == memo_age_) [[likely]]
    return known.word;
  phrase bytes = known.bytes;
  std::uint64_t word = memo::unset;
  switch (bytes[0]) {
    case opcode::binget:
    case opcode::long_binget:
      word = word_of_list(bytes);
      if (word == memo::unset) return word;
      break;
    case opcode::short_binunicode:
    case opcode::binunicode: {
      bytes = bytes.subspan(bytes[0] == opcode::binunicode ? 5 : 2);
      word =
          memo::word(static_cast<std::uint8_t>(value_kind::text),
                     listener_.text({reinterpret_cast<char const*>(bytes.data()), bytes.size()}));
      break;
    }
    default: {
      std::array<value, 2> items;
      for (value& item : items) item = take_integer(bytes);
      word = memo::word(static_cast<std::uint8_t>(value_kind::tuple), listener_.tuple_items(items));
    }
  }
  known.word = word;
  known.age = memo_age_;
  return word;
}

/// The list of these gets, if it is one that stays what it is; else unset.
std::uint64_t machine::word_of_list(phrase gets) {
  members_.clear();
  while (!gets.empty()) {
    bool const is_long = gets[0] == opcode::long_binget;
    std::uint64_t const word = memo_[is_long ? load<std::uint32_t>(gets.data() + 1) : gets[1]];
    gets = gets.subspan(is_long ? 5 : 2);
    value const member{.bits = word & memo::payload_mask, .kind = value_kind::dict, .shared = true};
    // What is still empty may grow without a new slot.
    if (memo::kind_of(word) != static_cast<std::uint8_t>(value_kind::dict) || member.bits == 0)
      return memo::unset;
    members_.push_back(member);
  }
  if (!listener_.is_settled(members_)) return memo::unset;
  return memo::word(static_cast<std::uint8_t>(value_kind::list), listener_.list_items(0, members_));
}

/// The same, remembered.
std::uint64_t machine::word_of_gets(phrase gets) {
  found_.clear();
  std::uint32_t const number = reader_.intern(gets, found_);
  learn_phrases(found_);
  return number == phrase_table::absent ? word_of_list(gets) : word_of(phrases_[0][number]);
}

void machine::learn_phrases(row_batch const& batch) {
  for (phrase const bytes : batch.new_phrases) phrases_[batch.reader].push_back({.bytes = bytes});
}

/// After SETITEMS, with its items still in place.
void machine::learn_form(std::span<value const> items, value const& dict) {
  if (dict_at_ == nullptr || dict.pending || input_.forms().is_full()) return;
  if (!listener_.comes_in_rows(dict.bits)) return;
  std::optional<row_form> const form =
      row_form::learn({dict_at_, static_cast<std::size_t>(next_ - dict_at_)}, items);
  if (!form) return;
  for (std::size_t row = 0; row < input_.forms().size(); ++row) {
    if (input_.forms()[row].reads_like(*form)) return;
  }
  input_.forms().add(*form);
}

}  // namespace memreplay::pickle
