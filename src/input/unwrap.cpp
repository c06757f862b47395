// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Sniffing, and the loop that takes one wrapper off after the other.
#include "input/unwrap.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "input/archive.hpp"
#include "input/html.hpp"

namespace memreplay::input {
namespace {

using namespace std::string_view_literals;

/// A pickle in a zip in a gzip is odd but harmless; deeper nesting is an attack.
constexpr int wrapper_limit = 4;

/// Real snapshots shrink 9 to 36 times, JSON ones somewhat more. The limit counts from the file, so
/// that wrappers do not multiply.
constexpr std::size_t blow_up_limit = 200;
constexpr std::size_t always_allowed = std::size_t{1} << 30;

std::string_view as_text(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

std::string_view without_leading_space(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::size_t const first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

/// Two lines with a name each, which the machine refuses better than we could; any other text that
/// begins with a c is no pickle.
bool is_global(std::string_view text) {
  for (int line = 0; line < 2; ++line) {
    std::size_t const end = text.find('\n');
    if (end == std::string_view::npos || end == 0) return false;
    bool const is_name = std::ranges::all_of(text.substr(0, end), [](char letter) {
      return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
             letter == '.';
    });
    if (!is_name) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

/// Protocols 0 and 1 have no magic: they begin with the opcodes of an empty or marked list or
/// dictionary.
bool is_old_pickle(std::string_view text) {
  return text.starts_with("(d"sv) || text.starts_with("(l"sv) || text.starts_with("}"sv) ||
         text.starts_with("]"sv) || (text.starts_with("c"sv) && is_global(text.substr(1))) ||
         (text.starts_with("(i"sv) && is_global(text.substr(2)));
}

std::string describe_start(std::string_view text) {
  std::string shown;
  for (char const byte : text.substr(0, 16)) {
    if (std::isprint(static_cast<unsigned char>(byte)) != 0) {
      shown.push_back(byte);
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return shown;
}

}  // namespace

unwrapped unwrap(std::span<std::byte const> bytes, bool is_cut_allowed) {
  unwrapped result;
  result.bytes = bytes;
  std::string wrappers;
  std::size_t const limit = always_allowed + bytes.size() * blow_up_limit;
  for (int level = 0;; ++level) {
    std::string_view const text = as_text(result.bytes);
    if (text.empty()) {
      throw error(error_code::not_a_snapshot,
                  level == 0 ? "the file is empty (0 bytes)"
                             : "the wrapped file is empty, or cut off at its start",
                  "the dump died before it wrote anything; record with stacks=\"python\" if "
                  "symbolizing failed");
    }
    std::string_view const visible = without_leading_space(text);
    if (text.front() == '\x80') {
      result.what = encoding::pickle;
      result.description = "pickle" + wrappers;
      return result;
    }
    bool const is_compressed = is_archive(result.bytes);
    bool const is_wrapper = is_compressed || visible.starts_with('<');
    if (is_wrapper && level == wrapper_limit) {
      throw error(error_code::refused,
                  fmt::format("refused: wrapped more than {} times", wrapper_limit));
    }
    if (is_compressed) {
      decoded_member member = decode_archive(result.bytes, limit, is_cut_allowed);
      result.storage = std::move(member.content);
      wrappers = " in " + member.format + wrappers;
    } else if (visible.starts_with('<')) {
      decoded_page page = decode_html(text, is_cut_allowed);
      result.storage = std::move(page.content);
      result.other_members = page.other_members;
      wrappers = " in html" + wrappers;
    } else if (visible.starts_with('{') || visible.starts_with('[')) {
      result.what = encoding::json;
      result.description = "json" + wrappers;
      return result;
    } else if (is_old_pickle(text)) {
      result.what = encoding::pickle;
      result.description = "pickle" + wrappers;
      return result;
    } else if (visible.starts_with("version https://git-lfs"sv)) {
      throw error(error_code::not_a_snapshot, "a Git LFS pointer, not the file itself",
                  "run `git lfs pull`");
    } else {
      throw error(error_code::not_a_snapshot,
                  fmt::format("not a memory snapshot: begins with \"{}\"", describe_start(text)),
                  "pickle, gzip, zip, zstd, HTML and JSON snapshots can be read");
    }
    result.bytes = result.storage.bytes();
  }
}

}  // namespace memreplay::input
