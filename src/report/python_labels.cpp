// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reads the shape of a Python source in two layers: bytes become logical lines, logical lines
// become scopes. The first layer knows no keyword, the second no byte.

#include "report/python_labels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace memreplay::reporting {
namespace {

/// The width of leading white space, once with tab stops at 8 and once at 1. Python refuses
/// sources whose blocks depend on the tab stop, so the two must always order lines alike.
struct indentation {
  std::int64_t column{};
  std::int64_t narrow_column{};

  friend bool operator==(indentation const&, indentation const&) = default;

  [[nodiscard]] bool is_deeper_than(indentation const& other) const {
    return column > other.column && narrow_column > other.narrow_column;
  }
};

/// What Python calls a logical line: one header or one line of simple statements, however many
/// physical lines its brackets, strings and backslashes spread it over.
struct logical_line {
  indentation indent;
  std::int64_t first_line{};
  std::int64_t last_line{};
  /// The tokens it starts with; three are enough for `async def name`.
  std::array<std::string_view, 3> head;
  std::size_t head_count{};
  /// There is a colon outside all brackets.
  bool has_colon{};
  /// Its last token is such a colon, so an indented block must follow, and only then may.
  bool opens_block{};
};

[[nodiscard]] bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// Bytes of names, keywords and numbers; beyond ASCII, every byte of a UTF-8 sequence.
[[nodiscard]] bool is_word_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte) ||
         byte == '_' || static_cast<unsigned char>(byte) >= 0x80U;
}

[[nodiscard]] bool is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\f'; }
[[nodiscard]] bool is_quote(char byte) { return byte == '"' || byte == '\''; }
[[nodiscard]] bool is_line_end(char byte) { return byte == '\n' || byte == '\r'; }

/// Bytes that no Python source has outside its strings and comments.
[[nodiscard]] bool is_foreign(char byte) {
  return static_cast<unsigned char>(byte) < ' ' || byte == '\x7f' || byte == '$' || byte == '?' ||
         byte == '`';
}

/// The letters in front of a quote that change how the string is read.
struct string_prefix {
  bool is_raw{};
  bool has_fields{};
};

[[nodiscard]] std::optional<string_prefix> decode_string_prefix(std::string_view word) {
  if (word.size() > 2) {
    return std::nullopt;
  }
  string_prefix prefix;
  for (char const letter : word) {
    switch (letter) {
      case 'r':
      case 'R': prefix.is_raw = true; break;
      case 'f':
      case 'F':
      case 't':
      case 'T': prefix.has_fields = true; break;
      case 'b':
      case 'B':
      case 'u':
      case 'U': break;
      default: return std::nullopt;
    }
  }
  return prefix;
}

/// Cuts a source into logical lines. The source holds no NUL byte: `peek` returns it at the end.
class logical_line_reader {
 public:
  explicit logical_line_reader(std::string_view source) : source_{source} {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (source_.starts_with(byte_order_mark)) {
      position_ = byte_order_mark.size();
    }
  }

  /// The next logical line; none at the end of the source and once the source is broken.
  [[nodiscard]] std::optional<logical_line> next() {
    logical_line line;
    if (!find_line(line)) {
      return std::nullopt;
    }
    while (!broken_) {
      if (in_literal_text()) {
        read_literal_text();
        line.last_line = line_;
      } else if (is_blank(peek())) {
        ++position_;
      } else if (peek() == '#') {
        skip_comment();
      } else if (peek() == '\\') {
        skip_continuation();
      } else if (at_end() || (is_line_end(peek()) && nesting_.empty())) {
        broken_ = !nesting_.empty();
        break;
      } else if (is_line_end(peek())) {
        skip_byte();
      } else {
        read_token(line);
        line.last_line = line_;
      }
    }
    if (broken_) {
      return std::nullopt;
    }
    return line;
  }

  [[nodiscard]] bool broken() const { return broken_; }

 private:
  /// What the reader is inside of. A string with fields (f"..{field:format}..") needs the stack,
  /// because since Python 3.12 a field may hold any expression, the same quotes included.
  enum class nesting_kind : unsigned char { bracket, text, field, format };

  struct nesting {
    nesting_kind kind{};
    char closer{};  // the closing bracket, or the quote of the string with fields
    bool is_triple{};
    bool is_raw{};
  };

  [[nodiscard]] bool at_end() const { return position_ >= source_.size(); }

  [[nodiscard]] char peek(std::size_t distance = 0) const {
    return position_ + distance < source_.size() ? source_[position_ + distance] : '\0';
  }

  /// Steps over one byte, or over one line end whichever way it is written.
  void skip_byte() {
    if (at_end()) {
      return;
    }
    if (is_line_end(peek())) {
      ++line_;
    }
    position_ += peek() == '\r' && peek(1) == '\n' ? 2U : 1U;
  }

  void skip_comment() {
    while (!at_end() && !is_line_end(peek())) {
      ++position_;
    }
  }

  void skip_continuation() {
    ++position_;
    broken_ = !is_line_end(peek());
    skip_byte();
  }

  /// Skips blank lines and comments up to the first token of a line, and measures its indentation.
  [[nodiscard]] bool find_line(logical_line& line) {
    indentation before_backslash;
    indentation indent;
    while (!at_end() && !broken_) {
      switch (peek()) {
        case ' ':
          ++indent.column;
          ++indent.narrow_column;
          ++position_;
          break;
        case '\t':
          indent.column = (indent.column / 8 + 1) * 8;
          ++indent.narrow_column;
          ++position_;
          break;
        case '\f':
          indent = {};
          ++position_;
          break;
        case '\\':
          // White space on the continuing line does not indent further.
          if (before_backslash == indentation{}) {
            before_backslash = indent;
          }
          skip_continuation();
          break;
        case '#': skip_comment(); break;
        case '\n':
        case '\r':
          before_backslash = indent = {};
          skip_byte();
          break;
        default:
          line.indent = before_backslash == indentation{} ? indent : before_backslash;
          line.first_line = line.last_line = line_;
          return true;
      }
    }
    return false;
  }

  void read_token(logical_line& line) {
    auto const start = position_;
    auto const was_outside = nesting_.empty();
    auto const first = peek();
    if (is_word_byte(first) || is_quote(first)) {
      while (is_word_byte(peek())) {
        ++position_;
      }
      if (is_quote(peek())) {
        auto const prefix = decode_string_prefix(source_.substr(start, position_ - start));
        read_string(prefix.value_or(string_prefix{}));
      }
    } else if (is_foreign(first)) {
      broken_ = true;
    } else {
      ++position_;
      read_punctuation(first);
    }
    line.opens_block = was_outside && first == ':';
    line.has_colon = line.has_colon || line.opens_block;
    if (line.head_count < line.head.size()) {
      line.head[line.head_count++] = source_.substr(start, position_ - start);
    }
  }

  void read_punctuation(char mark) {
    switch (mark) {
      case '(': nesting_.push_back({.kind = nesting_kind::bracket, .closer = ')'}); break;
      case '[': nesting_.push_back({.kind = nesting_kind::bracket, .closer = ']'}); break;
      case '{': nesting_.push_back({.kind = nesting_kind::bracket, .closer = '}'}); break;
      case ')':
      case ']':
      case '}': close_bracket(mark); break;
      case ':':
        // Nothing but an inner bracket protects a colon in a field, not even a lambda.
        if (inside(nesting_kind::field)) {
          nesting_.back().kind = nesting_kind::format;
        }
        break;
      default: break;
    }
  }

  void close_bracket(char mark) {
    auto const closes = inside(nesting_kind::field)
                            ? mark == '}'
                            : inside(nesting_kind::bracket) && nesting_.back().closer == mark;
    if (closes) {
      nesting_.pop_back();
    } else {
      broken_ = true;
    }
  }

  void read_string(string_prefix prefix) {
    auto const quote = peek();
    auto const is_triple = peek(1) == quote && peek(2) == quote;
    position_ += is_triple ? 3U : 1U;
    if (prefix.has_fields) {
      nesting_.push_back({.kind = nesting_kind::text,
                          .closer = quote,
                          .is_triple = is_triple,
                          .is_raw = prefix.is_raw});
      return;
    }
    while (!at_end() && (is_triple || !is_line_end(peek()))) {
      if (skip_closing_quote(quote, is_triple)) {
        return;
      }
      // A backslash protects the next byte in raw strings as well.
      if (peek() == '\\') {
        ++position_;
      }
      skip_byte();
    }
    broken_ = true;
  }

  [[nodiscard]] bool skip_closing_quote(char quote, bool is_triple) {
    auto const found = peek() == quote && (!is_triple || (peek(1) == quote && peek(2) == quote));
    if (found) {
      position_ += is_triple ? 3U : 1U;
    }
    return found;
  }

  [[nodiscard]] bool inside(nesting_kind kind) const {
    return !nesting_.empty() && nesting_.back().kind == kind;
  }

  [[nodiscard]] bool in_literal_text() const {
    return inside(nesting_kind::text) || inside(nesting_kind::format);
  }

  /// Reads the text of a string with fields, or of a format within it, up to where it gives way to
  /// something else: a field, the end of the format, the closing quote.
  void read_literal_text() {
    auto const here = nesting_.back();
    auto const is_format = here.kind == nesting_kind::format;
    while (!at_end()) {
      auto const byte = peek();
      if (skip_closing_quote(here.closer, here.is_triple)) {
        nesting_.pop_back();
        broken_ = is_format;
        return;
      }
      if (is_line_end(byte)) {
        skip_byte();
        if (is_format) {  // a line end ends the format: `}` may stand on a line of its own
          nesting_.back().kind = nesting_kind::field;
          return;
        }
        if (!here.is_triple) {
          break;
        }
      } else if (byte == '\\') {
        skip_escape(here.is_raw);
      } else if (byte == '{' && peek(1) == '{' && !is_format) {
        position_ += 2;
      } else if (byte == '{') {
        ++position_;
        auto field = here;
        field.kind = nesting_kind::field;
        nesting_.push_back(field);
        return;
      } else if (byte == '}' && is_format) {
        ++position_;
        nesting_.pop_back();
        return;
      } else {
        ++position_;
      }
    }
    broken_ = true;
  }

  /// Steps over a backslash and what it protects: never a brace, which starts a field all the same
  /// unless it belongs to a character's name, `\N{BULLET}`.
  void skip_escape(bool is_raw) {
    ++position_;
    if (peek() == '{' || peek() == '}') {
      return;
    }
    if (!is_raw && peek() == 'N' && peek(1) == '{') {
      while (!at_end() && peek() != '}' && !is_line_end(peek())) {
        ++position_;
      }
      if (is_line_end(peek())) {
        return;
      }
    }
    skip_byte();
  }

  std::string_view source_;
  std::size_t position_{};
  std::int64_t line_{1};
  bool broken_{};
  std::vector<nesting> nesting_;
};

/// Whether the text is UTF-8, so that a label can go into any report.
[[nodiscard]] bool is_utf8(std::string_view text) {
  // By the length of a sequence: overlong forms are not UTF-8.
  constexpr std::array<std::uint32_t, 5> smallest_code{0, 0, 0x80, 0x800, 0x10000};
  while (!text.empty()) {
    auto const lead = static_cast<unsigned char>(text[0]);
    auto const ones = static_cast<std::size_t>(std::countl_one(lead));
    auto const length = ones == 0 ? 1 : ones;
    if (ones == 1 || length > 4 || length > text.size()) {
      return false;
    }
    std::uint32_t code = lead & (0xFFU >> ones);
    for (auto const byte : text.substr(1, length - 1)) {
      if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) {
        return false;
      }
      code = code << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    }
    auto const is_surrogate = code >= 0xD800U && code <= 0xDFFFU;
    if (code < smallest_code[length] || code > 0x10FFFFU || is_surrogate) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

/// Follows the indentation of logical lines and notes where each def and class starts and ends.
class scope_builder {
 public:
  /// False when the line fits no block, or cannot follow the line before it.
  [[nodiscard]] bool add(logical_line const& line) {
    if (!enter_block(line.indent)) {
      return false;
    }
    auto scope = blocks_.back().scope;
    if (line.head[0] == "@") {
      if (decorator_line_ == 0) {
        decorator_line_ = line.first_line;
      }
    } else if (auto const name = name_defined(line.head)) {
      if (!line.has_colon || !open_scope(line, *name)) {
        return false;
      }
      scope = scopes_.size() - 1;
    } else if (decorator_line_ != 0) {
      return false;
    }
    previous_ = {.last_line = line.last_line, .scope = scope, .opens_block = line.opens_block};
    return true;
  }

  /// The scopes, or none when the source stops where more had to follow.
  [[nodiscard]] std::vector<python_scope> finish() && {
    if (previous_.opens_block || decorator_line_ != 0) {
      return {};
    }
    while (!blocks_.empty()) {
      close_block();
    }
    return std::move(scopes_);
  }

 private:
  static constexpr std::size_t no_scope = static_cast<std::size_t>(-1);
  /// Python's own limit. It bounds the depth of a name, as the next constant bounds their sum: a
  /// long class name repeated in front of a million methods would not be linear.
  static constexpr std::size_t most_blocks = 100;
  static constexpr std::size_t most_name_bytes = 64U << 20U;

  struct block {
    indentation indent;
    std::size_t scope{no_scope};  // the innermost one around its lines, be it opened here or not
  };

  struct line_before {
    std::int64_t last_line{};
    std::size_t scope{no_scope};
    bool opens_block{};
  };

  [[nodiscard]] bool enter_block(indentation const& indent) {
    if (previous_.opens_block) {
      if (!indent.is_deeper_than(blocks_.back().indent) || blocks_.size() == most_blocks) {
        return false;
      }
      blocks_.push_back({.indent = indent, .scope = previous_.scope});
      return true;
    }
    while (indent.column < blocks_.back().indent.column) {
      close_block();
    }
    return indent == blocks_.back().indent;
  }

  void close_block() {
    // Closing an `if` ends its function too early; the function's own block, closed later, has
    // the last word.
    if (auto const scope = blocks_.back().scope; scope != no_scope) {
      scopes_[scope].last_line = previous_.last_line;
    }
    blocks_.pop_back();
  }

  /// The name that a line starting with these tokens defines. Compound statements cannot follow
  /// others on a line, so a def or class is nowhere but at the start of one.
  [[nodiscard]] static std::optional<std::string_view> name_defined(
      std::array<std::string_view, 3> const& head) {
    if (head[0] == "def" || head[0] == "class") {
      return head[1];
    }
    if (head[0] == "async" && head[1] == "def") {
      return head[2];
    }
    return std::nullopt;
  }

  [[nodiscard]] bool open_scope(logical_line const& line, std::string_view name) {
    if (name.empty() || !is_word_byte(name[0]) || is_digit(name[0]) || !is_utf8(name)) {
      return false;
    }
    std::string qualified_name;
    if (auto const outer = blocks_.back().scope; outer != no_scope) {
      qualified_name.append(scopes_[outer].qualified_name).append(1, '.');
    }
    qualified_name.append(name);
    name_bytes_ += qualified_name.size();
    if (name_bytes_ > most_name_bytes) {
      return false;
    }

    auto const first_line = decorator_line_ != 0 ? decorator_line_ : line.first_line;
    decorator_line_ = 0;
    scopes_.push_back({first_line, line.last_line, std::move(qualified_name)});
    return true;
  }

  std::vector<python_scope> scopes_;
  std::vector<block> blocks_{block{}};
  line_before previous_;
  std::int64_t decorator_line_{};  // of the first decorator still waiting for its def; 0: none
  std::size_t name_bytes_{};
};

/// The text of the file, or none when it is not one we open.
[[nodiscard]] std::optional<std::string> read_python_file(std::filesystem::path const& path) {
  if (path.extension() != ".py") {
    return std::nullopt;
  }
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed) || failed) {
    return std::nullopt;
  }
  auto const size = std::filesystem::file_size(path, failed);
  if (failed || size > python_labels::largest_file_bytes) {
    return std::nullopt;
  }

  std::ifstream file{path, std::ios::binary};
  std::string text(static_cast<std::size_t>(size), '\0');
  // A file that shrinks meanwhile is cut to what was read, one that grows to what it was.
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::vector<python_scope> read_python_scopes(std::string_view source) {
  if (source.find('\0') != std::string_view::npos) {
    return {};
  }
  logical_line_reader lines{source};
  scope_builder scopes;
  while (auto const line = lines.next()) {
    if (!scopes.add(*line)) {
      return {};
    }
  }
  if (lines.broken()) {
    return {};
  }
  return std::move(scopes).finish();
}

std::string python_labels::label(std::string const& path, std::int64_t line) {
  auto const [entry, is_new] = scopes_by_path_.try_emplace(path);
  auto& scopes = entry->second;
  if (is_new) {
    if (auto const source = read_python_file(path)) {
      scopes = read_python_scopes(*source);
    }
  }
  // Scopes nest and are sorted by their start: the last to start among those that reach the line
  // is the innermost.
  auto const after = std::ranges::upper_bound(scopes, line, {}, &python_scope::first_line);
  auto const innermost =
      std::find_if(std::make_reverse_iterator(after), scopes.rend(),
                   [line](python_scope const& scope) { return line <= scope.last_line; });
  return innermost == scopes.rend() ? std::string{} : innermost->qualified_name;
}

}  // namespace memreplay::reporting
