// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Names the `Class.method` that encloses a line of a Python source file, so that a site reads as
// code and not as a number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace memreplay::reporting {

/// The lines of one `def`, `async def` or `class`: 1-based, both ends included.
struct python_scope {
  /// The line of the first decorator, or of the header when there is none.
  std::int64_t first_line{};
  /// The line on which the last token of the body ends; comments after it do not belong to it.
  std::int64_t last_line{};
  /// `Outer.method.inner`: the enclosing names joined by dots, without Python's `<locals>`.
  std::string qualified_name;
};

/// The scopes of one Python source text, in the order of their first lines.
///
/// Reads what gives a file its shape (strings, brackets, continued lines, indentation, the words
/// that start a line) and nothing else, in one pass, in time linear in the source. Where Python's
/// own parser accepts the text, the spans are those of its `ast` (`lineno`, `end_lineno`), widened
/// by the decorators: a line of a decorator belongs to what it decorates, as it does in the first
/// line number of a Python code object.
///
/// Where the text does not hang together (a NUL byte, an open string or bracket, an indentation
/// that fits no block) there are *no* scopes, not those above the broken place: the file has been
/// edited since it ran, and its lines may have moved. Other errors of syntax may pass unnoticed.
///
/// The text is read as UTF-8 whatever coding it declares, and names are not normalised (Python
/// applies NFKC). Never throws on account of the text.
[[nodiscard]] std::vector<python_scope> read_python_scopes(std::string_view source);

/// Answers "which function is line L of file F in?", reading each file at most once.
///
/// Only regular files (or links to them) of at most `largest_file_bytes` whose name ends in `.py`
/// are opened: a snapshot may name anything, C++ sources and devices included.
class python_labels {
 public:
  static constexpr std::uintmax_t largest_file_bytes = 16U << 20U;

  /// The qualified name of the smallest scope around the line; empty when there is none, when the
  /// line is not in the file, or when the file cannot be read. Not safe to call from two threads.
  [[nodiscard]] std::string label(std::string const& path, std::int64_t line);

 private:
  std::unordered_map<std::string, std::vector<python_scope>> scopes_by_path_;
};

}  // namespace memreplay::reporting
