// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a command shows, as blocks without a format, so that text and markdown have one layout.
#include "writers/page.hpp"

#include "base/expects.hpp"

namespace memreplay::writers {

page_table& page_table::add(std::vector<page_cell> cells, row_kind kind) {
  MEMREPLAY_EXPECTS(cells.size() == columns.size());
  rows.push_back({kind, std::move(cells)});
  return *this;
}

page_table& page_table::when_empty(std::string sentence) {
  empty_sentence = std::move(sentence);
  return *this;
}

page& page::heading(int level, std::string text) {
  MEMREPLAY_EXPECTS(level >= 1 && level <= 3);
  blocks_.emplace_back(page_heading{level, std::move(text)});
  return *this;
}

page& page::fact(std::string name, std::string value) {
  blocks_.emplace_back(page_fact{std::move(name), std::move(value)});
  return *this;
}

page& page::paragraph(std::string text) {
  blocks_.emplace_back(page_paragraph{std::move(text)});
  return *this;
}

page& page::bullet(std::string text) {
  blocks_.emplace_back(page_bullet{std::move(text)});
  return *this;
}

page& page::preformatted(std::vector<std::string> lines) {
  blocks_.emplace_back(page_preformatted{std::move(lines)});
  return *this;
}

page_table& page::table(std::vector<page_column> columns) {
  MEMREPLAY_EXPECTS(!columns.empty());
  return std::get<page_table>(blocks_.emplace_back(page_table{std::move(columns), {}, {}}));
}

}  // namespace memreplay::writers
