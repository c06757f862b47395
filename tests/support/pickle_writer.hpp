// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Composes pickles for tests: opcode by opcode, or whole documents as the writers of snapshots
// pickle them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memreplay::testing {

[[nodiscard]] std::span<std::byte const> as_input(std::string_view bytes);

/// One method an opcode, so that a pickle reads as a sentence:
/// `pickle_writer{}.empty_list().mark().binint1(1).appends().stop()`. Nothing is checked.
class pickle_writer {
 public:
  pickle_writer& raw(std::string_view bytes);

  pickle_writer& proto(int version);
  pickle_writer& frame(std::uint64_t length = 0);
  pickle_writer& stop() { return raw("."); }
  pickle_writer& mark() { return raw("("); }
  pickle_writer& pop() { return raw("0"); }
  pickle_writer& pop_mark() { return raw("1"); }
  pickle_writer& dup() { return raw("2"); }

  pickle_writer& none() { return raw("N"); }
  pickle_writer& newtrue() { return raw("\x88"); }
  pickle_writer& newfalse() { return raw("\x89"); }
  pickle_writer& binint1(int number);
  pickle_writer& binint2(int number);
  pickle_writer& binint(std::int32_t number);
  pickle_writer& long1(std::initializer_list<int> bytes);
  pickle_writer& long4(std::initializer_list<int> bytes);
  pickle_writer& long4_header(std::int32_t length);
  pickle_writer& binfloat(double number);
  pickle_writer& int_line(std::string_view digits) { return line("I", digits); }
  pickle_writer& long_line(std::string_view digits) { return line("L", digits); }
  pickle_writer& float_line(std::string_view digits) { return line("F", digits); }

  pickle_writer& short_binunicode(std::string_view text);
  pickle_writer& binunicode(std::string_view text);
  pickle_writer& binunicode_header(std::uint32_t length);
  pickle_writer& binunicode8(std::string_view text);
  pickle_writer& binunicode8_header(std::uint64_t length);
  pickle_writer& short_binstring(std::string_view text);
  pickle_writer& binstring(std::string_view text);
  pickle_writer& string_line(std::string_view literal) { return line("S", literal); }
  pickle_writer& unicode_line(std::string_view escaped) { return line("V", escaped); }

  pickle_writer& empty_list() { return raw("]"); }
  pickle_writer& append() { return raw("a"); }
  pickle_writer& appends() { return raw("e"); }
  pickle_writer& list() { return raw("l"); }
  pickle_writer& empty_dict() { return raw("}"); }
  pickle_writer& setitem() { return raw("s"); }
  pickle_writer& setitems() { return raw("u"); }
  pickle_writer& dict() { return raw("d"); }
  pickle_writer& empty_tuple() { return raw(")"); }
  pickle_writer& tuple1() { return raw("\x85"); }
  pickle_writer& tuple2() { return raw("\x86"); }
  pickle_writer& tuple3() { return raw("\x87"); }
  pickle_writer& tuple() { return raw("t"); }

  pickle_writer& memoize() { return raw("\x94"); }
  pickle_writer& binput(int slot);
  pickle_writer& long_binput(std::uint32_t slot);
  pickle_writer& put_line(std::string_view slot) { return line("p", slot); }
  pickle_writer& binget(int slot);
  pickle_writer& long_binget(std::uint32_t slot);
  pickle_writer& get_line(std::string_view slot) { return line("g", slot); }

  [[nodiscard]] std::string const& text() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::byte const> bytes() const { return as_input(bytes_); }

 private:
  pickle_writer& line(std::string_view opcode, std::string_view content);
  template <class IntT>
  pickle_writer& number(IntT value);

  std::string bytes_;
};

// ---- documents

struct object;
/// Objects are shared by pointer, as Python shares them: written once, then fetched from the memo.
using object_ptr = std::shared_ptr<object const>;

struct object {
  enum class kind { none, boolean, integer, unsigned_integer, real, text, list, tuple, dict };
  kind what = kind::none;
  std::int64_t integer = 0;  ///< of a boolean, too
  std::uint64_t unsigned_integer = 0;
  double real = 0;
  std::string text{};
  std::vector<object_ptr> items{};
  std::vector<std::pair<std::string, object_ptr>> pairs{};
};

using object_pairs = std::vector<std::pair<std::string, object_ptr>>;

[[nodiscard]] object_ptr none();
[[nodiscard]] object_ptr boolean(bool value);
[[nodiscard]] object_ptr integer(std::int64_t value);
[[nodiscard]] object_ptr unsigned_integer(std::uint64_t value);
[[nodiscard]] object_ptr real(double value);
[[nodiscard]] object_ptr text(std::string_view value);
[[nodiscard]] object_ptr list(std::vector<object_ptr> items);
[[nodiscard]] object_ptr tuple(std::vector<object_ptr> items);
[[nodiscard]] object_ptr dict(object_pairs pairs);
/// A copy of `from` with `changes` set, or dropped where the new value is null.
[[nodiscard]] object_ptr with(object_ptr const& from, object_pairs const& changes);

/// CPython's pickler, protocols 0 to 5: batches of 1000, one item by APPEND or SETITEM, every
/// container and text memoized, frames from protocol 4 on. Texts must be ASCII in protocol 0.
[[nodiscard]] std::string write_python_pickle(object_ptr const& root, int protocol);
/// PyTorch's C++ pickler: protocol 2, one batch of any size, texts memoized by content, containers
/// only when shared, and after their items.
[[nodiscard]] std::string write_cpp_pickle(object_ptr const& root);
[[nodiscard]] std::string write_json(object_ptr const& root);

// ---- snapshots

[[nodiscard]] object_ptr frame_object(std::string_view function, std::string_view file,
                                      std::int64_t line);
/// `more` follows the keys that every event has.
[[nodiscard]] object_ptr event_object(std::string_view action, std::int64_t address,
                                      std::int64_t size, object_pairs const& more = {});
[[nodiscard]] object_ptr block_object(std::int64_t address, std::int64_t size,
                                      std::string_view state, object_pairs const& more = {});
/// The sums follow from the blocks.
[[nodiscard]] object_ptr segment_object(std::int64_t address, std::vector<object_ptr> blocks,
                                        object_pairs const& more = {});
/// `segments` and `device_traces`, one trace a device.
[[nodiscard]] object_ptr snapshot_object(std::vector<object_ptr> segments,
                                         std::vector<object_ptr> traces,
                                         object_pairs const& more = {});
/// Two devices, shared frames and stacks, every kind of event, blocks, settings and annotations.
[[nodiscard]] object_ptr small_snapshot();

}  // namespace memreplay::testing
