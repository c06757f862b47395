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

#include "pickle/number_text.hpp"
#include "pickle/opcode.hpp"

namespace memreplay::pickle {
namespace {

constexpr std::size_t checkpoint_bytes = std::size_t{16} << 20;
/// The deepest real nesting is 9 containers; a pickle that wants more is not a snapshot.
constexpr std::size_t depth_limit = 256;
/// Lists that grow one item at a time are handed on in pieces of this many, as pickles of later
/// protocols are.
constexpr std::size_t batch = 1000;
constexpr char const* truncated_hint =
    "the dump was cut off; --salvage reads a snapshot up to the cut";

// A memo slot is one word: kind in the top byte, payload below.
constexpr std::uint64_t unset_slot = ~std::uint64_t{0};
constexpr std::uint64_t payload_mask = (std::uint64_t{1} << payload_bits) - 1;
constexpr std::uint8_t wide_kind = 0x40;     ///< payload is a row of `wide_memo_`
constexpr std::uint8_t waiting_kind = 0x41;  ///< a container whose items wait on the side stack
constexpr std::uint64_t waiting_slot = std::uint64_t{waiting_kind} << payload_bits;
constexpr std::uint64_t side_text = std::uint64_t{1}
                                    << 55;  ///< text payload is a row of `side_texts_`

constexpr std::uint64_t pack_word(std::uint8_t kind, std::uint64_t payload) {
  return std::uint64_t{kind} << payload_bits | payload;
}

template <class IntT>
IntT load(std::uint8_t const* from) noexcept {
  IntT number;
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::endian::native == std::endian::big) {
    auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(IntT)>>(number);
    std::reverse(bytes.begin(), bytes.end());
    number = std::bit_cast<IntT>(bytes);
  }
  return number;
}

/// First byte from `next` on that starts no complete BINGET or LONG_BINGET.
std::uint8_t const* end_of_gets(std::uint8_t const* next, std::uint8_t const* last) noexcept {
  using namespace opcode;
  // The loads of four equal opcodes do not wait for each other; a step of one would.
  for (;;) {
    while (last - next >= 20 && next[0] == long_binget && next[5] == long_binget &&
           next[10] == long_binget && next[15] == long_binget) {
      next += 20;
    }
    while (last - next >= 8 && next[0] == binget && next[2] == binget && next[4] == binget &&
           next[6] == binget) {
      next += 8;
    }
    if (last - next >= 5 && next[0] == long_binget) {
      next += 5;
    } else if (last - next >= 2 && next[0] == binget) {
      next += 2;
    } else {
      return next;
    }
  }
}

}  // namespace

machine::machine(std::span<std::byte const> bytes, sink& listener, machine_options options)
    : first_(reinterpret_cast<std::uint8_t const*>(bytes.data())),
      last_(first_ + bytes.size()),
      next_(first_),
      opcode_at_(first_),
      checkpoint_(first_ + std::min(bytes.size(), checkpoint_bytes)),
      listener_(listener),
      options_(std::move(options)),
      // A list item takes at least two bytes and a batch is taken off the stack after 1000 items,
      // except in the C++ writer's single batch, whose items are events of 47 bytes or more. Both
      // limits leave every real file room and keep a hostile one from costing more memory than a
      // small multiple of its own size.
      value_limit_((std::size_t{1} << 20) + bytes.size() / 16),
      memo_limit_((std::size_t{1} << 20) + bytes.size() / 4) {}

// ---- the hot few: inlined into the loop

[[gnu::always_inline]] inline void machine::need(std::size_t count) const {
  if (static_cast<std::size_t>(last_ - next_) < count) [[unlikely]]
    throw cut_off{};
}

template <class IntT>
[[gnu::always_inline]] inline IntT machine::take() {
  need(sizeof(IntT));
  IntT const number = load<IntT>(next_);
  next_ += sizeof(IntT);
  return number;
}

[[gnu::always_inline]] inline void machine::push(value item) {
  if (stack_.size() >= value_limit_) [[unlikely]]
    fail_refused("more open values than a snapshot has", "");
  stack_.push_back(item);
}

[[gnu::always_inline]] inline void machine::push_integer(std::int64_t number) {
  push({.bits = static_cast<std::uint64_t>(number), .kind = value_kind::integer});
}

[[gnu::always_inline]] inline void machine::push_text_at(std::size_t opcode_offset,
                                                         std::size_t length) {
  need(length);
  next_ += length;
  push({.bits = opcode_offset, .kind = value_kind::text});
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
  if (slot >= memo_.size()) [[unlikely]]
    return fetch_odd(slot);
  std::uint64_t const word = memo_[static_cast<std::size_t>(slot)];
  auto const kind = static_cast<std::uint8_t>(word >> payload_bits);
  if (kind >= wide_kind) [[unlikely]]
    return fetch_odd(slot);
  return {.bits = word & payload_mask, .kind = static_cast<value_kind>(kind), .shared = true};
}

value machine::run() {
  listener_.begin(*this);
  try {
    return execute();
  } catch (cut_off const&) {
    if (!options_.salvage) {
      throw error(error_code::damaged,
                  fmt::format("the pickle is truncated: it ends at byte {} before it is complete",
                              last_ - first_),
                  static_cast<std::uint64_t>(opcode_at_ - first_), truncated_hint);
    }
    cut_at_ = static_cast<std::size_t>(opcode_at_ - first_);
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
        set_items(items, stack_[marks_.back() - 1]);
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
      case empty_dict: push({.kind = value_kind::dict}); break;
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
        push_text_at(static_cast<std::size_t>(opcode_at_ - first_), *next_++);
        break;
      }
      case binunicode:
        push_text_at(static_cast<std::size_t>(opcode_at_ - first_), take<std::uint32_t>());
        break;
      case binunicode8:
        push_text_at(static_cast<std::size_t>(opcode_at_ - first_), take<std::uint64_t>());
        break;
      case short_binstring: {
        need(1);
        push_text_at(static_cast<std::size_t>(opcode_at_ - first_), *next_++);
        break;
      }
      case binstring:
        push_text_at(static_cast<std::size_t>(opcode_at_ - first_), take<std::uint32_t>());
        break;
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
      case unicode_text: push_side_text(unescape_unicode(take_line())); break;
      case string_text: push_side_text(unescape_string(take_line())); break;
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

std::string_view machine::take_line() {
  auto const* const end = static_cast<std::uint8_t const*>(
      std::memchr(next_, '\n', static_cast<std::size_t>(last_ - next_)));
  if (end == nullptr) throw cut_off{};
  std::string_view line(reinterpret_cast<char const*>(next_),
                        static_cast<std::size_t>(end - next_));
  next_ = end + 1;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

void machine::fail_damaged(std::string const& what) const {
  throw error(error_code::damaged, "damaged pickle: " + what,
              static_cast<std::uint64_t>(opcode_at_ - first_),
              "dump it again, or copy it again if it came over a network");
}

void machine::fail_refused(std::string const& what, std::string const& hint) const {
  throw error(error_code::refused, "refused: " + what,
              static_cast<std::uint64_t>(opcode_at_ - first_), hint);
}

// ---- stack

void machine::push_side_text(std::string content) {
  side_texts_.push_back(std::move(content));
  push({.bits = side_text | (side_texts_.size() - 1), .kind = value_kind::text});
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
    if (container.memo != value::no_memo && word_at(container.memo) == pack(container))
      store(container.memo, waiting_slot);
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
  auto const kind = static_cast<std::uint8_t>(container.kind);
  std::uint64_t const seen = word_at(container.memo);
  if (seen != waiting_slot && seen != pack_word(kind, old_payload)) return;
  // A dictionary that changes makes the runs that name it stale.
  if (old_payload != 0 && old_payload != payload && container.kind == value_kind::dict)
    gets_cache_.clear();
  store(container.memo, pack_word(kind, payload));
}

// ---- containers

void machine::mark_or_gets() {
  using namespace opcode;
  if (next_ != last_ && (*next_ == long_binget || *next_ == binget) && !stack_.empty()) {
    value& below = stack_.back();
    if (below.kind == value_kind::list && below.bits == 0 && !below.shared && !below.pending) {
      std::uint8_t const* const end = end_of_gets(next_, last_);
      if (end != last_ && *end == appends) {
        update(below, list_of_gets(next_, end));
        next_ = end + 1;
        return;
      }
    }
  }
  if (marks_.size() >= depth_limit) {
    fail_refused(fmt::format("containers nested deeper than {} levels", depth_limit), "");
  }
  marks_.push_back(stack_.size());
}

std::uint64_t machine::list_of_gets(std::uint8_t const* first, std::uint8_t const* last) {
  std::span<std::uint8_t const> const run(first, last);
  std::uint64_t const hash = gets_cache::hash(run);
  if (auto const known = gets_cache_.find(run, hash)) return *known;
  members_.clear();
  while (first != last) {
    if (*first == opcode::long_binget) {
      members_.push_back(fetch(load<std::uint32_t>(first + 1)));
      first += 5;
    } else {
      members_.push_back(fetch(first[1]));
      first += 2;
    }
  }
  std::uint64_t const payload = listener_.list_items(0, members_);
  // What is still empty, and any list, may grow without a new slot.
  bool const is_settled = std::ranges::none_of(members_, [](value const& member) {
    return member.kind == value_kind::list || (member.kind == value_kind::dict && member.bits == 0);
  });
  if (is_settled) gets_cache_.add(run, hash, payload);
  return payload;
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
  if (next_ >= checkpoint_ && options_.on_consumed) {
    options_.on_consumed(offset());
    checkpoint_ = next_ + std::min(static_cast<std::size_t>(last_ - next_), checkpoint_bytes);
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

/// Salvage: the input ended, so every open container is closed with what it has, innermost first.
value machine::close_all() {
  while (!marks_.empty()) {
    std::size_t const first = marks_.back();
    marks_.pop_back();
    // Two marks may stand on one container, which is gone after the first.
    if (first <= stack_.size()) close_region(first);
  }
  if (stack_.empty()) fail_damaged("nothing could be salvaged");
  fold_chain(0);
  value result = stack_[0];
  if (result.pending) close_pending(result, true);
  return result;
}

/// Gives what lies above a mark to the container below it. A dictionary that is cut is dropped,
/// except the outermost.
void machine::close_region(std::size_t first) {
  value const below = first == 0 ? value{} : stack_[first - 1];
  bool const is_dict = below.kind == value_kind::dict && !below.shared;
  bool const is_list = below.kind == value_kind::list && !below.shared;
  std::size_t const size = stack_.size();
  if (is_dict) {
    // Keys and values; behind a value stands the next key, or what the value waits for.
    std::size_t row = first;
    while (row + 2 < size && stack_[row + 2].kind == value_kind::text) row += 2;
    if (row + 1 < size) fold_chain(row + 1);
  } else if (is_list && size - first >= 2) {
    value const& holder = stack_[size - 2];
    if (holder.kind == value_kind::list && !holder.shared && holder.bits == 0 &&
        stack_[size - 1].kind == value_kind::dict) {
      fold_chain(size - 2);
    }
  }
  if (is_list && stack_.size() > first && stack_.back().kind == value_kind::dict) {
    // A dictionary that has just begun.
    value& last = stack_.back();
    if (last.pending || last.bits == 0) {
      if (last.pending) close_pending(last, true);
      stack_.resize(stack_.size() - 1, {});
    }
  }
  std::span<value> items(stack_.data() + first, stack_.size() - first);
  close_items(items);
  if (is_dict || is_list) {
    value& container = stack_[first - 1];
    if (container.pending) close_pending(container, is_dict);
    if (is_list && !items.empty()) {
      update(container, listener_.list_items(container.bits, items));
    } else if (is_dict) {
      update(container,
             listener_.dict_items(container.bits, items.first(items.size() / 2 * 2), true));
    }
  }
  stack_.resize(is_dict && first > 1 ? first - 1 : first, {});
}

/// The values from `first` on are open containers, each waiting for the next: puts them into each
/// other, so that only the first is left. Open dictionaries are cut and dropped.
void machine::fold_chain(std::size_t first) {
  while (stack_.size() > first + 1) {
    value item = stack_.back();
    bool const is_cut = item.kind == value_kind::dict && (item.pending || item.bits == 0);
    if (item.pending) close_pending(item, true);
    stack_.resize(stack_.size() - 1, {});
    if (is_cut) continue;
    value& holder = stack_.back();
    if (holder.kind == value_kind::list && !holder.shared) {
      wait(holder, {&item, 1});
    } else if (holder.kind == value_kind::text && stack_.size() >= first + 2) {
      value& dict = stack_[stack_.size() - 2];
      if (dict.kind != value_kind::dict || dict.shared) continue;
      std::array<value, 2> const pair{holder, item};
      stack_.resize(stack_.size() - 1, {});
      wait(dict, pair);
    }
  }
}

// ---- memo

void machine::memoize() {
  std::size_t const slot = memo_.size();
  if (slot >= memo_limit_) fail_refused("more memo entries than a snapshot of this size has", "");
  value& item = top();
  if (item.memo != value::no_memo) keep_slot_of(item);
  memo_.push_back(pack(item));
  item.memo = static_cast<std::uint32_t>(slot);
}

void machine::put(std::uint64_t slot) {
  value& item = top();
  if (item.memo != value::no_memo && item.memo != slot) keep_slot_of(item);
  // A slot that gets another object makes the runs that name it stale.
  if (word_at(slot) != unset_slot) gets_cache_.clear();
  // Only a slot that the item can name may wait for it.
  if (slot >= value::no_memo && item.pending) close_pending(item);
  store(slot, pack(item));
  if (slot < value::no_memo) item.memo = static_cast<std::uint32_t>(slot);
}

/// The item gets a second slot, but knows only one: it must not change any more.
void machine::keep_slot_of(value& item) {
  if (item.kind != value_kind::list && item.kind != value_kind::dict) return;
  if (item.pending) close_pending(item);
  item.shared = true;
}

void machine::store(std::uint64_t slot, std::uint64_t packed) {
  if (slot < memo_.size()) {
    memo_[static_cast<std::size_t>(slot)] = packed;
  } else if (slot < memo_limit_) {
    memo_.resize(static_cast<std::size_t>(slot) + 1, unset_slot);
    memo_[static_cast<std::size_t>(slot)] = packed;
  } else {
    if (sparse_memo_.size() >= memo_limit_)
      fail_refused("more memo entries than a snapshot of this size has", "");
    sparse_memo_[slot] = packed;
  }
}

std::uint64_t machine::pack(value const& item) {
  switch (item.kind) {
    case value_kind::integer:
    case value_kind::unsigned_integer:
    case value_kind::huge_integer:
    case value_kind::real:
      wide_memo_.push_back(item);
      return pack_word(wide_kind, wide_memo_.size() - 1);
    default:
      if (item.pending) return waiting_slot;
      return pack_word(static_cast<std::uint8_t>(item.kind), item.bits);
  }
}

std::uint64_t machine::word_at(std::uint64_t slot) const {
  if (slot < memo_.size()) return memo_[static_cast<std::size_t>(slot)];
  if (slot < memo_limit_) return unset_slot;
  auto const found = sparse_memo_.find(slot);
  return found == sparse_memo_.end() ? unset_slot : found->second;
}

/// Slots that were never made, sparse slots, memoized numbers, and containers that wait.
value machine::fetch_odd(std::uint64_t slot) {
  std::uint64_t const word = word_at(slot);
  if (word == unset_slot) fail_damaged(fmt::format("memo entry {} was never made", slot));
  if (word == waiting_slot) return fetch_waiting(slot);
  auto const kind = static_cast<std::uint8_t>(word >> payload_bits);
  std::uint64_t const payload = word & payload_mask;
  value item = kind == wide_kind ? wide_memo_[static_cast<std::size_t>(payload)]
                                 : value{.bits = payload, .kind = static_cast<value_kind>(kind)};
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

std::string_view machine::text(value const& item) const {
  if ((item.bits & side_text) != 0)
    return side_texts_[static_cast<std::size_t>(item.bits & ~side_text)];
  std::uint8_t const* const at = first_ + item.bits;
  auto const view = [](std::uint8_t const* content, std::uint64_t length) {
    return std::string_view(reinterpret_cast<char const*>(content),
                            static_cast<std::size_t>(length));
  };
  switch (*at) {
    case opcode::short_binunicode:
    case opcode::short_binstring: return view(at + 2, at[1]);
    case opcode::binunicode8: return view(at + 9, load<std::uint64_t>(at + 1));
    default: return view(at + 5, load<std::uint32_t>(at + 1));
  }
}

}  // namespace memreplay::pickle
