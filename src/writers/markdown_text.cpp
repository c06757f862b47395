// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Foreign text inside markdown: shown as it is, whatever it contains.
#include "writers/markdown_text.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "writers/plain_text.hpp"

namespace memreplay::writers {
namespace {

bool is_word(char value) {
  return (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z') ||
         (value >= '0' && value <= '9');
}

/// An underscore between letters is no markup, and escaping it would make most names hard to read.
bool is_inside_word(std::string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_word(text[at - 1]) && is_word(text[at + 1]);
}

/// Where a backslash keeps the beginning of a line from opening a heading, a list or a rule; npos
/// when nothing does. Of escaped text, which opens no quote, code or table.
std::size_t opener_of(std::string_view line) {
  if (line.starts_with('#') || line.starts_with("--")) return 0;
  std::size_t const digits = std::min(line.find_first_not_of("0123456789"), line.size());
  std::string_view const rest = line.substr(digits);
  std::string_view const marks = digits == 0 ? "-+" : ".)";
  bool const is_marked = !rest.empty() && marks.find(rest.front()) != std::string_view::npos;
  bool const is_list = is_marked && (rest.size() == 1 || rest[1] == ' ');
  return is_list ? digits : std::string_view::npos;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string const clean = clean_line(text);
  std::string out;
  out.reserve(clean.size());
  for (std::size_t at = 0; at < clean.size(); ++at) {
    char const here = clean[at];
    switch (here) {
      case '<':
        if (clean.substr(at, 2) == "<-")
          break;  // our arrows open no tag, and read better as they are
        out += "&lt;";
        continue;
      case '>':
        if (at > 0)
          break;  // quotes only at the beginning of a line, and closes no tag that is not open
        out += "&gt;";
        continue;
      case '&': out += "&amp;"; continue;
      case '_':
        if (!is_inside_word(clean, at)) out += '\\';
        break;
      case '\\':
      case '`':
      case '*':
      case '[':
      case ']':
      case '|':
      case '~':
      case '$': out += '\\'; break;
      default: break;
    }
    out += here;
  }
  return out;
}

std::string markdown_paragraph(std::string_view text) {
  std::string line = markdown_text(trimmed(clean_line(text)));
  if (std::size_t const opener = opener_of(line); opener != std::string_view::npos)
    line.insert(opener, 1, '\\');
  return line;
}

std::string markdown_image(std::string_view text, std::string_view file) {
  std::string target;
  for (char const letter : file) {
    bool const is_plain =
        is_word(letter) || std::string_view("/._-~").find(letter) != std::string_view::npos;
    target += is_plain ? std::string(1, letter)
                       : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return "![" + markdown_text(text) + "](" + target + ')';
}

std::string markdown_link(std::string_view text, std::string_view url) {
  return url.empty() ? markdown_text(text)
                     : '[' + markdown_text(text) + "](" + std::string(url) + ')';
}

}  // namespace memreplay::writers
