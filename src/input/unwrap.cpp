// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Sniffing, and the loop that takes one wrapper off after the other.
#include "input/unwrap.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
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
constexpr std::uint64_t blow_up_limit = 200;
constexpr std::uint64_t always_allowed = std::uint64_t{1} << 30;

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

std::optional<encoding> encoding_of(std::string_view text) {
  std::string_view const visible = without_leading_space(text);
  if (visible.starts_with('{') || visible.starts_with('[')) return encoding::json;
  if (text.front() == '\x80' || is_old_pickle(text)) return encoding::pickle;
  return std::nullopt;
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

[[noreturn]] void fail_foreign(std::string_view text) {
  if (without_leading_space(text).starts_with("version https://git-lfs"sv)) {
    throw error(error_code::not_a_snapshot, "a Git LFS pointer, not the file itself",
                "run `git lfs pull`");
  }
  throw error(error_code::not_a_snapshot,
              fmt::format("not a memory snapshot: begins with \"{}\"", describe_start(text)),
              "pickle, gzip, zip, zstd, HTML and JSON snapshots can be read");
}

std::uint64_t bytes_of_file(peeked_source const& file) {
  return std::max(file.position(), file.size().value_or(0));
}

}  // namespace

std::uint64_t unwrapped::file_bytes() const { return bytes_of_file(*file); }

unwrapped unwrap(std::unique_ptr<base::byte_source> file, bool is_cut_allowed) {
  unwrapped result;
  result.bytes = std::make_unique<peeked_source>(std::move(file));
  result.file = result.bytes.get();
  std::string wrappers;
  for (int level = 0;; ++level) {
    std::string_view const text = as_text(result.bytes->start());
    if (text.empty()) {
      throw error(error_code::not_a_snapshot,
                  level == 0 ? "the file is empty (0 bytes)"
                             : "the wrapped file is empty, or cut off at its start",
                  "the dump died before it wrote anything; record with stacks=\"python\" if "
                  "symbolizing failed");
    }
    if (std::optional<encoding> const found = encoding_of(text)) {
      result.what = *found;
      result.description = (*found == encoding::json ? "json" : "pickle") + wrappers;
      return result;
    }
    std::string_view format = archive_format(result.bytes->start());
    if (format.empty() && without_leading_space(text).starts_with('<')) format = "html";
    if (format.empty()) fail_foreign(text);
    if (level == wrapper_limit) {
      throw error(error_code::refused,
                  fmt::format("refused: wrapped more than {} times", wrapper_limit));
    }
    std::unique_ptr<base::byte_source> inside;
    if (format == "html") {
      auto page = std::make_unique<html_source>(std::move(result.bytes), is_cut_allowed);
      result.page = page.get();
      inside = std::move(page);
    } else {
      auto limit = [counted = result.file] {
        return always_allowed + bytes_of_file(*counted) * blow_up_limit;
      };
      inside = open_archive(std::move(result.bytes), format, {std::move(limit), is_cut_allowed});
    }
    result.bytes = std::make_unique<peeked_source>(std::move(inside));
    wrappers = fmt::format(" in {}{}", format, wrappers);
  }
}

}  // namespace memreplay::input
