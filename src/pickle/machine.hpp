// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pickle machine: stack and memo over the bytes of a pickle of plain data. It calls nothing and
// builds no tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <memreplay/column.hpp>

#include "pickle/gets_cache.hpp"
#include "pickle/sink.hpp"
#include "pickle/value.hpp"

namespace memreplay::pickle {

struct machine_options {
  /// When the input ends early, close what is open and report it in `machine::cut_at` instead of
  /// throwing.
  bool salvage = false;
  /// Called about every 16 MiB with the number of bytes consumed; may be empty.
  std::function<void(std::size_t)> on_consumed;
};

/// Reads one pickle, protocols 0 to 5, as CPython and PyTorch's C++ pickler write them. Iterative;
/// memory is bounded by the size of the input: see `value_limit` and `memo_limit` in the source.
class machine final : public text_reader {
 public:
  /// `bytes` must outlive the machine. Trailing bytes after STOP are ignored.
  machine(std::span<std::byte const> bytes, sink& listener, machine_options options = {});

  /// Runs to STOP and returns the object. Throws `error`: damaged (truncated, corrupt) or refused
  /// (an opcode that builds objects, a limit), with the byte offset.
  [[nodiscard]] value run();

  [[nodiscard]] std::string_view text(value const& item) const override;
  /// -1 when the pickle names none (protocols 0 and 1).
  [[nodiscard]] int protocol() const noexcept { return protocol_; }
  /// Offset at which a salvaged input ended; SIZE_MAX when it was complete.
  [[nodiscard]] std::size_t cut_at() const noexcept { return cut_at_; }

 private:
  struct cut_off {};  ///< thrown inside when the bytes end before STOP

  value execute();
  value close_all();
  void close_region(std::size_t first);
  void fold_chain(std::size_t first);

  // bytes
  void need(std::size_t count) const;
  template <class IntT>
  IntT take();
  std::string_view take_line();
  [[nodiscard]] std::size_t offset() const noexcept {
    return static_cast<std::size_t>(next_ - first_);
  }
  [[noreturn]] void fail_damaged(std::string const& what) const;
  [[noreturn]] void fail_refused(std::string const& what, std::string const& hint) const;

  // stack
  void push(value item);
  void push_integer(std::int64_t number);
  void push_text_at(std::size_t opcode_offset, std::size_t length);
  void push_side_text(std::string content);
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
  std::uint64_t list_of_gets(std::uint8_t const* first, std::uint8_t const* last);
  void append_items(std::span<value> items, value& list);
  void set_items(std::span<value> items, value& dict);
  void make_tuple(std::span<value> items);
  void make_tuple_of(std::size_t count);

  // memo
  void put(std::uint64_t slot);
  void memoize();
  void keep_slot_of(value& item);
  void store(std::uint64_t slot, std::uint64_t packed);
  [[nodiscard]] std::uint64_t word_at(std::uint64_t slot) const;
  [[nodiscard]] std::uint64_t pack(value const& item);
  [[nodiscard]] value fetch(std::uint64_t slot);
  [[nodiscard]] value fetch_odd(std::uint64_t slot);
  [[nodiscard]] value fetch_waiting(std::uint64_t slot);

  std::uint8_t const* first_;
  std::uint8_t const* last_;
  std::uint8_t const* next_;
  std::uint8_t const* opcode_at_;  ///< for messages: start of the opcode being executed
  std::uint8_t const* checkpoint_;
  sink& listener_;
  machine_options options_;
  std::size_t value_limit_;
  std::size_t memo_limit_;

  column<value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<value> pending_;  ///< per waiting container: its payload so far, then its new items
  std::vector<value> members_;  ///< scratch of `list_of_gets`
  column<std::uint64_t> memo_;
  std::unordered_map<std::uint64_t, std::uint64_t> sparse_memo_;
  std::vector<value> wide_memo_;        ///< memoized numbers; no writer makes any, but it is legal
  std::deque<std::string> side_texts_;  ///< texts that had to be unescaped
  gets_cache gets_cache_;
  int protocol_ = -1;
  std::size_t cut_at_ = SIZE_MAX;
};

}  // namespace memreplay::pickle
