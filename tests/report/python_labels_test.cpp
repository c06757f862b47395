// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Holds the scopes of Python sources to what Python says: case by case here, and line by line over
// the standard library of the interpreter at hand.

#include "report/python_labels.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay::reporting {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using namespace std::string_view_literals;

using spans = std::vector<std::string>;

/// The scopes as `FIRST-LAST NAME`.
spans spans_of(std::string_view source) {
  spans result;
  for (auto const& scope : read_python_scopes(source)) {
    result.push_back(std::to_string(scope.first_line) + "-" + std::to_string(scope.last_line) +
                     " " + scope.qualified_name);
  }
  return result;
}

/// The source below `R"(`, whose first line is empty for the sake of the eye.
std::string_view text(std::string_view raw) { return raw.substr(1); }

TEST(read_python_scopes, joins_the_names_of_nested_scopes) {
  EXPECT_EQ(spans_of(text(R"(
import torch

class Outer(torch.nn.Module):
    scale = 2

    def method(self):
        def inner():
            return self
        return inner

    class Nested:
        async def run(self):
            pass

def after():
    pass
)")),
            (spans{"3-13 Outer", "6-9 Outer.method", "7-8 Outer.method.inner", "11-13 Outer.Nested",
                   "12-13 Outer.Nested.run", "15-16 after"}));
}

TEST(read_python_scopes, ends_a_scope_with_its_last_token) {
  EXPECT_EQ(spans_of(text(R"(
def f():
    a = 1
    # inside

    b = [
        2,
        # inside

    ]  # end

    # outside, as in Python's own tree
# outside
x = 1
)")),
            (spans{"1-9 f"}));
}

TEST(read_python_scopes, ignores_the_indentation_of_comments_and_blank_lines) {
  EXPECT_EQ(spans_of("class A:\n# left\n  def f(self):\n            # right\n \n    a = 1\n"
                     "\t\n# left\n    b = 2\n  def g(self): pass\n"),
            (spans{"1-10 A", "3-9 A.f", "10-10 A.g"}));
}

TEST(read_python_scopes, gives_decorators_to_what_they_decorate) {
  EXPECT_EQ(spans_of(text(R"(
@first
# a comment

@second(
    key=lambda x: x,
)
def f(): pass

class A:
    @property
    def g(self):
        return 1
    @staticmethod
    @cache
    async def h(): pass
@decorated
class B: pass
x = a @ b
)")),
            (spans{"1-7 f", "9-15 A", "10-12 A.g", "13-15 A.h", "16-17 B"}));
}

TEST(read_python_scopes, takes_bodies_on_the_line_of_the_header) {
  EXPECT_EQ(spans_of(text(R"(
def f(): return 1
class A: pass; 
class B: x = 1; y = """
"""
def g(a: int = 1, *b) -> {1: 2}[1]: return lambda: 0
async  def h(): return [
    1]
if x: pass
else: y = lambda: 0
def last(): pass)")),
            (spans{"1-1 f", "2-2 A", "3-4 B", "5-5 g", "6-7 h", "10-10 last"}));
}

TEST(read_python_scopes, sees_through_blocks_that_are_no_scopes) {
  EXPECT_EQ(spans_of(text(R"(
if x:
    def f(): pass
else:
    class A:
        try:
            def g(self):
                for y in z:
                    with y:
                        def h(): pass
        finally:
            pass
match x:
    case {"def": 1}:
        def in_case(): pass
    case _:
        class match: case = 1
while x: pass
)")),
            (spans{"2-2 f", "4-11 A", "6-9 A.g", "9-9 A.g.h", "14-14 in_case", "16-16 match"}));
}

TEST(read_python_scopes, ends_the_outer_scope_with_its_inner_blocks) {
  EXPECT_EQ(spans_of("def f():\n  if x:\n    def g():\n      if y:\n        pass\nz = 1\n"),
            (spans{"1-5 f", "3-5 f.g"}));
}

TEST(read_python_scopes, gives_lambdas_no_name) {
  EXPECT_EQ(spans_of("f = lambda: (\n  1)\ndef g(x=lambda: 1):\n  return lambda y: y\n"),
            (spans{"3-4 g"}));
}

TEST(read_python_scopes, reads_headers_over_several_lines) {
  EXPECT_EQ(spans_of(text(R"(
def f(
    a,  # a comment with ) and "
    b={'k': [1, 2]},
def_=1) -> None:
    pass
class \
  A \
  (B):
  x = 1 + \
2
async \
def g(): \
    return 1
def h[T: (int, str), *Ts, **P](x: T) -> T:
    pass
class G[T]: pass
type X[T] = list[T]
)")),
            (spans{"1-5 f", "6-10 A", "11-13 g", "14-15 h", "16-16 G"}));
}

TEST(read_python_scopes, takes_words_for_names_only_as_whole_words) {
  EXPECT_EQ(spans_of("defx = 1\ndefine(y)\nclass_ = 2\nx.class_ = 3\nasync_ = 4\nself.def_()\n"
                     "definitely: int = 5\n"),
            spans{});
}

TEST(read_python_scopes, reads_no_code_in_strings) {
  EXPECT_EQ(spans_of(text(R"(
def f():
    """
def in_string():
class InString:
  ' " ''' \""" ""
"""
    a = 'def g(): \' pass # " '; b = "it's"; c = ''; d = ""
    e = r'\''; f = rb"\""; g = Rb'''
def h(): ''\'''
'''
    h = 'continued \
def i(): pass'
    j = '''one''' '''two''' ""  """
( [ {"""; k = u"(", B"[", bR'{', U')'
    return """\\"""
def after(): pass
)")),
            (spans{"1-15 f", "16-16 after"}));
}

TEST(read_python_scopes, reads_fields_in_strings) {
  EXPECT_EQ(spans_of(text(R"(
def f(x, y):
    a = f"{x}" f'{x!r:>{y}}' F"{{" rf"}}\{x}" fR'\'{x}' f"" f''''''
    b = f"{x:{'{'}^{y:}}" f"{ {'a': 1}['a'] }" f'{x:%H:%M}' f"{x:=^5}" f"{x:\N{EM DASH}>3}"
    c = f"\N{LEFT CURLY BRACKET}" f"\"{x}\"" f"{x['k']}" f'{x != y}' f"{(lambda z: z)(1)}"
    d = f"""
def in_string(): {x
+ y} "{x:{
y}}" ''
{x:>
}"""
    return f'{x} \
def continued(): {y}'
def after(): pass
)")),
            (spans{"1-12 f", "13-13 after"}));
}

TEST(read_python_scopes, reads_the_same_quotes_within_fields) {  // as Python does since 3.12
  EXPECT_EQ(spans_of(text(R"(
def f(x):
    a = f"{x["k"]}" f"{f"{f"{1}"}"}" f'{'}'}' f"{"\n".join(x)}"
    b = f"{
        x  # a comment with " and }
        ["k"]
    }"
    return f'''{'''
def in_string():
'''}'''
def after(): pass
)")),
            (spans{"1-9 f", "10-10 after"}));
  EXPECT_EQ(spans_of("def f(): return t'{x['k']:{'w'}}' tR'{'\\''}'\n"), (spans{"1-1 f"}))
      << "template strings, of Python 3.14";
}

TEST(read_python_scopes, measures_tabs_to_the_next_multiple_of_eight) {
  EXPECT_EQ(spans_of("class A:\n\tdef f(self):\n\t\tpass\n\tdef g(self):\n\t    pass\n"),
            (spans{"1-5 A", "2-3 A.f", "4-5 A.g"}));
  EXPECT_EQ(spans_of("class A:\n  \tdef f(self): pass\n  \tdef g(self): pass\n"),
            (spans{"1-3 A", "2-2 A.f", "3-3 A.g"}));
  EXPECT_EQ(spans_of("class A:\n        def f(self): pass\n\tdef g(self): pass\n"), spans{})
      << "Python refuses indentation that depends on the tab stop";
}

TEST(read_python_scopes, lets_a_form_feed_restart_the_indentation) {
  EXPECT_EQ(spans_of("class A:\n  def f(self): pass\n\f\n  \f  def g(self): pass\n\fx\f=\f1\n"),
            (spans{"1-4 A", "2-2 A.f", "4-4 A.g"}));
}

TEST(read_python_scopes, indents_a_continued_line_by_its_beginning) {
  EXPECT_EQ(spans_of("class A:\n  \\\n      def f(self): pass\n  def g(self): pass\n"),
            (spans{"1-4 A", "3-3 A.f", "4-4 A.g"}));
}

TEST(read_python_scopes, counts_lines_however_they_end) {
  std::string const source =
      "class A:\n  x = '''\n'''\n  def f(self): return \\\n    1\n\n  y = 1\n";
  spans const expected{"1-7 A", "4-5 A.f"};
  EXPECT_EQ(spans_of(source), expected);
  for (std::string const line_end : {"\r\n", "\r"}) {
    std::string changed;
    for (char const letter : source) {
      letter == '\n' ? changed.append(line_end) : changed.append(1, letter);
    }
    EXPECT_EQ(spans_of(changed), expected);
  }
  EXPECT_EQ(spans_of("def f():\r  a = 'x\\\r\ny'\n\r  return 1\r\n"), (spans{"1-5 f"}));
  EXPECT_EQ(spans_of("x = 'a\v\x1c\xC2\x85'\n#\v\n\ndef f(): pass"), (spans{"4-4 f"}))
      << "other separators of Unicode end no line";
}

TEST(read_python_scopes, skips_a_byte_order_mark) {
  EXPECT_EQ(spans_of("\xEF\xBB\xBF"
                     "def f():\n  pass\n"),
            (spans{"1-2 f"}));
}

TEST(read_python_scopes, takes_names_beyond_ascii) {
  EXPECT_EQ(spans_of("class Gr\xC3\xB6\xC3\x9F"
                     "e:\n  def \xE6\xA8\xA1(self): pass\n"),
            (spans{"1-2 Gr\xC3\xB6\xC3\x9F"
                   "e",
                   "2-2 Gr\xC3\xB6\xC3\x9F"
                   "e.\xE6\xA8\xA1"}));
  EXPECT_EQ(spans_of("# \xE9\ndef f(): pass\n"), (spans{"2-2 f"})) << "Latin-1 in a comment";
  for (std::string const name : {"\xE9", "a\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                 "\xE6\xA8", "\xFF", "\x80"}) {
    EXPECT_EQ(spans_of("def " + name + "(): pass\n"), spans{}) << "not UTF-8";
  }
}

TEST(read_python_scopes, gives_nothing_for_nothing) {
  for (std::string_view const source : {"", "\n", "\r", "\n\n\n", "# only\n", "   ", "\t# x",
                                        "\\\n", "\f", "x = 1", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(spans_of(source), spans{}) << source;
  }
}

TEST(read_python_scopes, gives_nothing_for_a_source_that_does_not_hang_together) {
  std::string const whole = "def f():\n  pass\n";
  ASSERT_EQ(spans_of(whole).size(), 1U);
  for (std::string_view const tail : {
           "x = (\n",
           "x = )\n",
           "x = (]\n",
           "x = {(})\n",  // brackets
           "x = 'a\n",
           "x = \"a",
           "x = '''a''\n",
           "'\\",
           "'\\\n",
           "'''\\",  // strings
           "f'{x'\n",
           "f'{x:'\n",
           "f'{x:y\n",
           "f'''{x'''\n",
           "f'{x)}'",
           "f'a\n",
           "f'\\N{",
           "x = \\ 1\n",
           "x = \\",  // backslashes
           "    y = 1\n",
           " y = 1\n",
           "if x:\n",
           "if x:\ny = 1\n",
           "if x:\n  y\n z\n",  // blocks
           "@a\n",
           "@a\nx = 1\n",
           "def g()\n",
           "def : pass\n",
           "def",
           "class 1: pass\n",
           "async def\n",
           "x = $\n",
           "`x`\n",
           "x?\n",
           "\x01\n",
           "\x7f\n",  // foreign
       }) {
    EXPECT_EQ(spans_of(whole + std::string{tail}), spans{}) << tail;
  }
  EXPECT_EQ(spans_of(whole + "\0"s), spans{});
  EXPECT_EQ(spans_of(whole + "# \0\n"s), spans{});
}

/// A bit of everything, to be cut and changed at every byte.
constexpr std::string_view rich_source = R"(
@d(1, [2])
class A(B, metaclass=M):
    '''def x(): "''' "\"" r'\''
    def f(self, *, a: int = 1) -> {1: 2}[1]:
	# tab
        if a: return f"{a!r:>{'w'}}\N{EM DASH}{{}}" rf'''{
a["k"]:x
}'''
        async def g(): return (lambda: \
            0)
    x = [ # )
    ]
)";

void expect_sound(std::string_view source) {
  auto const lines = 1 + std::count_if(source.begin(), source.end(),
                                       [](char byte) { return byte == '\n' || byte == '\r'; });
  std::int64_t previous = 0;
  for (auto const& scope : read_python_scopes(source)) {
    ASSERT_LT(previous, scope.first_line);
    ASSERT_LE(scope.first_line, scope.last_line);
    ASSERT_LE(scope.last_line, lines);
    ASSERT_FALSE(scope.qualified_name.empty());
    previous = scope.first_line;
  }
}

TEST(read_python_scopes, survives_cuts_and_changes_at_every_byte) {
  ASSERT_EQ(spans_of(rich_source), (spans{"2-13 A", "5-11 A.f", "10-11 A.f.g"}));
  constexpr auto replacements = "\0\n\r\\\"'()[]{}:#@ \tfd\xFF"sv;
  for (std::size_t i = 0; i <= rich_source.size(); ++i) {
    // Copies of their very size, so that a sanitizer sees a read beyond the end.
    expect_sound(std::string{rich_source.substr(0, i)});
    expect_sound(std::string{rich_source.substr(i)});
    for (char const replacement : replacements) {
      std::string changed{rich_source};
      expect_sound(changed.insert(i, 1, replacement));
      if (i < rich_source.size()) {
        expect_sound(changed.erase(i + 1, 1));
      }
    }
  }
}

TEST(read_python_scopes, survives_noise) {
  std::mt19937 random{42};
  constexpr std::array<std::string_view, 24> pieces{
      "def ", "class ", "async ", "f(", ")", ":",  "\n", "\r\n", "  ", "\t", "\"",   "'''",
      "f\"",  "{",      "}",      "[",  "]", "\\", "#",  "@",    "x",  "\f", "\xC3", "\\N{"};
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    std::string words;
    for (int i = 0; i < 60; ++i) {
      bytes.push_back(static_cast<char>(random() % 256));
      words.append(pieces[random() % pieces.size()]);
    }
    expect_sound(bytes);
    expect_sound(words);
  }
}

TEST(read_python_scopes, stays_linear_where_a_source_is_built_to_hurt) {
  auto const repeated = [](std::string_view piece, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
      result.append(piece);
    }
    return result;
  };
  auto const start = std::chrono::steady_clock::now();
  constexpr std::size_t many = 200'000;
  EXPECT_EQ(spans_of(repeated("(", many)), spans{});
  EXPECT_EQ(spans_of(repeated("f'{", many)), spans{});
  EXPECT_EQ(spans_of("x = " + repeated("(", many) + repeated(")", many) + "\ndef f(): 0\n"),
            (spans{"2-2 f"}));
  EXPECT_EQ(spans_of(repeated("\\\n", many)), spans{});
  EXPECT_EQ(read_python_scopes(repeated("def f(): 0\n", many)).size(), many);

  std::string nested;
  for (std::size_t depth = 0; depth < 3000; ++depth) {
    nested.append(depth, ' ').append("class A:\n");
  }
  EXPECT_EQ(spans_of(nested), spans{}) << "deeper than Python goes";
  EXPECT_EQ(spans_of("class " + std::string(many, 'A') + ":\n" + repeated(" def f(): 0\n", many)),
            spans{})
      << "the sum of the names would be forty gigabytes";
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{60});
}

TEST(read_python_scopes, stops_where_python_stops_indenting) {
  auto const nested = [](std::size_t depth) {
    std::string source;
    for (std::size_t i = 0; i < depth; ++i) {
      source.append(i, ' ').append("class A:\n");
    }
    return source.append(depth, ' ').append("pass\n");
  };
  EXPECT_EQ(read_python_scopes(nested(99)).size(), 99U);
  EXPECT_EQ(read_python_scopes(nested(100)).size(), 0U);
}

class python_labels_test : public testing::Test {
 protected:
  python_labels_test()
      : folder_{fs::temp_directory_path() / ("memreplay_labels_" + std::to_string(getpid()))} {
    fs::create_directories(folder_);
  }
  ~python_labels_test() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string write(std::string const& name, std::string_view content) const {
    std::ofstream{folder_ / name, std::ios::binary} << content;
    return (folder_ / name).string();
  }

  fs::path const folder_;
  python_labels labels_;
};

TEST_F(python_labels_test, names_the_smallest_scope_around_a_line) {
  auto const path = write("a.py", text(R"(
import os
class A:
    x = 1
    @property
    def f(self):
        def g():
            pass
        return g
    y = 2

    def h(self): pass
    z = 3
)"));
  spans const expected{"", "A", "A", "A.f", "A.f", "A.f.g", "A.f.g", "A.f", "A", "A", "A.h", "A"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto const line = static_cast<std::int64_t>(i) + 1;
    EXPECT_EQ(labels_.label(path, line), expected[i]) << line;
  }
}

TEST_F(python_labels_test, has_no_label_for_lines_that_are_not_in_the_file) {
  auto const path = write("a.py", "def f():\n  pass\n");
  EXPECT_EQ(labels_.label(path, 2), "f");
  for (std::int64_t const line : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, std::int64_t{3},
                                  std::int64_t{1'000'000'000'000}, INT64_MAX}) {
    EXPECT_EQ(labels_.label(path, line), "") << line;
  }
}

TEST_F(python_labels_test, reads_a_file_once) {
  auto const path = write("a.py", "def f(): pass\n");
  EXPECT_EQ(labels_.label(path, 1), "f");
  EXPECT_EQ(write("a.py", "def changed(): pass\n"), path);
  EXPECT_EQ(labels_.label(path, 1), "f");
  auto const late = (folder_ / "late.py").string();
  EXPECT_EQ(labels_.label(late, 1), "");
  EXPECT_EQ(write("late.py", "def f(): pass\n"), late);
  EXPECT_EQ(labels_.label(late, 1), "") << "that there is none is kept as well";
}

TEST_F(python_labels_test, opens_regular_python_files_alone) {
  EXPECT_EQ(labels_.label(write("a.cpp", "class A: pass\n"), 1), "");
  EXPECT_EQ(labels_.label(write("empty.py", ""), 1), "");
  EXPECT_EQ(labels_.label(write("broken.py", "def f(): (\n"), 1), "");

  auto const pipe = folder_ / "pipe.py";  // opening one would wait for a writer
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_directory(folder_ / "folder.py");
  fs::create_symlink("/dev/zero", folder_ / "device.py");
  fs::create_symlink("loop.py", folder_ / "loop.py");
  for (auto const* const name : {"pipe.py", "folder.py", "device.py", "loop.py", "missing.py"}) {
    EXPECT_EQ(labels_.label((folder_ / name).string(), 1), "") << name;
  }
  for (std::string const& path : {""s, "??"s, "<frozen runpy>"s, "<string>.py"s, "\0.py"s,
                                  std::string(100'000, 'x') + ".py"}) {
    EXPECT_EQ(labels_.label(path, 1), "") << path.substr(0, 80);
  }

  auto const real = write("real.py", "def f(): pass\n");
  fs::create_symlink(real, folder_ / "link.py");
  EXPECT_EQ(labels_.label((folder_ / "link.py").string(), 1), "f");
}

TEST_F(python_labels_test, leaves_huge_files_alone) {
  auto const path = write("huge.py", "def f(): pass\n#");
  fs::resize_file(path, python_labels::largest_file_bytes + 1);
  EXPECT_EQ(labels_.label(path, 1), "");
}

/// All that a command prints.
std::string output_of(std::string const& command) {
  std::string output;
  if (auto* const pipe = popen(command.c_str(), "r")) {
    std::array<char, 65536> chunk{};
    while (auto const size = fread(chunk.data(), 1, chunk.size(), pipe)) {
      output.append(chunk.data(), size);
    }
    pclose(pipe);
  }
  return output;
}

TEST(python_labels_oracle, agrees_with_ast_on_every_line_of_the_standard_library) {
  auto const has_python =
      "python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1";
  if (std::system(has_python) != 0) {
    GTEST_SKIP() << "no python3 from 3.8 on to ask";
  }
  auto const script = fs::path{__FILE__}.parent_path() / "python_labels_oracle.py";
  if (!fs::exists(script)) {
    GTEST_SKIP() << "the sources are not here: " << script;
  }

  auto const output = output_of("python3 '" + script.string() + "' --stdlib 60");
  python_labels labels;
  std::string path;
  int files = 0;
  int lines = 0;
  int differences = 0;
  for (std::string_view rest = output; !rest.empty();) {  // WORD TAB VALUE NEWLINE
    auto const row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(row.size() + 1, rest.size()));
    auto const word = row.substr(0, row.find('\t'));
    auto const value = std::string{row.substr(std::min(word.size() + 1, row.size()))};
    if (word == "unparsed") {
      continue;
    }
    if (word == "file") {
      path = value;
      ++files;
      continue;
    }
    ++lines;
    auto const label = labels.label(path, std::stoll(std::string{word}));
    if (label == value) {
      continue;
    }
    ++differences;
    if (differences <= 20) {
      ADD_FAILURE() << path << ":" << word << " is in '" << value << "', not '" << label << "'";
    }
  }
  EXPECT_EQ(differences, 0);
  EXPECT_GT(files, 20);
  EXPECT_GT(lines, 5000);
  RecordProperty("files", files);
  RecordProperty("lines", lines);
}

}  // namespace
}  // namespace memreplay::reporting
