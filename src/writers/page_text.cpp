// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A page as text for a terminal.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "writers/page.hpp"
#include "writers/plain_text.hpp"

namespace memreplay::writers {
namespace {

constexpr std::size_t name_width = 24;
/// A cell beyond this pushes the rest of its own row aside instead of widening every row, so that
/// one long name costs no more than itself.
constexpr std::size_t widest_column = 60;
constexpr std::string_view gap = "  ";

std::string padded(std::string const& text, align side, std::size_t width) {
  std::size_t const taken = display_width(text);
  std::string const blanks(width > taken ? width - taken : 0, ' ');
  return side == align::right ? blanks + text : text + blanks;
}

void write_line(std::string_view line, std::string& out) {
  out += line.substr(0, line.find_last_not_of(' ') + 1);
  out += '\n';
}

void write_block(page_heading const& block, std::string& out) {
  std::string const text = clean_line(block.text);
  std::string_view const mark = block.level == 2 ? "===" : "---";
  write_line(block.level == 1 ? text : fmt::format("{} {} {}", mark, text, mark), out);
}

void write_block(page_fact const& block, std::string& out) {
  write_line(
      padded(clean_line(block.name), align::left, name_width) + ' ' + clean_line(block.value), out);
}

void write_block(page_paragraph const& block, std::string& out) {
  write_line(clean_line(block.text), out);
}

void write_block(page_bullet const& block, std::string& out) {
  write_line("- " + clean_line(block.text), out);
}

std::vector<std::size_t> column_widths(page_table const& table) {
  std::vector<std::size_t> widths;
  for (page_column const& column : table.columns)
    widths.push_back(display_width(clean_line(column.title)));
  for (page_row const& row : table.rows) {
    for (std::size_t index = 0; index < widths.size(); ++index) {
      std::size_t const width = display_width(clean_line(row.cells[index].text));
      widths[index] = std::max(widths[index], width);
    }
  }
  for (std::size_t& width : widths) width = std::min(width, widest_column);
  return widths;
}

void write_rule(std::vector<std::size_t> const& widths, std::string& out) {
  std::string line;
  for (std::size_t const width : widths) {
    if (!line.empty()) line += gap;
    line.append(width, '-');
  }
  write_line(line, out);
}

/// `text_at(index)` is what stands in a column.
template <class TextT>
void write_row(page_table const& table, std::vector<std::size_t> const& widths, TextT&& text_at,
               std::string& out) {
  std::string line;
  for (std::size_t index = 0; index < widths.size(); ++index) {
    if (index > 0) line += gap;
    line += padded(clean_line(text_at(index)), table.columns[index].side, widths[index]);
  }
  write_line(line, out);
}

void write_block(page_table const& block, std::string& out) {
  if (block.rows.empty() && !block.empty_sentence.empty()) {
    write_line(clean_line(block.empty_sentence), out);
    return;
  }
  std::vector<std::size_t> const widths = column_widths(block);
  write_row(
      block, widths, [&block](std::size_t index) { return block.columns[index].title; }, out);
  row_kind before = row_kind::plain;
  for (page_row const& row : block.rows) {
    // One rule keeps the summing rows, which come last, apart from those that they sum up.
    if (before == row_kind::plain && row.kind != row_kind::plain) write_rule(widths, out);
    write_row(
        block, widths, [&row](std::size_t index) { return row.cells[index].text; }, out);
    before = row.kind;
  }
}

void write_block(page_preformatted const& block, std::string& out) {
  for (std::string const& line : block.lines) write_line(clean_line(line), out);
}

/// What follows a heading stands under it, and entries of a list stand together.
bool has_blank_line_between(page_block const& before, page_block const& block) {
  if (std::holds_alternative<page_heading>(before))
    return std::holds_alternative<page_heading>(block);
  bool const is_list =
      std::holds_alternative<page_fact>(block) || std::holds_alternative<page_bullet>(block);
  return !is_list || before.index() != block.index();
}

}  // namespace

std::string page_text(page const& shown) {
  std::string out;
  page_block const* before = nullptr;
  for (page_block const& block : shown.blocks()) {
    if (before != nullptr && has_blank_line_between(*before, block)) out += '\n';
    std::visit([&out](auto const& content) { write_block(content, out); }, block);
    before = &block;
  }
  return out;
}

}  // namespace memreplay::writers
