// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A page as GitHub-flavoured markdown.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "writers/markdown_text.hpp"
#include "writers/page.hpp"
#include "writers/plain_text.hpp"

namespace memreplay::writers {
namespace {

/// Inline text without blanks around it, which would keep emphasis from being read as such.
std::string inline_text(std::string_view text) { return markdown_text(trimmed(clean_line(text))); }

void write_block(page_heading const& block, std::string& out) {
  std::string text = inline_text(block.text);
  // Number signs at the end would close the heading instead of being seen.
  if (text.ends_with('#')) text.insert(text.size() - 1, 1, '\\');
  append(out, "{}{}{}\n", std::string(static_cast<std::size_t>(block.level), '#'),
         text.empty() ? "" : " ", text);
}

void write_block(page_fact const& block, std::string& out) {
  std::string const name = inline_text(block.name);
  if (name.empty()) {
    append(out, "- {}\n", markdown_paragraph(block.value));
    return;
  }
  std::string const value = inline_text(block.value);
  append(out, "- **{}**:{}{}\n", name, value.empty() ? "" : " ", value);
}

void write_block(page_paragraph const& block, std::string& out) {
  append(out, "{}\n", markdown_paragraph(block.text));
}

/// Another mark than that of facts, or facts before it would be one list with it.
void write_block(page_bullet const& block, std::string& out) {
  append(out, "* {}\n", markdown_paragraph(block.text));
}

void write_cell(page_cell const& cell, row_kind kind, std::string& out) {
  std::string const text = trimmed(clean_line(cell.text));
  if (!text.empty()) {
    std::string_view const mark = kind == row_kind::total  ? "**"
                                  : kind == row_kind::rest ? "*"
                                                           : "";
    append(out, " {}{}{}", mark, markdown_link(text, cell.link), mark);
  }
  out += " |";
}

void write_block(page_table const& block, std::string& out) {
  if (block.rows.empty() && !block.empty_sentence.empty()) {
    append(out, "{}\n", markdown_paragraph(block.empty_sentence));
    return;
  }
  out += '|';
  for (page_column const& column : block.columns) write_cell(column.title, row_kind::plain, out);
  out += "\n|";
  for (page_column const& column : block.columns)
    out += column.side == align::right ? "---:|" : "---|";
  out += '\n';
  for (page_row const& row : block.rows) {
    out += '|';
    for (page_cell const& cell : row.cells) write_cell(cell, row.kind, out);
    out += '\n';
  }
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (char const letter : text) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

void write_block(page_preformatted const& block, std::string& out) {
  std::string content;
  for (std::string const& line : block.lines) content += clean_line(line) + '\n';
  // A fence closes at a line of as many backticks, so it has more than the content does.
  std::string const fence(std::max<std::size_t>(3, longest_run_of_backticks(content) + 1), '`');
  append(out, "{}text\n{}{}\n", fence, content, fence);
}

bool are_one_list(page_block const& left, page_block const& right) {
  return left.index() == right.index() &&
         (std::holds_alternative<page_fact>(left) || std::holds_alternative<page_bullet>(left));
}

}  // namespace

std::string page_markdown(page const& shown) {
  std::string out;
  page_block const* before = nullptr;
  for (page_block const& block : shown.blocks()) {
    if (before != nullptr && !are_one_list(*before, block)) out += '\n';
    std::visit([&out](auto const& content) { write_block(content, out); }, block);
    before = &block;
  }
  return out;
}

}  // namespace memreplay::writers
