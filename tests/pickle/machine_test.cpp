// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pickle machine opcode by opcode, its memo, its refusals, and what it does with hostile bytes.
#include "pickle/machine.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "pickle/opcode.hpp"
#include "support/pickle_writer.hpp"

namespace memreplay::pickle {
namespace {

using testing::as_input;
using testing::pickle_writer;

/// Spells containers out like Python's repr. Payloads are rows of `texts_`.
class spelling_sink final : public sink {
 public:
  std::uint64_t text(std::string_view content) override {
    auto const known = std::ranges::find(names_, content);
    if (known != names_.end()) return static_cast<std::uint64_t>(known - names_.begin());
    names_.emplace_back(content);
    return names_.size() - 1;
  }
  bool is_settled(std::span<value const> items) const override {
    return std::ranges::all_of(
        items, [](value const& item) { return item.kind == value_kind::dict && item.bits != 0; });
  }
  std::uint64_t dict_items(std::uint64_t current, std::span<value const> items,
                           bool is_cut) override {
    EXPECT_EQ(items.size() % 2, 0U);
    std::string content;
    for (std::size_t at = 0; at + 1 < items.size(); at += 2) {
      content += (content.empty() ? "" : ", ") + spell(items[at]) + ": " + spell(items[at + 1]);
    }
    if (is_cut) content += " CUT";
    return add(current, content);
  }
  std::uint64_t list_items(std::uint64_t current, std::span<value const> items) override {
    largest_batch = std::max(largest_batch, items.size());
    ++list_calls;
    return add(current, spell(items));
  }
  std::uint64_t tuple_items(std::span<value const> items) override { return add(0, spell(items)); }

  std::string spell(value const& item) const {
    EXPECT_FALSE(item.pending);
    switch (item.kind) {
      case value_kind::none: return "None";
      case value_kind::boolean: return item.bits != 0 ? "True" : "False";
      case value_kind::integer: return std::to_string(static_cast<std::int64_t>(item.bits));
      case value_kind::unsigned_integer: return std::to_string(item.bits) + "u";
      case value_kind::huge_integer: return "huge";
      case value_kind::real: return fmt::format("{}f", std::bit_cast<double>(item.bits));
      case value_kind::text: return fmt::format("'{}'", names_.at(item.bits));
      case value_kind::list: return "[" + content_of(item.bits) + "]";
      case value_kind::dict: return "{" + content_of(item.bits) + "}";
      case value_kind::tuple: return "(" + content_of(item.bits) + ")";
    }
    return "?";
  }

  std::size_t largest_batch = 0;
  int list_calls = 0;

 private:
  std::string spell(std::span<value const> items) const {
    std::string content;
    for (value const& item : items) content += (content.empty() ? "" : ", ") + spell(item);
    return content;
  }
  std::string content_of(std::uint64_t payload) const {
    return payload == 0 ? "" : texts_.at(payload - 1);
  }
  std::uint64_t add(std::uint64_t current, std::string const& more) {
    std::string whole = content_of(current);
    if (!whole.empty() && !more.empty()) whole += ", ";
    texts_.push_back(whole + more);
    return texts_.size();
  }

  std::vector<std::string> names_;
  std::vector<std::string> texts_;
};

/// Counts and keeps nothing: for inputs whose size matters.
class counting_sink final : public sink {
 public:
  std::uint64_t text(std::string_view /*content*/) override { return 0; }
  std::uint64_t dict_items(std::uint64_t, std::span<value const> items, bool) override {
    return count(items.size());
  }
  std::uint64_t list_items(std::uint64_t, std::span<value const> items) override {
    return count(items.size());
  }
  std::uint64_t tuple_items(std::span<value const> items) override { return count(items.size()); }

 private:
  std::uint64_t count(std::size_t more) {
    items_ += more;
    return items_ | 1;
  }

  std::size_t items_ = 0;
};

/// A machine over bytes in memory, which come in parts of `part_bytes`.
class reading {
 public:
  reading(std::string_view bytes, sink& listener, bool salvage = false,
          std::size_t part_bytes = std::size_t{1} << 20)
      : source_(as_input(bytes)),
        feed_(source_, {.threads = 1, .part_bytes = part_bytes}),
        machine_(feed_, listener, {.salvage = salvage}) {}
  machine* operator->() { return &machine_; }

 private:
  base::memory_source source_;
  part_feed feed_;
  machine machine_;
};

/// What came out, or the error in words.
std::string outcome(std::string_view bytes, bool salvage, std::size_t part_bytes) {
  spelling_sink listener;
  reading reader(bytes, listener, salvage, part_bytes);
  try {
    return listener.spell(reader->run());
  } catch (error const& problem) {
    return fmt::format("{} at {}, {}", problem.what(), problem.byte_offset().value_or(0),
                       problem.hint());
  }
}

/// However the bytes are cut into parts, they say the same.
std::string spelled(std::string_view bytes, bool salvage = false) {
  spelling_sink listener;
  std::string const whole = outcome(bytes, salvage, std::size_t{1} << 20);
  std::initializer_list<std::size_t> const part_bytes{1, 2, 7, 100};
  for (std::size_t const size : part_bytes) {
    if (bytes.size() < 50'000) {
      EXPECT_EQ(outcome(bytes, salvage, size), whole) << size;
    }
  }
  reading reader(bytes, listener, salvage);
  return listener.spell(reader->run());
}
std::string spelled(pickle_writer const& pickle) { return spelled(pickle.text()); }

error failure_of(std::string_view bytes, bool salvage = false) {
  try {
    std::string const result = spelled(bytes, salvage);
    ADD_FAILURE() << "no error, but " << result.substr(0, 200);
  } catch (error const& problem) {
    return problem;
  }
  return {error_code::cannot_read, "none"};
}
error failure_of(pickle_writer const& pickle) { return failure_of(pickle.text()); }

pickle_writer begin() { return {}; }

// ---- opcodes

TEST(machine, scalars) {
  EXPECT_EQ(spelled(begin().none().stop()), "None");
  EXPECT_EQ(spelled(begin().newtrue().stop()), "True");
  EXPECT_EQ(spelled(begin().newfalse().stop()), "False");
  EXPECT_EQ(spelled(begin().binint1(255).stop()), "255");
  EXPECT_EQ(spelled(begin().binint2(65535).stop()), "65535");
  EXPECT_EQ(spelled(begin().binint(INT32_MIN).stop()), "-2147483648");
  EXPECT_EQ(spelled(begin().binfloat(-0.1).stop()), "-0.1f");
  EXPECT_EQ(spelled(begin().binfloat(HUGE_VAL).stop()), "inff");
}

TEST(machine, integers_of_every_length) {
  EXPECT_EQ(spelled(begin().long1({}).stop()), "0");
  EXPECT_EQ(spelled(begin().long1({0x7f}).stop()), "127");
  EXPECT_EQ(spelled(begin().long1({0x80}).stop()), "-128");
  EXPECT_EQ(spelled(begin().long1({0xff, 0x00}).stop()), "255");
  EXPECT_EQ(spelled(begin().long1({1, 2, 3}).stop()), "197121");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0x80}).stop()), "-2147483648");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0x80, 0}).stop()), "2147483648");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0, 0, 0x7f}).stop()), "139637976727552");
  EXPECT_EQ(spelled(begin().long1({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).stop()), "-1");
  EXPECT_EQ(spelled(begin().long1({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}).stop()),
            "9223372036854775807");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0, 0, 0, 0, 0x80}).stop()), "-9223372036854775808");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0, 0, 0, 0, 0x80, 0}).stop()), "9223372036854775808u");
  EXPECT_EQ(spelled(begin().long1({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}).stop()),
            "18446744073709551615u");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0, 0, 0, 0, 0, 1}).stop()), "huge");
  EXPECT_EQ(spelled(begin().long1({0, 0, 0, 0, 0, 0, 0, 0, 0xff}).stop()), "huge");
  EXPECT_EQ(spelled(begin().long4({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}).stop()), "huge");
  EXPECT_EQ(spelled(begin().long4({5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}).stop()), "5");
}

TEST(machine, integers_at_the_very_end_of_the_bytes) {
  // The eight-byte load must not reach beyond the input.
  for (std::size_t length = 0; length <= 9; ++length) {
    std::string bytes = "\x8a";
    bytes.push_back(static_cast<char>(length));
    bytes += std::string(length, '\1');
    EXPECT_EQ(failure_of(bytes).code(), error_code::damaged) << length;
  }
}

TEST(machine, texts) {
  EXPECT_EQ(spelled(begin().short_binunicode("").stop()), "''");
  EXPECT_EQ(spelled(begin().short_binunicode("alloc").stop()), "'alloc'");
  EXPECT_EQ(spelled(begin().binunicode("alloc").stop()), "'alloc'");
  EXPECT_EQ(spelled(begin().binunicode8("alloc").stop()), "'alloc'");
  EXPECT_EQ(spelled(begin().short_binstring("alloc").stop()), "'alloc'");
  EXPECT_EQ(spelled(begin().binstring("alloc").stop()), "'alloc'");
  std::string const wide(70'000, 'x');
  EXPECT_EQ(spelled(begin().binunicode(wide).stop()), "'" + wide + "'");
  EXPECT_EQ(spelled(begin().binunicode8(wide).stop()), "'" + wide + "'");
}

TEST(machine, texts_keep_bytes_that_are_no_utf8) {
  EXPECT_EQ(spelled(begin().short_binunicode("a\xed\xa0\x80z").stop()), "'a\xed\xa0\x80z'");
  EXPECT_EQ(spelled(begin().short_binunicode("\xff\xfe").stop()), "'\xff\xfe'");
  EXPECT_EQ(spelled(begin().short_binunicode({"a\0b", 3}).stop()), std::string("'a\0b'", 5));
}

TEST(machine, text_opcodes) {
  EXPECT_EQ(spelled(begin().int_line("42").stop()), "42");
  EXPECT_EQ(spelled(begin().int_line("-7").stop()), "-7");
  EXPECT_EQ(spelled(begin().int_line("01").stop()), "True");
  EXPECT_EQ(spelled(begin().int_line("00").stop()), "False");
  EXPECT_EQ(spelled(begin().int_line("1").stop()), "1");
  EXPECT_EQ(spelled(begin().int_line("18446744073709551615").stop()), "18446744073709551615u");
  EXPECT_EQ(spelled(begin().long_line("140737488355328L").stop()), "140737488355328");
  EXPECT_EQ(spelled(begin().long_line("01").stop()), "1");
  EXPECT_EQ(spelled(begin().long_line("99999999999999999999L").stop()), "huge");
  EXPECT_EQ(spelled(begin().float_line("0.25").stop()), "0.25f");
  EXPECT_EQ(spelled(begin().float_line("-1e-3").stop()), "-0.001f");
  EXPECT_EQ(spelled(begin().string_line("'it\\'s'").stop()), "'it's'");
  EXPECT_EQ(spelled(begin().unicode_line("sn\\u00e9").stop()), "'sn\xc3\xa9'");
  EXPECT_EQ(spelled("I42\r\n."), "42");
  EXPECT_EQ(failure_of(begin().int_line("").stop()).code(), error_code::damaged);
  EXPECT_EQ(failure_of(begin().int_line("4x").stop()).code(), error_code::damaged);
  EXPECT_EQ(failure_of(begin().long_line("L").stop()).code(), error_code::damaged);
  EXPECT_EQ(failure_of(begin().float_line("fast").stop()).code(), error_code::damaged);
  EXPECT_EQ(failure_of(begin().get_line("x").stop()).code(), error_code::damaged);
}

TEST(machine, lists) {
  EXPECT_EQ(spelled(begin().empty_list().stop()), "[]");
  EXPECT_EQ(spelled(begin().empty_list().none().append().stop()), "[None]");
  EXPECT_EQ(spelled(begin().empty_list().mark().appends().stop()), "[]");
  EXPECT_EQ(spelled(begin().empty_list().mark().binint1(1).binint1(2).appends().stop()), "[1, 2]");
  EXPECT_EQ(spelled(begin()
                        .empty_list()
                        .mark()
                        .binint1(1)
                        .appends()
                        .binint1(2)
                        .append()
                        .mark()
                        .binint1(3)
                        .appends()
                        .stop()),
            "[1, 2, 3]");
  EXPECT_EQ(spelled(begin().mark().binint1(1).binint1(2).list().stop()), "[1, 2]");
  EXPECT_EQ(spelled(begin().mark().list().stop()), "[]");
}

TEST(machine, dictionaries) {
  EXPECT_EQ(spelled(begin().empty_dict().stop()), "{}");
  EXPECT_EQ(spelled(begin().empty_dict().mark().setitems().stop()), "{}");
  EXPECT_EQ(spelled(begin().empty_dict().binint1(1).none().setitem().stop()), "{1: None}");
  EXPECT_EQ(spelled(begin()
                        .empty_dict()
                        .mark()
                        .binint1(1)
                        .binint1(2)
                        .setitems()
                        .binint1(3)
                        .binint1(4)
                        .setitem()
                        .stop()),
            "{1: 2, 3: 4}");
  EXPECT_EQ(spelled(begin().mark().binint1(1).binint1(2).dict().stop()), "{1: 2}");
  EXPECT_EQ(spelled(begin().mark().dict().stop()), "{}");
}

TEST(machine, tuples) {
  EXPECT_EQ(spelled(begin().empty_tuple().stop()), "()");
  EXPECT_EQ(spelled(begin().binint1(1).tuple1().stop()), "(1)");
  EXPECT_EQ(spelled(begin().binint1(1).binint1(2).tuple2().stop()), "(1, 2)");
  EXPECT_EQ(spelled(begin().binint1(1).binint1(2).binint1(3).tuple3().stop()), "(1, 2, 3)");
  EXPECT_EQ(spelled(begin().mark().binint1(1).binint1(2).tuple().stop()), "(1, 2)");
  EXPECT_EQ(spelled(begin().mark().tuple().stop()), "()");
  EXPECT_EQ(failure_of(begin().binint1(1).tuple2().stop()).code(), error_code::damaged);
  EXPECT_EQ(failure_of(begin().binint1(1).mark().binint1(1).tuple2().stop()).code(),
            error_code::damaged);
}

TEST(machine, nested_containers_one_item_at_a_time) {
  pickle_writer pickle;
  pickle.empty_dict();
  pickle.short_binunicode("a").empty_list();
  pickle.empty_dict().short_binunicode("b").empty_list().binint1(1).append().setitem();
  pickle.append().binint1(2).append().setitem();
  pickle.short_binunicode("c").binint1(3).tuple1().setitem();
  EXPECT_EQ(spelled(pickle.stop()), "{'a': [{'b': [1]}, 2], 'c': (3)}");
}

TEST(machine, more_than_a_thousand_single_items) {
  pickle_writer pickle;
  std::string expected = "[";
  pickle.empty_list().memoize();
  for (int row = 0; row < 2503; ++row) {
    pickle.binint2(row).append();
    expected += (row == 0 ? "" : ", ") + std::to_string(row);
  }
  spelling_sink listener;
  reading reader(pickle.stop().text(), listener);
  EXPECT_EQ(listener.spell(reader->run()), expected + "]");
  EXPECT_LE(listener.largest_batch, 1001U);
  EXPECT_LE(listener.list_calls, 3);

  pickle_writer items;
  items.empty_dict();
  for (int row = 0; row < 2503; ++row) items.binint2(row).none().setitem();
  EXPECT_TRUE(spelled(items.stop()).ends_with("2502: None}"));
}

TEST(machine, small_batches_after_the_first_are_handed_on_together) {
  pickle_writer pickle;
  pickle.none().binput(0).pop().empty_list().binput(1);
  for (int row = 0; row < 5000; ++row) pickle.mark().binget(0).appends();
  spelling_sink listener;
  reading reader(pickle.stop().text(), listener);
  std::string const list = listener.spell(reader->run());
  EXPECT_EQ(list.size(), 5000U * 6);
  EXPECT_LE(listener.list_calls, 7);
}

TEST(machine, frames_protocols_and_trailing_bytes_are_passed_over) {
  EXPECT_EQ(spelled(begin().proto(4).frame(3).binint1(1).stop().raw({"\0\0\0", 3})), "1");
  EXPECT_EQ(spelled(begin().binint1(1).stop().raw("rubbish")), "1");
  spelling_sink listener;
  for (int protocol = 0; protocol <= 5; ++protocol) {
    pickle_writer const pickle = pickle_writer{}.proto(protocol).none().stop();
    reading reader(pickle.text(), listener);
    (void)reader->run();
    EXPECT_EQ(reader->protocol(), protocol);
  }
  pickle_writer const old = pickle_writer{}.none().stop();
  reading reader(old.text(), listener);
  (void)reader->run();
  EXPECT_EQ(reader->protocol(), -1);
  error const newer = failure_of(begin().proto(6).none().stop());
  EXPECT_EQ(newer.code(), error_code::refused);
  EXPECT_NE(std::string(newer.what()).find("protocol 6"), std::string::npos);
}

// ---- memo

TEST(machine, memo_forms) {
  for (int form = 0; form < 4; ++form) {
    pickle_writer pickle;
    pickle.empty_list().mark().short_binunicode("x");
    if (form == 0) pickle.memoize().binget(0);
    if (form == 1) pickle.binput(7).binget(7);
    if (form == 2) pickle.long_binput(1000).long_binget(1000);
    if (form == 3) pickle.put_line("12").get_line("12");
    EXPECT_EQ(spelled(pickle.appends().stop()), "['x', 'x']") << form;
  }
}

TEST(machine, memoize_counts_on_from_zero) {
  pickle_writer pickle;
  pickle.mark().short_binunicode("a").memoize().short_binunicode("b").memoize().binget(1).binget(0);
  EXPECT_EQ(spelled(pickle.list().stop()), "['a', 'b', 'b', 'a']");
}

TEST(machine, sparse_slots) {
  pickle_writer pickle;
  pickle.mark().short_binunicode("a").long_binput(4'000'000'000U);
  pickle.short_binunicode("b").long_binput(900'000).put_line("99999999999");
  pickle.long_binget(4'000'000'000U).long_binget(900'000).get_line("99999999999");
  EXPECT_EQ(spelled(pickle.list().stop()), "['a', 'b', 'a', 'b', 'b']");
}

TEST(machine, every_kind_can_be_memoized) {
  pickle_writer pickle;
  pickle.empty_list().mark();
  pickle.none().memoize().newtrue().memoize().binint1(7).memoize();
  pickle.long1({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}).memoize();
  pickle.binfloat(0.5).memoize().empty_tuple().memoize().empty_dict().memoize();
  pickle.unicode_line("v").memoize();
  for (int slot = 0; slot < 8; ++slot) pickle.binget(slot);
  std::string const once = "None, True, 7, 18446744073709551615u, 0.5f, (), {}, 'v'";
  EXPECT_EQ(spelled(pickle.appends().stop()), "[" + once + ", " + once + "]");
}

TEST(machine, slots_that_were_never_made) {
  for (pickle_writer const& pickle :
       {pickle_writer{}.binget(0).stop(), pickle_writer{}.long_binget(4'000'000'000U).stop(),
        pickle_writer{}.none().binput(3).binget(2).stop(), pickle_writer{}.get_line("5").stop(),
        pickle_writer{}.empty_list().mark().binget(9).appends().stop()}) {
    error const problem = failure_of(pickle);
    EXPECT_EQ(problem.code(), error_code::damaged);
    EXPECT_NE(std::string(problem.what()).find("was never made"), std::string::npos);
    EXPECT_TRUE(problem.byte_offset().has_value());
  }
}

TEST(machine, a_slot_follows_its_container) {
  pickle_writer pickle;
  pickle.mark().empty_list().binput(0).mark().binint1(1).binint1(2).appends().binget(0);
  EXPECT_EQ(spelled(pickle.list().stop()), "[[1, 2], [1, 2]]");
}

TEST(machine, a_list_of_one_item_is_complete_when_it_is_fetched) {
  // As in a dictionary that names one stack of a single frame twice.
  for (bool const late : {false, true}) {
    pickle_writer pickle;
    pickle.empty_dict().mark().short_binunicode("a").empty_list();
    if (!late) pickle.memoize();
    pickle.binint1(1).append();
    if (late) pickle.memoize();
    pickle.short_binunicode("b").empty_list().binint1(2).append();
    pickle.short_binunicode("c").binget(0).setitems().stop();
    EXPECT_EQ(spelled(pickle), "{'a': [1], 'b': [2], 'c': [1]}") << late;
  }
  pickle_writer dicts;
  dicts.mark().empty_dict().binput(5).binint1(1).none().setitem().binget(5).list().stop();
  EXPECT_EQ(spelled(dicts), "[{1: None}, {1: None}]");
  pickle_writer runs;  // inside a run of gets
  runs.mark().empty_list().binput(5).binint1(1).append();
  runs.empty_list().mark().binget(5).binget(5).appends().list().stop();
  EXPECT_EQ(spelled(runs), "[[1], [[1], [1]]]");
}

TEST(machine, a_container_does_not_grow_after_it_was_used) {
  pickle_writer fetched;
  fetched.empty_list().binput(0).pop().binget(0).binint1(1).append().stop();
  EXPECT_EQ(failure_of(fetched).code(), error_code::damaged);
  pickle_writer batch;
  batch.empty_list().binput(0).pop().binget(0).mark().binint1(1).appends().stop();
  EXPECT_EQ(failure_of(batch).code(), error_code::damaged);
  pickle_writer items;
  items.empty_dict().binput(0).pop().binget(0).mark().none().none().setitems().stop();
  EXPECT_EQ(failure_of(items).code(), error_code::damaged);
  pickle_writer item;
  item.empty_dict().binput(0).pop().binget(0).none().none().setitem().stop();
  EXPECT_EQ(failure_of(item).code(), error_code::damaged);
  pickle_writer twin;
  twin.empty_list().dup().binint1(1).append().tuple2().stop();
  EXPECT_EQ(failure_of(twin).code(), error_code::damaged);
  pickle_writer while_waiting;
  while_waiting.empty_list().binput(0).binint1(1).append().binget(0).append();
  EXPECT_EQ(failure_of(while_waiting.stop()).code(), error_code::damaged);
}

TEST(machine, a_list_that_contains_itself_ends) {
  pickle_writer pickle;
  pickle.empty_list().binput(0).mark().binget(0).binget(0).appends().stop();
  EXPECT_EQ(spelled(pickle), "[[], []]");
  pickle_writer slow;
  slow.empty_list().binput(0).mark().none().binget(0).appends().stop();
  EXPECT_EQ(spelled(slow), "[None, []]");
}

TEST(machine, a_slot_that_was_given_to_another_object_stays_with_it) {
  pickle_writer pickle;
  pickle.mark().empty_list().binput(0).mark().short_binunicode("new").binput(0).appends();
  pickle.binget(0).list().stop();
  EXPECT_EQ(spelled(pickle), "[['new'], 'new']");
}

TEST(machine, two_slots_of_one_object) {
  pickle_writer pickle;
  pickle.mark().short_binunicode("x").memoize().binput(9).binget(0).binget(9).list().stop();
  EXPECT_EQ(spelled(pickle), "['x', 'x', 'x']");
  pickle_writer lists;
  lists.mark().empty_list().binint1(1).append().memoize().memoize().binget(0).binget(1).list();
  EXPECT_EQ(spelled(lists.stop()), "[[1], [1], [1]]");
}

// ---- runs of gets

TEST(machine, runs_of_gets) {
  pickle_writer pickle;
  pickle.mark().short_binunicode("a").binput(0).short_binunicode("b").long_binput(300);
  pickle.empty_list().mark().binget(0).long_binget(300).long_binget(0).binget(0).appends();
  pickle.empty_list().mark().binget(0).long_binget(300).long_binget(0).binget(0).appends();
  pickle.empty_list().mark().long_binget(300).appends();
  EXPECT_EQ(spelled(pickle.list().stop()),
            "['a', 'b', ['a', 'b', 'a', 'a'], ['a', 'b', 'a', 'a'], ['b']]");
}

TEST(machine, runs_of_every_length) {
  for (int length = 1; length < 40; ++length) {
    pickle_writer pickle;
    pickle.short_binunicode("a").binput(0).pop().empty_list().mark();
    std::string expected;
    for (int row = 0; row < length; ++row) {
      row % 7 == 3 ? pickle.long_binget(0) : pickle.binget(0);
      expected += row == 0 ? "'a'" : ", 'a'";
    }
    EXPECT_EQ(spelled(pickle.appends().stop()), "[" + expected + "]");
  }
}

TEST(machine, equal_runs_are_told_once) {
  pickle_writer pickle;
  pickle.mark().empty_dict().mark().none().none().setitems().binput(0);
  for (int row = 0; row < 50; ++row) pickle.empty_list().mark().binget(0).binget(0).appends();
  spelling_sink listener;
  reading reader(pickle.list().stop().text(), listener);
  (void)reader->run();
  EXPECT_EQ(listener.list_calls, 2);  // the run, and the list around all
}

TEST(machine, an_overwritten_slot_makes_equal_runs_different) {
  for (std::uint32_t const slot : {0U, 5U, 4'000'000'000U}) {
    pickle_writer pickle;
    pickle.mark().short_binunicode("old").long_binput(slot);
    pickle.empty_list().mark().long_binget(slot).long_binget(slot).appends();
    pickle.short_binunicode("new").long_binput(slot);
    pickle.empty_list().mark().long_binget(slot).long_binget(slot).appends();
    EXPECT_EQ(spelled(pickle.list().stop()), "['old', ['old', 'old'], 'new', ['new', 'new']]");
  }
}

TEST(machine, a_run_that_names_a_list_sees_it_grow) {
  pickle_writer pickle;
  pickle.mark().empty_list().binput(0).mark();
  pickle.empty_list().mark().binget(0).binget(0).appends().appends();
  pickle.empty_list().mark().binget(0).binget(0).appends().list().stop();
  EXPECT_EQ(spelled(pickle), "[[[[], []]], [[[[], []]], [[[], []]]]]");
}

TEST(machine, a_frame_in_a_run) {
  pickle_writer pickle;
  pickle.proto(4).mark().none().binput(0);
  pickle.empty_list().mark().binget(0).frame(20).binget(0).appends();
  pickle.empty_list().mark().binget(0).binget(0).frame(20).appends();
  pickle.empty_list().mark().frame(20).binget(0).binget(0).appends();
  EXPECT_EQ(spelled(pickle.list().stop()), "[None, [None, None], [None, None], [None, None]]");
}

TEST(machine, runs_in_several_batches) {
  pickle_writer pickle;
  pickle.mark().short_binunicode("a").binput(0).short_binunicode("b").binput(1);
  pickle.empty_list().binput(2);
  for (int slot : {0, 1, 0}) {
    pickle.mark();
    for (int row = 0; row < 1000; ++row) pickle.binget(slot);
    pickle.appends();
  }
  pickle.mark().binget(1).appends().binget(1).append().binget(2);
  std::string list;
  for (char const* item : {"'a', ", "'b', ", "'a', "}) {
    for (int row = 0; row < 1000; ++row) list += item;
  }
  list = "[" + list + "'b', 'b']";
  EXPECT_EQ(spelled(pickle.list().stop()), "['a', 'b', " + list + ", " + list + "]");
}

TEST(machine, a_run_onto_a_list_whose_items_wait) {
  // The first waiting container has place 0 of the side stack, which must not read as "empty".
  pickle_writer pickle;
  pickle.short_binunicode("x").binput(0).pop().empty_list().none().append();
  pickle.mark().binget(0).binget(0).appends().stop();
  EXPECT_EQ(spelled(pickle), "[None, 'x', 'x']");
}

// ---- stack games

TEST(machine, pop_and_dup) {
  EXPECT_EQ(spelled(begin().binint1(1).binint1(2).pop().stop()), "1");
  EXPECT_EQ(spelled(begin().binint1(1).dup().tuple2().stop()), "(1, 1)");
  EXPECT_EQ(spelled(begin().binint1(1).mark().binint1(2).pop_mark().stop()), "1");
  EXPECT_EQ(spelled(begin().binint1(1).mark().pop().stop()), "1");
  pickle_writer waiting;
  waiting.empty_list().binint1(1).append().dup().tuple2().stop();
  EXPECT_EQ(spelled(waiting), "([1], [1])");
  pickle_writer dropped;
  dropped.empty_list().binint1(1).append();
  dropped.mark().empty_list().binint1(2).append().empty_dict().none().none().setitem();
  dropped.pop_mark().binint1(3).append().stop();
  EXPECT_EQ(spelled(dropped), "[1, 3]");
}

TEST(machine, operations_without_their_operands) {
  for (char const* bytes :
       {".",     "0",    "1",    "2",     "a",      "Na",    "s",     "Ns",   "NNs",
        "e",     "(e",   "u",    "(u",    "t",      "l",     "d",     "(Nd.", "q\1",
        "\x94",  "\x85", "\x86", "\x87",  "(.",     "NN.",   "N(NNa", "](a",  "}((N(s",
        "}(N(u", "](N(", "(]e",  "N(Ne.", "N(NNu.", "](NNs", "}NNNs."}) {
    error const problem = failure_of(std::string_view(bytes));
    EXPECT_EQ(problem.code(), error_code::damaged) << bytes;
  }
}

// ---- refusals

TEST(machine, opcodes_that_build_objects_are_refused_by_name_and_place) {
  int count = 0;
  for (int code = 0; code < 256; ++code) {
    char const* const name = opcode::refused_name(static_cast<std::uint8_t>(code));
    if (name == nullptr) continue;
    ++count;
    std::string bytes = "\x80\x04]K\x01";
    bytes.push_back(static_cast<char>(code));
    for (std::string const& rest : {std::string("os\nsystem\n."), std::string()}) {
      error const problem = failure_of(bytes + rest);
      EXPECT_EQ(problem.code(), error_code::refused);
      EXPECT_EQ(problem.byte_offset(), 5U);
      EXPECT_NE(std::string(problem.what()).find(name), std::string::npos) << problem.what();
      EXPECT_FALSE(problem.hint().empty());
    }
    // Salvaging does not make it run either.
    EXPECT_EQ(failure_of(bytes, true).code(), error_code::refused);
  }
  EXPECT_EQ(count, 22);
}

TEST(machine, every_byte_is_known_refused_or_damaged) {
  for (int code = 0; code < 256; ++code) {
    std::string bytes(1, static_cast<char>(code));
    bytes += std::string(16, '\0');
    try {
      (void)spelled(bytes);
      ADD_FAILURE() << code;
    } catch (error const& problem) {
      EXPECT_TRUE(problem.code() == error_code::damaged || problem.code() == error_code::refused);
    }
  }
  error const unknown = failure_of("N\xf0.");
  EXPECT_EQ(unknown.code(), error_code::damaged);
  EXPECT_EQ(unknown.byte_offset(), 1U);
  EXPECT_NE(std::string(unknown.what()).find("0xf0"), std::string::npos);
}

TEST(machine, absurd_counts_end_at_once) {
  for (pickle_writer const& pickle :
       {pickle_writer{}.binunicode_header(0xffff'ffff).raw("x"),
        pickle_writer{}.binunicode8_header(1'000'000'000'000'000).raw("x"),
        pickle_writer{}.binunicode8_header(~std::uint64_t{0}).raw("x"),
        pickle_writer{}.long4_header(INT32_MAX).raw("x"), pickle_writer{}.raw("T\xff\xff\xff\xff"),
        pickle_writer{}.frame(~std::uint64_t{0})}) {
    EXPECT_EQ(failure_of(pickle).code(), error_code::damaged);
  }
  EXPECT_EQ(failure_of(begin().long4_header(-1).raw("x")).code(), error_code::damaged);
  EXPECT_EQ(spelled(begin().none().long_binput(4'000'000'000U).stop()), "None");
}

TEST(machine, an_absurd_length_is_gathered_once) {
  // Joining part after part would copy what is there 16384 times.
  std::string const bytes =
      pickle_writer{}.binunicode8_header(~std::uint64_t{0}).text() + std::string(16 << 20, 'x');
  EXPECT_EQ(outcome(bytes, false, 1024), outcome(bytes, false, std::size_t{1} << 20));
}

TEST(machine, depth_is_bounded) {
  std::string nested;
  for (int level = 0; level < 200; ++level) nested += "](";
  EXPECT_EQ(spelled(nested + std::string(200, 'e') + "."),
            std::string(200, '[') + std::string(200, ']'));
  std::string deep;
  for (int level = 0; level < 300; ++level) deep += "](";
  error const problem = failure_of(deep);
  EXPECT_EQ(problem.code(), error_code::refused);
  EXPECT_NE(std::string(problem.what()).find("256"), std::string::npos);
}

TEST(machine, hostile_sizes_are_refused_early) {
  constexpr std::size_t size = std::size_t{8} << 20;
  std::string pairs;
  for (std::size_t at = 0; at < size / 2; ++at) pairs += "]\x94";
  for (std::string const& bytes : {std::string(size, ']'), std::string(size, '('), pairs,
                                   std::string(size, 'N'), std::string(size, '}')}) {
    counting_sink listener;
    reading reader(bytes, listener);
    auto const start = std::chrono::steady_clock::now();
    try {
      (void)reader->run();
      ADD_FAILURE() << bytes.substr(0, 4);
    } catch (error const& problem) {
      EXPECT_EQ(problem.code(), error_code::refused);
      EXPECT_LT(problem.byte_offset().value(), size);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  }
}

TEST(machine, hostile_memo_is_refused_early) {
  // Each entry is dropped from the stack at once, so only the memo grows.
  std::string bytes;
  for (std::size_t at = 0; at < std::size_t{2} << 20; ++at) bytes += "N\x94\x30";
  counting_sink listener;
  reading reader(bytes, listener);
  try {
    (void)reader->run();
    ADD_FAILURE();
  } catch (error const& problem) {
    EXPECT_EQ(problem.code(), error_code::damaged);  // complete, but without STOP
  }
  std::string puts = "N";
  for (std::uint32_t slot = 0; slot < 2'000'000; ++slot)
    puts += pickle_writer{}.long_binput(4'294'967'294U - slot).text();
  reading sparse(puts, listener);
  EXPECT_THROW((void)sparse->run(), error);
}

TEST(machine, overwriting_a_slot_over_and_over_stays_fast) {
  pickle_writer pickle;
  pickle.none().binput(0).pop().empty_list().mark();
  for (int row = 0; row < 200'000; ++row)
    pickle.empty_list().mark().binget(0).appends().binput(0).pop();
  counting_sink listener;
  std::string const bytes = pickle.appends().stop().text();
  reading reader(bytes, listener);
  auto const start = std::chrono::steady_clock::now();
  (void)reader->run();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

// ---- truncation

TEST(machine, truncated_at_every_byte) {
  std::vector<std::string> pickles;
  for (int protocol = 0; protocol <= 5; ++protocol)
    pickles.push_back(write_python_pickle(testing::small_snapshot(), protocol));
  pickles.push_back(write_cpp_pickle(testing::small_snapshot()));
  for (std::string const& whole : pickles) {
    EXPECT_FALSE(spelled(whole).empty());
    for (std::size_t length = 0; length < whole.size(); ++length) {
      // Copied, so that a sanitizer sees a read beyond the end.
      std::vector<char> const cut(whole.begin(),
                                  whole.begin() + static_cast<std::ptrdiff_t>(length));
      std::string_view const bytes(cut.data(), cut.size());
      EXPECT_EQ(failure_of(bytes).code(), error_code::damaged) << length;
      try {
        (void)spelled(bytes, true);
      } catch (error const& problem) {
        EXPECT_EQ(problem.code(), error_code::damaged) << length;
      }
    }
  }
}

TEST(machine, a_truncated_pickle_says_where) {
  error const problem =
      failure_of(begin().empty_list().short_binunicode("abc").text().substr(0, 4));
  EXPECT_NE(std::string(problem.what()).find("byte 4"), std::string::npos) << problem.what();
  EXPECT_EQ(problem.byte_offset(), 1U);
  EXPECT_NE(problem.hint().find("--salvage"), std::string::npos);
}

TEST(machine, salvage_closes_what_is_open) {
  struct example {
    pickle_writer cut;
    char const* expected;
  };
  example const examples[] = {
      {begin().empty_list().mark().binint1(1).binint1(2), "[1, 2]"},
      {begin().empty_list().mark().binint1(1).appends().mark().binint1(2), "[1, 2]"},
      {begin().empty_list().binint1(1).append().binint1(2), "[1, 2]"},
      {begin().empty_dict().mark().short_binunicode("a").binint1(1).short_binunicode("b"),
       "{'a': 1 CUT}"},
      // A list with one list in it gets that one only when it is complete.
      {begin()
           .empty_dict()
           .mark()
           .short_binunicode("t")
           .empty_list()
           .empty_list()
           .mark()
           .binint1(1)
           .binint1(2),
       "{'t': [[1, 2]] CUT}"},
      // Dictionaries that are cut are left out, except the outermost.
      {begin().empty_list().mark().binint1(1).empty_dict().mark().binint1(2).binint1(3), "[1]"},
      // Protocol 0 marks nothing while items come.
      {begin()
           .empty_dict()
           .unicode_line("t")
           .empty_list()
           .empty_list()
           .int_line("1")
           .append()
           .empty_dict()
           .unicode_line("cut")
           .none()
           .setitem()
           .unicode_line("key"),
       "{'t': [[1]] CUT}"},
      {begin()
           .mark()
           .dict()
           .unicode_line("a")
           .none()
           .setitem()
           .unicode_line("pool")
           .mark()
           .int_line("1"),
       "{'a': None CUT}"},
      // Two traces, the second of which has one event.
      {begin()
           .empty_dict()
           .mark()
           .short_binunicode("t")
           .empty_list()
           .mark()
           .empty_list()
           .empty_list()
           .empty_dict()
           .mark()
           .none()
           .none()
           .setitems(),
       "{'t': [[], [{None: None}]] CUT}"},
      {begin().empty_list().mark().empty_dict().mark().short_binunicode("p").binint1(0), "[]"},
      {begin().empty_list().mark().mark().binint1(0), "[0]"},
  };
  for (example const& each : examples) {
    std::string result;
    spelling_sink listener;
    reading reader(each.cut.text(), listener, true);
    result = listener.spell(reader->run());
    EXPECT_EQ(result, each.expected);
    EXPECT_EQ(reader->cut_at(), each.cut.text().size());
  }
  // Two marks on one container, which is dropped with the inner one.
  EXPECT_EQ(spelled("]}((NN", true), "[]");
  EXPECT_EQ(failure_of("", true).code(), error_code::damaged);
  EXPECT_EQ(failure_of("\x80\x04", true).code(), error_code::damaged);
  EXPECT_EQ(failure_of("(N", true).code(), error_code::damaged);
}

}  // namespace
}  // namespace memreplay::pickle
