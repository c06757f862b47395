// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One page as text and as markdown, and what foreign texts may not do to either.
#include "writers/page.hpp"

#include <sstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "writers/markdown_text.hpp"

namespace memreplay::writers {
namespace {

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

page small_page() {
  page shown;
  shown.heading(1, "memreplay leaks: run.pickle")
      .fact("File", "pickle, 2.00 KiB")
      .fact("Events", "100,000");
  shown.heading(2, "Device 0");
  shown.heading(3, "Never freed");
  page_table& sites =
      shown.table({{"bytes", align::right}, {"%", align::right}, {"site"}, {"call chain"}});
  sites.add({"9.000 GiB", "90.0", {"model.py:42", "vscode://file/model.py:42"}, "forward:42"});
  sites.add({"512.00 MiB", "5.0", "loss.py:7", ""});
  sites.add({"512.00 MiB", "5.0", "7 more sites", ""}, row_kind::rest);
  sites.add({"10.000 GiB", "100.0", "all", ""}, row_kind::total);
  shown.paragraph("What the trace saw being born.");
  shown.bullet("One.").bullet("Two.");
  shown.preformatted({"  a curve", "  1"});
  return shown;
}

TEST(page_text, lays_blocks_out_for_a_terminal) {
  EXPECT_EQ(page_text(small_page()), R"(memreplay leaks: run.pickle
File                     pickle, 2.00 KiB
Events                   100,000

=== Device 0 ===

--- Never freed ---
     bytes      %  site          call chain
 9.000 GiB   90.0  model.py:42   forward:42
512.00 MiB    5.0  loss.py:7
----------  -----  ------------  ----------
512.00 MiB    5.0  7 more sites
10.000 GiB  100.0  all

What the trace saw being born.

- One.
- Two.

  a curve
  1
)");
}

TEST(page_markdown, lays_the_same_blocks_out) {
  EXPECT_EQ(page_markdown(small_page()), R"(# memreplay leaks: run.pickle

- **File**: pickle, 2.00 KiB
- **Events**: 100,000

## Device 0

### Never freed

| bytes | % | site | call chain |
|---:|---:|---|---|
| 9.000 GiB | 90.0 | [model.py:42](vscode://file/model.py:42) | forward:42 |
| 512.00 MiB | 5.0 | loss.py:7 | |
| *512.00 MiB* | *5.0* | *7 more sites* | |
| **10.000 GiB** | **100.0** | **all** | |

What the trace saw being born.

* One.
* Two.

```text
  a curve
  1
```
)");
}

TEST(page, nothing_is_nothing) {
  EXPECT_EQ(page_text({}), "");
  EXPECT_EQ(page_markdown({}), "");
}

TEST(page, table_is_filled_while_other_blocks_follow) {
  page shown;
  page_table& rows = shown.table({{"a"}});
  for (int count = 0; count < 1'000; ++count) shown.paragraph("later");
  rows.add({"in the table"});
  EXPECT_TRUE(page_text(shown).starts_with("a\nin the table\n\nlater\n"));
}

TEST(page, copy_is_a_page_of_its_own) {
  page shown;
  page_table& rows = shown.table({{"a"}});
  page const copy = shown;
  rows.add({"b"});
  EXPECT_EQ(page_text(copy), "a\n");
  EXPECT_EQ(page_text(shown), "a\nb\n");
}

TEST(page, table_without_rows_shows_its_sentence_or_its_titles) {
  page shown;
  shown.table({{"bytes", align::right}, {"site"}}).when_empty("Everything was freed.");
  shown.table({{"bytes", align::right}, {"site"}});
  EXPECT_EQ(page_text(shown), "Everything was freed.\n\nbytes  site\n");
  EXPECT_EQ(page_markdown(shown), "Everything was freed.\n\n| bytes | site |\n|---:|---|\n");
}

TEST(page, sentence_for_no_rows_is_not_shown_beside_rows) {
  page shown;
  shown.table({{"site"}}).when_empty("Everything was freed.").add({"a.py:1"});
  EXPECT_EQ(page_text(shown), "site\na.py:1\n");
  EXPECT_EQ(page_markdown(shown), "| site |\n|---|\n| a.py:1 |\n");
}

TEST(page, row_with_a_cell_too_few_is_our_bug) {
  page shown;
  EXPECT_THROW(shown.table({{"a"}, {"b"}}).add({"only one"}), std::logic_error);
  EXPECT_THROW(shown.table({}), std::logic_error);
  EXPECT_THROW(shown.heading(4, "too deep"), std::logic_error);
}

TEST(page_text, columns_are_as_wide_as_what_a_terminal_shows) {
  page shown;
  shown.table({{"site"}, {"n", align::right}})
      .add({"\u6a21\u578b.py", "1"})
      .add({"for\u00e9t.py", "22"})
      .add({"\U0001F525", "3"});
  shown.fact("\u6a21\u578b", "wide");
  EXPECT_EQ(page_text(shown),
            "site       n\n"
            "\u6a21\u578b.py    1\n"
            "for\u00e9t.py  22\n"
            "\U0001F525         3\n"
            "\n"
            "\u6a21\u578b                     wide\n");
}

TEST(page_text, one_long_cell_widens_no_other_row) {
  page shown;
  page_table& rows = shown.table({{"site"}, {"n"}});
  rows.add({std::string(100'000, 'x'), "1"});
  for (int count = 0; count < 100; ++count) rows.add({"y", "2"});
  EXPECT_LT(page_text(shown).size(), 110'000U);
  EXPECT_TRUE(contains(page_text(shown), "x  1\n"));
}

TEST(page_text, facts_keep_their_columns) {
  page shown;
  shown.fact("no value", "").fact("", "no name").fact(std::string(30, 'n'), "long name");
  EXPECT_EQ(page_text(shown), "no value\n" + std::string(25, ' ') + "no name\n" +
                                  std::string(30, 'n') + " long name\n");
}

TEST(page_markdown, facts_without_name_or_value) {
  page shown;
  shown.fact("no value", " ").fact(" ", "# no name").fact(" **a** ", "1. b");
  EXPECT_EQ(page_markdown(shown), "- **no value**:\n- \\# no name\n- **\\*\\*a\\*\\***: 1. b\n");
}

std::string const hostile =
    "a|b`c```d[e](f)<script>\n| x |\r\n# y\t__init__ \x1b[2J \u202E\u200F \xED\xA0\x80 *z*";

page hostile_page() {
  page shown;
  shown.heading(1, hostile).heading(2, hostile).heading(3, hostile).fact(hostile, hostile);
  shown.paragraph(hostile).bullet(hostile).preformatted({hostile, "```", "~~~", hostile});
  shown.table({{hostile}, {hostile, align::right}})
      .add({hostile, {hostile, "file:///x"}})
      .add({"", ""})
      .add({hostile, hostile}, row_kind::rest)
      .add({hostile, hostile}, row_kind::total);
  shown.table({{"a"}}).when_empty(hostile);
  return shown;
}

TEST(page, hostile_texts_send_nothing_to_a_terminal) {
  for (std::string const& text : {page_text(hostile_page()), page_markdown(hostile_page())}) {
    for (char const* part : {"\x1b", "\r", "\t", "\u202E", "\u200F", "\xED\xA0\x80"})
      EXPECT_FALSE(contains(text, part)) << text;
  }
}

TEST(page_text, hostile_texts_stay_in_their_lines) {
  std::istringstream lines(page_text(hostile_page()));
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    ++count;
    EXPECT_FALSE(line.ends_with(' '));
  }
  // title and two headings, fact, paragraph, bullet, four preformatted, a table of six lines and
  // the sentence of one without rows, with a blank line before all but the title and the fact
  EXPECT_EQ(count, 3 + 1 + 1 + 1 + 4 + 6 + 1 + 7);
}

std::size_t bars_of(std::string const& line) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '|' && (at == 0 || line[at - 1] != '\\')) ++count;
  }
  return count;
}

TEST(page_markdown, hostile_texts_break_no_table_and_become_no_markup) {
  page shown = hostile_page();
  std::istringstream lines(page_markdown(shown));
  std::string fence;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (fence.empty() && line.starts_with("```")) {
      fence = line.substr(0, line.find("text"));
      EXPECT_EQ(fence, "````");
      continue;
    }
    if (line == fence) fence.clear();
    if (!fence.empty() || line.empty()) continue;
    EXPECT_FALSE(contains(line, "<script>")) << line;
    EXPECT_FALSE(line.starts_with("# y")) << line;
    if (line.starts_with("|")) {
      ++rows;
      EXPECT_EQ(bars_of(line), 3U) << line;
    } else {
      EXPECT_EQ(bars_of(line), 0U) << line;
    }
  }
  EXPECT_TRUE(fence.empty());
  EXPECT_EQ(rows, 6);
}

TEST(page_markdown, number_signs_at_the_end_of_a_heading_are_seen) {
  page shown;
  shown.heading(2, "device ##").heading(3, "").heading(3, " C# ");
  EXPECT_EQ(page_markdown(shown), "## device #\\#\n\n###\n\n### C\\#\n");
}

TEST(page_markdown, emphasis_holds_no_blanks_at_its_ends) {
  page shown;
  shown.table({{"a"}}).add({" sum "}, row_kind::total).add({"  "}, row_kind::rest);
  EXPECT_EQ(page_markdown(shown), "| a |\n|---|\n| **sum** |\n| |\n");
}

TEST(markdown_paragraph, opens_no_block) {
  EXPECT_EQ(markdown_paragraph("# heading"), "\\# heading");
  EXPECT_EQ(markdown_paragraph("- list"), "\\- list");
  EXPECT_EQ(markdown_paragraph("+"), "\\+");
  EXPECT_EQ(markdown_paragraph("12. list"), "12\\. list");
  EXPECT_EQ(markdown_paragraph("1) list"), "1\\) list");
  EXPECT_EQ(markdown_paragraph("---"), "\\---");
  EXPECT_EQ(markdown_paragraph("    code"), "code");
  EXPECT_EQ(markdown_paragraph("\t> quote"), "&gt; quote");
}

TEST(markdown_paragraph, leaves_numbers_as_they_are) {
  EXPECT_EQ(markdown_paragraph("-3.20 MiB"), "-3.20 MiB");
  EXPECT_EQ(markdown_paragraph("+1.000 GiB"), "+1.000 GiB");
  EXPECT_EQ(markdown_paragraph("1.5 GiB in use"), "1.5 GiB in use");
  EXPECT_EQ(markdown_paragraph("42"), "42");
  EXPECT_EQ(markdown_paragraph(""), "");
}

}  // namespace
}  // namespace memreplay::writers
