// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a command shows, as blocks without a format, so that text and markdown have one layout.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace memreplay::writers {

enum class align { left, right };

struct page_column {
  std::string title;
  align side = align::left;
};

struct page_cell {
  std::string text;
  std::string link;  ///< URL, percent-encoded already, or empty; a terminal shows the text only

  page_cell(std::string shown, std::string url = {})
      : text(std::move(shown)), link(std::move(url)) {}
  page_cell(char const* shown) : text(shown) {}
};

enum class row_kind {
  plain,
  rest,   ///< what the rows above leave out
  total,  ///< what the rows above sum up to
};

struct page_row {
  row_kind kind = row_kind::plain;
  std::vector<page_cell> cells;
};

struct page_table {
  std::vector<page_column> columns;
  std::vector<page_row> rows;
  std::string empty_sentence;  ///< shown instead of a table without rows; may be empty

  /// One cell for each column.
  page_table& add(std::vector<page_cell> cells, row_kind kind = row_kind::plain);
  page_table& when_empty(std::string sentence);
};

struct page_heading {
  int level = 1;
  std::string text;
};
struct page_fact {
  std::string name, value;
};
struct page_paragraph {
  std::string text;
};
struct page_bullet {
  std::string text;
};
struct page_preformatted {
  std::vector<std::string> lines;
};

using page_block = std::variant<page_heading, page_fact, page_paragraph, page_bullet, page_table,
                                page_preformatted>;

/// A sequence of blocks. Facts in a row are one list, and so are bullets. Every text may be foreign
/// and is given as it is: the functions below escape it, and make one line of it.
class page {
 public:
  /// 1 is the title of the page, 3 the deepest.
  page& heading(int level, std::string text);
  page& fact(std::string name, std::string value);
  page& paragraph(std::string text);
  page& bullet(std::string text);
  page& preformatted(std::vector<std::string> lines);
  /// The table may be filled for as long as the page lives.
  page_table& table(std::vector<page_column> columns);

  [[nodiscard]] std::deque<page_block> const& blocks() const noexcept { return blocks_; }

 private:
  std::deque<page_block> blocks_;  ///< a deque, since it leaves tables where they are
};

/// For a terminal: the title as it is, `=== heading ===`, `--- heading ---`, facts and tables in
/// columns. Ends in a newline unless empty.
[[nodiscard]] std::string page_text(page const& shown);

/// GitHub-flavoured markdown. Ends in a newline unless empty.
[[nodiscard]] std::string page_markdown(page const& shown);

}  // namespace memreplay::writers
