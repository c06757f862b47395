// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a form learns from one dictionary, and which bytes it fits.
#include "pickle/row_reader.hpp"

#include <bit>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pickle_writer.hpp"

namespace memreplay::pickle {
namespace {

using testing::pickle_writer;

value text_key(std::uint64_t handle) {
  return {.bits = handle, .kind = value_kind::text, .shared = true};
}
value of_kind(value_kind kind) { return {.kind = kind}; }

/// {a: integer, b: text, c: list}, as Python writes it; keys are slots 1, 2 and 300.
pickle_writer& write_row(pickle_writer& to, std::int32_t number, std::string_view text,
                         int frames) {
  to.empty_dict().memoize().mark().binget(1).binint(number).binget(2).short_binunicode(text);
  to.memoize().long_binget(300).empty_list().memoize();
  if (frames == 1) to.binget(9).append();
  if (frames > 1) {
    to.mark();
    for (int frame = 0; frame < frames; ++frame) to.binget(9);
    to.appends();
  }
  return to.setitems();
}

std::vector<value> const items = {text_key(1),   of_kind(value_kind::integer),
                                  text_key(2),   of_kind(value_kind::text),
                                  text_key(300), of_kind(value_kind::list)};

std::span<std::uint8_t const> bytes_of(std::string const& text) {
  return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

struct reading {
  explicit reading(std::string const& learnt) {
    auto const form = row_form::learn(bytes_of(learnt), items);
    if (form) forms.add(*form);
  }
  /// Rows found in `text`, wherever they are.
  row_batch const& read(std::string const& text) {
    bytes = text;
    bytes.append(read_slack, '\0');
    batch.clear();
    auto const* const first = reinterpret_cast<std::uint8_t const*>(bytes.data());
    reader.read_all(first, first + text.size(), batch);
    return batch;
  }
  form_list forms;
  row_reader reader{forms, 3};
  row_batch batch;
  std::string bytes;
};

TEST(row_reader, reads_what_it_learnt) {
  pickle_writer learnt;
  reading rows(write_row(learnt, 7, "N/A", 2).text());
  ASSERT_EQ(rows.forms.size(), 1U);
  pickle_writer more;
  for (int row = 0; row < 5; ++row) write_row(more, -row, row == 3 ? "other" : "N/A", row);
  row_batch const& found = rows.read(more.text());
  EXPECT_EQ(found.reader, 3U);
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].rows, 5U);
  EXPECT_EQ(found.runs[0].begin, 0U);
  EXPECT_EQ(found.runs[0].end, more.text().size());
  ASSERT_EQ(found.cells.size(), 5U * 4);
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(std::bit_cast<row_header>(found.cells[row * 4]).memoized, 0b1101U);
    EXPECT_EQ(static_cast<std::int64_t>(found.cells[row * 4 + 1]), -static_cast<std::int64_t>(row));
    EXPECT_EQ(kind_of_cell(found.cells[row * 4 + 2]), cell_kind::spelled);
    EXPECT_EQ(kind_of_cell(found.cells[row * 4 + 3]),
              row == 0 ? cell_kind::empty_list : cell_kind::spelled);
  }
  EXPECT_EQ(found.cells[2], found.cells[4 + 2]);
  EXPECT_NE(found.cells[2], found.cells[3 * 4 + 2]);
}

TEST(row_reader, rows_between_other_bytes) {
  pickle_writer learnt;
  reading rows(write_row(learnt, 7, "N/A", 2).text());
  pickle_writer more;
  more.binint1('}').appends().mark();
  write_row(more, 1, "a", 2);
  more.appends().mark();
  write_row(more, 2, "a", 2);
  write_row(more, 3, "a", 2);
  more.short_binunicode("}\x94(h\1").appends();
  row_batch const& found = rows.read(more.text());
  ASSERT_EQ(found.runs.size(), 2U);
  EXPECT_EQ(found.runs[0].rows, 1U);
  EXPECT_EQ(found.runs[1].rows, 2U);
}

TEST(row_reader, a_row_that_is_cut_is_none) {
  pickle_writer learnt;
  reading rows(write_row(learnt, 7, "N/A", 40).text());
  pickle_writer more;
  std::string const whole = write_row(more, 1, "some text", 40).text();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(rows.read(whole.substr(0, size)).runs.empty()) << size;
  EXPECT_EQ(rows.read(whole).runs.size(), 1U);
}

TEST(row_reader, every_changed_byte_is_another_row_or_none) {
  pickle_writer learnt;
  std::string const whole = write_row(learnt, 7, "N/A", 3).text();
  reading rows(whole);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int change = 1; change < 256; ++change) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      row_batch const& found = rows.read(bytes);
      if (found.runs.empty()) continue;
      EXPECT_LE(found.runs[0].end, bytes.size());
    }
  }
}

TEST(row_reader, puts_are_kept) {
  auto const write = [](pickle_writer& to, int first_slot) -> pickle_writer& {
    to.empty_dict().binput(first_slot).mark().binget(1).binint1(5).binget(2).binget(3);
    to.long_binget(300).empty_list().long_binput(static_cast<std::uint32_t>(first_slot) + 1);
    return to.mark().binget(9).binget(9).appends().setitems();
  };
  pickle_writer learnt;
  reading rows(write(learnt, 20).text());
  ASSERT_EQ(rows.forms.size(), 1U);
  pickle_writer more;
  write(more, 30);
  write(more, 40);
  row_batch const& found = rows.read(more.text());
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].rows, 2U);
  ASSERT_EQ(found.puts.size(), 4U);
  EXPECT_EQ(found.puts[0], 30U);
  EXPECT_EQ(found.puts[3], 41U);
  EXPECT_EQ(std::bit_cast<row_header>(found.cells[0]).by_put, 0b1001U);
}

TEST(row_form, what_has_no_form) {
  auto const learns = [](pickle_writer const& bytes, std::vector<value> const& of) {
    return row_form::learn(bytes_of(bytes.text()), of).has_value();
  };
  std::vector<value> const one{text_key(1), of_kind(value_kind::integer)};
  EXPECT_TRUE(learns(pickle_writer{}.empty_dict().mark().binget(1).binint1(1).setitems(), one));
  // A key that is spelled out, a container inside, bytes behind or missing, a key that is no text.
  EXPECT_FALSE(
      learns(pickle_writer{}.empty_dict().mark().short_binunicode("a").binint1(1).setitems(), one));
  EXPECT_FALSE(learns(pickle_writer{}.empty_dict().mark().binget(1).empty_dict().setitems(),
                      {text_key(1), of_kind(value_kind::dict)}));
  EXPECT_FALSE(
      learns(pickle_writer{}.empty_dict().mark().binget(1).binint1(1).setitems().none(), one));
  EXPECT_FALSE(learns(pickle_writer{}.empty_dict().mark().binget(1).binint1(1), one));
  EXPECT_FALSE(learns(pickle_writer{}.empty_dict().mark().binget(1).binint1(1).setitems(),
                      {of_kind(value_kind::integer), of_kind(value_kind::integer)}));
  EXPECT_FALSE(learns(pickle_writer{}.empty_dict().setitems(), {}));
  EXPECT_FALSE(learns(pickle_writer{}, one));
}

}  // namespace
}  // namespace memreplay::pickle
