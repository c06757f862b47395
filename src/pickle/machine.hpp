// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pickle machine: stack and memo over the bytes of a pickle of plain data. It calls nothing and
// builds no tree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <memreplay/column.hpp>

#include "pickle/memo.hpp"
#include "pickle/part_feed.hpp"
#include "pickle/row_reader.hpp"
#include "pickle/sink.hpp"
#include "pickle/value.hpp"

namespace memreplay::pickle {

struct machine_options {
  /// When the input ends early, close what is open and report it in `machine::cut_at` instead of
  /// throwing.
  bool salvage = false;
};

/// Reads one pickle, protocols 0 to 5, as CPython and PyTorch's C++ pickler write them. Iterative;
/// memory is bounded by the size of the input: see `value_limit` and `memo_limit`.
///
/// Dictionaries that come in great numbers are learnt (`row_form`), and from then on read as rows:
/// by the machine itself where it comes upon them, or ahead of it by the feed's threads. A run of
/// rows pushes the same values and makes the same memo slots as its opcodes would, so it does not
/// matter who read it, or whether anybody did.
class machine final {
 public:
  /// `input` must outlive the machine. Bytes after STOP are left in it.
  machine(part_feed& input, sink& listener, machine_options options = {});

  /// Runs to STOP and returns the object. Throws `error`: damaged (truncated, corrupt) or refused
  /// (an opcode that builds objects, a limit), with the byte offset.
  [[nodiscard]] value run();

  /// -1 when the pickle names none (protocols 0 and 1).
  [[nodiscard]] int protocol() const noexcept { return protocol_; }
  /// Offset at which a salvaged input ended; none when it was complete.
  [[nodiscard]] std::optional<std::uint64_t> cut_at() const noexcept { return cut_at_; }

 private:
  struct cut_off {};  ///< thrown inside when the bytes end before STOP

  value execute();
  value close_all();
  void close_region(std::size_t first);
  void fold_chain(std::size_t first);

  // bytes
  void need(std::size_t count);
  bool refill(std::size_t count);
  void join(std::unique_ptr<part> following, std::size_t wanted);
  void enter(std::unique_ptr<part> following, std::uint8_t const* opcode);
  template <class IntT>
  IntT take();
  std::string_view take_line();
  [[nodiscard]] std::size_t bytes_left() const noexcept {
    return static_cast<std::size_t>(last_ - next_);
  }
  [[nodiscard]] std::uint64_t offset_of(std::uint8_t const* at) const noexcept;
  [[noreturn]] void fail_damaged(std::string const& what) const;
  [[noreturn]] void fail_refused(std::string const& what, std::string const& hint) const;

  // stack
  void push(value item);
  void push_integer(std::int64_t number);
  void push_text(std::size_t length);
  void push_text(std::string_view content);
  void push_long(std::size_t length);
  void push_number_line(std::string_view line, bool is_long);
  value& top();
  value pop();
  std::span<value> items_above_mark();
  void drop_mark();
  void close_items(std::span<value> items);
  void close_pending(value& item, bool is_cut = false);
  void wait(value& container, std::span<value const> items);
  void update(value& container, std::uint64_t payload);

  // containers
  void mark_or_gets();
  void append_items(std::span<value> items, value& list);
  void set_items(std::span<value> items, value& dict);
  void make_tuple(std::span<value> items);
  void make_tuple_of(std::size_t count);

  // memo
  void put(std::uint64_t slot);
  void memoize();
  void keep_slot_of(value& item);
  [[nodiscard]] std::uint64_t pack(value const& item);
  [[nodiscard]] value fetch(std::uint64_t slot);
  [[nodiscard]] value fetch_odd(std::uint64_t slot);
  [[nodiscard]] value fetch_waiting(std::uint64_t slot);
  [[nodiscard]] std::size_t value_limit() const noexcept;
  [[nodiscard]] std::size_t memo_limit() const noexcept;

  // rows
  struct known_phrase {
    phrase bytes;
    std::uint64_t word = memo::unset;  ///< as in the memo
    std::uint64_t age = 0;             ///< the `memo_age_` for which it holds
  };
  bool push_rows();
  bool push_run(std::uint8_t const* base, row_batch& batch, row_run const& run);
  bool has_its_keys(std::size_t form);
  bool resolve_row(row_form const& form, std::uint64_t* cells, row_batch const& batch);
  bool can_memoize(row_header header, std::span<std::uint32_t const> puts) const;
  [[nodiscard]] std::uint64_t word_of(known_phrase& known);
  [[nodiscard]] std::uint64_t word_of_list(phrase gets);
  [[nodiscard]] std::uint64_t word_of_gets(phrase gets);
  void learn_phrases(row_batch const& batch);
  void learn_form(std::span<value const> items, value const& dict);

  part_feed& input_;
  sink& listener_;
  machine_options options_;

  std::unique_ptr<part> part_;
  std::uint8_t const* next_ = nullptr;
  std::uint8_t const* last_ = nullptr;
  std::uint8_t const* opcode_at_ = nullptr;  ///< start of the opcode being executed
  std::uint8_t const* dict_at_ = nullptr;    ///< the latest EMPTY_DICT, if still in memory

  column<value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<value> pending_;  ///< per waiting container: its payload so far, then its new items
  std::vector<value> members_;  ///< scratch of `word_of_list`
  memo memo_;
  std::vector<value> wide_memo_;  ///< memoized numbers; no writer makes any, but it is legal
  std::uint64_t memo_age_ = 1;    ///< grows when a slot changes its value

  row_reader reader_;
  row_batch found_;           ///< by `reader_`, at the opcode being executed
  std::size_t next_run_ = 0;  ///< of the part's
  std::array<std::uint64_t, form_list::capacity> form_ages_{};  ///< `memo_age_` for which they hold
  std::uint64_t no_rows_before_ = 0;  ///< offset: opcodes must be executed until there
  std::vector<std::vector<known_phrase>> phrases_;  ///< per reader

  int protocol_ = -1;
  std::optional<std::uint64_t> cut_at_;
};

}  // namespace memreplay::pickle
