// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The loop over opcodes. Four fifths of a snapshot's bytes are memo gets inside lists:
// `mark_or_gets` is their short way, everything else goes through the switch in `execute`.
#include "pickle/machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "pickle/gets.hpp"
#include "pickle/load.hpp"
#include "pickle/number_text.hpp"
#include "pickle/opcode.hpp"

namespace memreplay::pickle {
namespace {

/// The deepest real nesting is 9 containers; a pickle that wants more is not a snapshot.
constexpr std::size_t depth_limit = 256;
/// Lists that grow one item at a time are handed on in pieces of this many, as pickles of later
/// protocols are.
constexpr std::size_t batch = 1000;
constexpr char const* truncated_hint =
    "the dump was cut off; --salvage reads a snapshot up to the cut";

/// No text, number or line of a snapshot is anywhere near.
constexpr std::size_t length_limit = std::size_t{1} << 30;

// Kinds of memo words beyond those of values.
constexpr std::uint8_t wide_kind = 0x40;     ///< payload is a row of `wide_memo_`
constexpr std::uint8_t waiting_kind = 0x41;  ///< a container whose items wait on the side stack
constexpr std::uint64_t waiting_slot = memo::word(waiting_kind, 0);

constexpr std::uint64_t word_of_value(value const& item) {
  return memo::word(static_cast<std::uint8_t>(item.kind), item.bits);
}

}  // namespace

machine::machine(part_feed& input, sink& listener, machine_options options)
    : input_(input),
      listener_(listener),
      options_(options),
      reader_(input.forms(), 0),
      phrases_(input.readers()) {}

/// A list item takes at least two bytes and a batch is taken off the stack after 1000 items, except
/// in the C++ writer's single batch, whose items are events of 47 bytes or more. Both limits leave
/// every real file room and keep a hostile one from costing more memory than a small multiple of
/// what was read of it.
std::size_t machine::value_limit() const noexcept {
  return (std::size_t{1} << 20) + static_cast<std::size_t>(offset_of(next_) / 16);
}
std::size_t machine::memo_limit() const noexcept {
  return (std::size_t{1} << 20) + static_cast<std::size_t>(offset_of(next_) / 4);
}

// ---- the hot few: inlined into the loop

[[gnu::always_inline]] inline void machine::need(std::size_t count) {
  if (bytes_left() < count) [[unlikely]] {
    if (!refill(count)) throw cut_off{};
  }
}

template <class IntT>
[[gnu::always_inline]] inline IntT machine::take() {
  need(sizeof(IntT));
  IntT const number = load<IntT>(next_);
  next_ += sizeof(IntT);
  return number;
}

[[gnu::always_inline]] inline void machine::push(value item) {
  if (stack_.size() >= std::size_t{1} << 20) [[unlikely]] {
    if (stack_.size() >= value_limit()) fail_refused("more open values than a snapshot has", "");
  }
  stack_.push_back(item);
}

[[gnu::always_inline]] inline void machine::push_integer(std::int64_t number) {
  push({.bits = static_cast<std::uint64_t>(number), .kind = value_kind::integer});
}

[[gnu::always_inline]] inline void machine::push_text(std::size_t length) {
  need(length);
  std::string_view const content(reinterpret_cast<char const*>(next_), length);
  next_ += length;
  push_text(content);
}

/// Little-endian two's complement of any length; addresses have 6 bytes, times 7.
[[gnu::always_inline]] inline void machine::push_long(std::size_t length) {
  need(length);
  std::uint8_t const* const number = next_;
  next_ += length;
  if (length - 1 < 7 && last_ - number >= 8) {
    int const unused_bits = 64 - 8 * static_cast<int>(length);
    push_integer(static_cast<std::int64_t>(load<std::uint64_t>(number) << unused_bits) >>
                 unused_bits);
  } else {
    push(integer_from_bytes({number, length}));
  }
}

[[gnu::always_inline]] inline value machine::fetch(std::uint64_t slot) {
  std::uint64_t const word = memo_[slot];
  std::uint8_t const kind = memo::kind_of(word);
  if (kind >= wide_kind) [[unlikely]]
    return fetch_odd(slot);
  return {.bits = word & memo::payload_mask, .kind = static_cast<value_kind>(kind), .shared = true};
}

value machine::run() {
  try {
    return execute();
  } catch (cut_off const&) {
    std::uint64_t const cut_at = offset_of(opcode_at_);
    if (!options_.salvage) {
      throw error(error_code::damaged,
                  fmt::format("the pickle is truncated: it ends at byte {} before it is complete",
                              offset_of(last_)),
                  cut_at, truncated_hint);
    }
    cut_at_ = cut_at;
    return close_all();
  }
}

value machine::execute() {
  using namespace opcode;
  for (;;) {
    opcode_at_ = next_;
    need(1);
    std::uint8_t const code = *next_++;
    switch (code) {
      case binget:
        need(1);
        push(fetch(*next_++));
        break;
      case long_binget: push(fetch(take<std::uint32_t>())); break;
      case opcode::memoize: memoize(); break;
      case mark: mark_or_gets(); break;
      case setitems: {
        std::span<value> const items = items_above_mark();
        if (marks_.back() == 0) fail_damaged("SETITEMS without a dictionary");
        value& dict = stack_[marks_.back() - 1];
        set_items(items, dict);
        learn_form(items, dict);
        drop_mark();
        break;
      }
      case appends: {
        std::span<value> const items = items_above_mark();
        if (marks_.back() == 0) fail_damaged("APPENDS without a list");
        append_items(items, stack_[marks_.back() - 1]);
        drop_mark();
        break;
      }
      case empty_dict:
        dict_at_ = opcode_at_;
        if (!push_rows()) push({.kind = value_kind::dict});
        break;
      case empty_list: push({.kind = value_kind::list}); break;
      case empty_tuple: push({.kind = value_kind::tuple}); break;
      case binint1:
        need(1);
        push_integer(*next_++);
        break;
      case binint2: push_integer(take<std::uint16_t>()); break;
      case binint: push_integer(take<std::int32_t>()); break;
      case long1: {
        need(1);
        push_long(*next_++);
        break;
      }
      case long4: {
        auto const length = take<std::int32_t>();
        if (length < 0) fail_damaged("LONG4 with a negative length");
        push_long(static_cast<std::size_t>(length));
        break;
      }
      case short_binunicode: {
        need(1);
        push_text(*next_++);
        break;
      }
      case binunicode: push_text(take<std::uint32_t>()); break;
      case binunicode8: push_text(take<std::uint64_t>()); break;
      case short_binstring: {
        need(1);
        push_text(*next_++);
        break;
      }
      case binstring: push_text(take<std::uint32_t>()); break;
      case opcode::frame: (void)take<std::uint64_t>(); break;
      case none: push({}); break;
      case newtrue: push({.bits = 1, .kind = value_kind::boolean}); break;
      case newfalse: push({.bits = 0, .kind = value_kind::boolean}); break;
      case binfloat: {
        auto big_endian = take<std::array<std::uint8_t, 8>>();
        std::reverse(big_endian.begin(), big_endian.end());
        push({.bits = load<std::uint64_t>(big_endian.data()), .kind = value_kind::real});
        break;
      }
      case setitem: {
        value const content = pop();
        std::array<value, 2> const item{pop(), content};
        value& dict = top();
        if (dict.kind != value_kind::dict || dict.shared)
          fail_damaged("SETITEM on something else than a new dictionary");
        wait(dict, item);
        break;
      }
      case append: {
        if (stack_.size() < 2) fail_damaged("APPEND without list and item");
        value const item = pop();
        value& list = top();
        if (list.kind != value_kind::list || list.shared)
          fail_damaged("APPEND on something else than a new list");
        wait(list, {&item, 1});
        break;
      }
      case tuple1: make_tuple_of(1); break;
      case tuple2: make_tuple_of(2); break;
      case tuple3: make_tuple_of(3); break;
      case opcode::tuple: make_tuple(items_above_mark()); break;
      case opcode::dict: {
        value made{.kind = value_kind::dict};
        set_items(items_above_mark(), made);
        drop_mark();
        push(made);
        break;
      }
      case opcode::list: {
        value made{.kind = value_kind::list};
        append_items(items_above_mark(), made);
        drop_mark();
        push(made);
        break;
      }
      case binput:
        need(1);
        put(*next_++);
        break;
      case long_binput: put(take<std::uint32_t>()); break;
      case proto: {
        need(1);
        protocol_ = *next_++;
        if (protocol_ > 5) {
          fail_refused(fmt::format("pickle protocol {}", protocol_),
                       "protocols 0 to 5 can be read");
        }
        break;
      }
      case stop: {
        if (stack_.size() != 1 || !marks_.empty()) fail_damaged("STOP while containers are open");
        value result = pop();
        if (result.pending) close_pending(result);
        return result;
      }
      case opcode::pop:
        // Python lets POP take a mark off, too.
        if (!marks_.empty() && stack_.size() == marks_.back()) {
          marks_.pop_back();
        } else {
          pop();
        }
        break;
      case pop_mark:
        close_items(items_above_mark());
        drop_mark();
        break;
      case dup: {
        if (top().pending) close_pending(top());
        top().shared = true;
        push(value(top()));
        break;
      }
      case int_text: push_number_line(take_line(), false); break;
      case long_text: push_number_line(take_line(), true); break;
      case float_text: {
        double number = 0;
        std::string_view const line = take_line();
        if (!parse_real(line, number)) fail_damaged("FLOAT that is not a number");
        push({.bits = std::bit_cast<std::uint64_t>(number), .kind = value_kind::real});
        break;
      }
      case unicode_text: push_text(unescape_unicode(take_line())); break;
      case string_text: push_text(unescape_string(take_line())); break;
      case get_text:
      case put_text: {
        std::uint64_t slot = 0;
        if (!parse_unsigned(take_line(), slot)) fail_damaged("a memo index that is not a number");
        if (code == put_text) {
          put(slot);
        } else {
          push(fetch(slot));
        }
        break;
      }
      default: {
        if (char const* const name = refused_name(code)) {
          fail_refused(
              fmt::format("opcode {} (0x{:02x}), which plain data does not contain", name, code),
              "nothing was run; a snapshot from PyTorch never needs it, so do not trust this file");
        }
        fail_damaged(fmt::format("0x{:02x} is no pickle opcode", code));
      }
    }
  }
}

/// Makes at least `count` bytes follow `next_`; false when the input ends before. What has been
/// consumed since `opcode_at_` stays in memory, too.
bool machine::refill(std::size_t count) {
  while (bytes_left() < count) {
    std::unique_ptr<part> following = input_.next();
    if (!following) return false;
    auto const kept = static_cast<std::size_t>(last_ - opcode_at_);
    // A length may be anything up to 2^64; `join` refuses what is beyond its limit.
    std::size_t const wanted =
        static_cast<std::size_t>(next_ - opcode_at_) + std::min(count, 2 * length_limit);
    if (kept > part::headroom || kept + following->size() < wanted) {
      join(std::move(following), wanted);
      continue;
    }
    std::uint8_t* const opcode = following->first() - kept;
    if (kept > 0) std::memcpy(opcode, opcode_at_, kept);
    learn_phrases(following->rows);
    enter(std::move(following), opcode);
  }
  return true;
}

/// What is left and as many further parts as needed become one; their rows are forgotten.
void machine::join(std::unique_ptr<part> following, std::size_t wanted) {
  auto const kept = static_cast<std::size_t>(last_ - opcode_at_);
  std::size_t size = kept + following->size();
  std::vector<std::unique_ptr<part>> parts;
  parts.push_back(std::move(following));
  while (size < wanted) {
    if (size > length_limit) fail_refused("a value longer than any in a snapshot", "");
    std::unique_ptr<part> more = input_.next();
    if (!more) break;
    size += more->size();
    parts.push_back(std::move(more));
  }
  auto joined = std::make_unique<part>(size);
  joined->offset = offset_of(opcode_at_);
  joined->set_size(size);
  std::uint8_t* to = joined->first();
  if (kept > 0) std::memcpy(to, opcode_at_, kept);
  to += kept;
  for (std::unique_ptr<part>& each : parts) {
    std::memcpy(to, each->first(), each->size());
    to += each->size();
    learn_phrases(each->rows);
    input_.recycle(std::move(each));
  }
  std::uint8_t const* const opcode = joined->first();
  enter(std::move(joined), opcode);
}

/// `opcode` is where the opcode being executed now starts.
void machine::enter(std::unique_ptr<part> following, std::uint8_t const* opcode) {
  next_ = opcode + (next_ - opcode_at_);
  opcode_at_ = opcode;
  last_ = following->last();
  dict_at_ = nullptr;
  next_run_ = 0;
  std::swap(part_, following);
  if (following) input_.recycle(std::move(following));
}

std::uint64_t machine::offset_of(std::uint8_t const* at) const noexcept {
  if (!part_) return 0;
  return part_->offset + static_cast<std::uint64_t>(at - part_->first());
}

/// The view holds until the next byte is taken.
std::string_view machine::take_line() {
  std::size_t searched = 0;
  for (;;) {
    std::size_t const size = bytes_left();
    auto const* const end = size == searched ? nullptr
                                             : static_cast<std::uint8_t const*>(std::memchr(
                                                   next_ + searched, '\n', size - searched));
    if (end != nullptr) {
      std::string_view line(reinterpret_cast<char const*>(next_),
                            static_cast<std::size_t>(end - next_));
      next_ = end + 1;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      return line;
    }
    searched = size;
    // Twice as much each time, so that a long line is not copied over and over.
    if (!refill(2 * size + 1) && bytes_left() == searched) throw cut_off{};
  }
}

void machine::fail_damaged(std::string const& what) const {
  throw error(error_code::damaged, "damaged pickle: " + what, offset_of(opcode_at_),
              "dump it again, or copy it again if it came over a network");
}

void machine::fail_refused(std::string const& what, std::string const& hint) const {
  throw error(error_code::refused, "refused: " + what, offset_of(opcode_at_), hint);
}

// ---- stack

void machine::push_text(std::string_view content) {
  push({.bits = listener_.text(content), .kind = value_kind::text});
}

void machine::push_number_line(std::string_view line, bool is_long) {
  if (!is_long && (line == "00" || line == "01")) {
    push({.bits = line == "01", .kind = value_kind::boolean});
    return;
  }
  if (is_long && line.ends_with('L')) line.remove_suffix(1);
  value number;
  if (!parse_integer(line, number)) fail_damaged("an integer that is not a number");
  push(number);
}

value& machine::top() {
  std::size_t const floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) fail_damaged("an operation on an empty stack");
  return stack_.back();
}

value machine::pop() {
  value item = top();
  if (item.pending) close_pending(item);
  stack_.resize(stack_.size() - 1, {});
  return item;
}

std::span<value> machine::items_above_mark() {
  if (marks_.empty()) fail_damaged("an operation that needs a mark");
  std::size_t const first = marks_.back();
  return {stack_.data() + first, stack_.size() - first};
}

void machine::drop_mark() {
  stack_.resize(marks_.back(), {});
  marks_.pop_back();
}

/// The side stack is last in, first out, like the main one.
void machine::close_items(std::span<value> items) {
  if (pending_.empty()) return;
  for (std::size_t row = items.size(); row-- > 0;) {
    if (items[row].pending) close_pending(items[row]);
  }
}

void machine::close_pending(value& item, bool is_cut) {
  auto const first = static_cast<std::size_t>(item.bits);
  item.pending = false;
  std::uint64_t const current = pending_[first].bits;
  std::span<value const> const waiting = std::span<value const>(pending_).subspan(first + 1);
  std::uint64_t const payload = item.kind == value_kind::dict
                                    ? listener_.dict_items(current, waiting, is_cut)
                                    : listener_.list_items(current, waiting);
  pending_.resize(first);
  item.bits = current;
  update(item, payload);
}

/// Items that come one at a time wait until the container is used, so that the listener sees them
/// together.
void machine::wait(value& container, std::span<value const> items) {
  if (!container.pending) {
    std::uint64_t const current = container.bits;
    if (container.memo != value::no_memo && memo_[container.memo] == word_of_value(container))
      memo_.store(container.memo, waiting_slot, memo_limit());
    container.pending = true;
    container.bits = pending_.size();
    pending_.push_back({.bits = current});
  }
  pending_.insert(pending_.end(), items.begin(), items.end());
  if (container.kind == value_kind::list && pending_.size() - container.bits > batch)
    close_pending(container);
}

/// The container is not pending. Its slot follows it, unless another object has got the slot.
void machine::update(value& container, std::uint64_t payload) {
  std::uint64_t const old_payload = std::exchange(container.bits, payload);
  if (container.memo == value::no_memo) return;
  std::uint64_t const seen = memo_[container.memo];
  value const before{.bits = old_payload, .kind = container.kind};
  if (seen != waiting_slot && seen != word_of_value(before)) return;
  // A dictionary that changes makes the lists that name it stale.
  if (old_payload != 0 && old_payload != payload && container.kind == value_kind::dict) ++memo_age_;
  memo_.store(container.memo, word_of_value(container), memo_limit());
}

// ---- containers

void machine::mark_or_gets() {
  using namespace opcode;
  if (next_ != last_ && (*next_ == long_binget || *next_ == binget) && !stack_.empty()) {
    value& below = stack_.back();
    if (below.kind == value_kind::list && below.bits == 0 && !below.shared && !below.pending) {
      std::uint8_t const* const end = end_of_gets(next_, last_);
      if (end != last_ && *end == appends) {
        std::uint64_t const word = word_of_gets({next_, end});
        if (word != memo::unset) {
          update(below, word & memo::payload_mask);
          next_ = end + 1;
          return;
        }
      }
    }
  }
  if (marks_.size() >= depth_limit) {
    fail_refused(fmt::format("containers nested deeper than {} levels", depth_limit), "");
  }
  marks_.push_back(stack_.size());
}

void machine::append_items(std::span<value> items, value& list) {
  if (list.kind != value_kind::list) fail_damaged("APPENDS on something else than a list");
  if (list.shared) fail_damaged("a list that grows after it was used");
  close_items(items);
  // Small batches after the first are no writer's habit; taken one by one they would cost the
  // square of the list's length.
  if (list.pending || (list.bits != 0 && items.size() < batch / 2)) {
    wait(list, items);
  } else if (!items.empty()) {
    update(list, listener_.list_items(list.bits, items));
  }
}

void machine::set_items(std::span<value> items, value& dict) {
  if (dict.kind != value_kind::dict) fail_damaged("SETITEMS on something else than a dictionary");
  if (dict.shared) fail_damaged("a dictionary that grows after it was used");
  if (items.size() % 2 != 0) fail_damaged("a key without a value");
  close_items(items);
  if (dict.pending) {
    wait(dict, items);
  } else if (!items.empty()) {
    update(dict, listener_.dict_items(dict.bits, items, false));
  }
}

void machine::make_tuple(std::span<value> items) {
  close_items(items);
  value made{.kind = value_kind::tuple};
  if (!items.empty()) made.bits = listener_.tuple_items(items);
  drop_mark();
  push(made);
}

void machine::make_tuple_of(std::size_t count) {
  std::size_t const floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count) fail_damaged("a tuple without its items");
  marks_.push_back(stack_.size() - count);
  make_tuple(items_above_mark());
}

// ---- memo

void machine::memoize() {
  std::size_t const slot = memo_.size();
  if (slot >= std::size_t{1} << 20 && slot >= memo_limit()) [[unlikely]]
    fail_refused("more memo entries than a snapshot of this size has", "");
  value& item = top();
  if (item.memo != value::no_memo) keep_slot_of(item);
  memo_.append(pack(item));
  item.memo = static_cast<std::uint32_t>(slot);
}

void machine::put(std::uint64_t slot) {
  value& item = top();
  if (item.memo != value::no_memo && item.memo != slot) keep_slot_of(item);
  // A slot that gets another object makes the lists that name it stale.
  if (memo_[slot] != memo::unset) ++memo_age_;
  // Only a slot that the item can name may wait for it.
  if (slot >= value::no_memo && item.pending) close_pending(item);
  if (memo_.sparse_size() >= memo_limit())
    fail_refused("more memo entries than a snapshot of this size has", "");
  memo_.store(slot, pack(item), memo_limit());
  if (slot < value::no_memo) item.memo = static_cast<std::uint32_t>(slot);
}

/// The item gets a second slot, but knows only one: it must not change any more.
void machine::keep_slot_of(value& item) {
  if (item.kind != value_kind::list && item.kind != value_kind::dict) return;
  if (item.pending) close_pending(item);
  item.shared = true;
}

std::uint64_t machine::pack(value const& item) {
  switch (item.kind) {
    case value_kind::integer:
    case value_kind::unsigned_integer:
    case value_kind::huge_integer:
    case value_kind::real:
      wide_memo_.push_back(item);
      return memo::word(wide_kind, wide_memo_.size() - 1);
    default: return item.pending ? waiting_slot : word_of_value(item);
  }
}

/// Slots that were never made, memoized numbers, and containers that wait.
value machine::fetch_odd(std::uint64_t slot) {
  std::uint64_t const word = memo_[slot];
  if (word == memo::unset) fail_damaged(fmt::format("memo entry {} was never made", slot));
  if (word == waiting_slot) return fetch_waiting(slot);
  value item = wide_memo_[static_cast<std::size_t>(word & memo::payload_mask)];
  item.shared = true;
  return item;
}

/// A container on the stack that is used before its parent takes it: a list of one frame in a
/// dictionary that names it twice. Everything above it was finished before, so it is closed, too.
value machine::fetch_waiting(std::uint64_t slot) {
  for (std::size_t row = stack_.size(); row-- > 0;) {
    value& item = stack_[row];
    if (!item.pending) continue;
    close_pending(item);
    if (item.memo != slot) continue;
    item.shared = true;
    return item;
  }
  fail_damaged(fmt::format("memo entry {} is used while it is being made", slot));
}

}  // namespace memreplay::pickle
