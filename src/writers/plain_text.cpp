// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Small pieces of text that all human-readable formats share.
#include "writers/plain_text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>

namespace memreplay::writers {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct code_point {
  std::uint32_t value = 0;
  std::size_t length = 0;  ///< 0: the bytes are no UTF-8
};

code_point decode_at(std::string_view text, std::size_t at) {
  auto const byte = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  unsigned char const lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  std::size_t const length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return {};
  std::uint32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t index = at + 1; index < at + length; ++index) {
    if ((byte(index) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(index) & 0x3FU);
  }
  bool const is_overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  bool const is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (is_overlong || is_surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

bool is_blank(std::uint32_t value) { return value == '\n' || value == '\r' || value == '\t'; }

bool is_hidden(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x061C || value == 0x200E ||
         value == 0x200F || (value >= 0x2028 && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

struct code_point_range {
  std::uint32_t first = 0, last = 0;
};

/// Unicode's blocks of wide characters, coarsely: a character that is missing shifts one cell.
constexpr code_point_range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                                     {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                                     {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
                                     {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
                                     {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD}};
/// Accents, joiners and variation selectors.
constexpr code_point_range joining[] = {
    {0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};

bool is_in(std::span<code_point_range const> ranges, std::uint32_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [value](code_point_range const& range) {
    return value >= range.first && value <= range.last;
  });
}

}  // namespace

std::string clean_line(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    code_point const here = decode_at(text, at);
    if (here.length > 0 && is_blank(here.value)) {
      clean += ' ';
    } else if (here.length == 0 || is_hidden(here.value)) {
      clean += replacement;
    } else {
      clean += text.substr(at, here.length);
    }
    at += here.length == 0 ? 1 : here.length;
  }
  return clean;
}

std::string trimmed(std::string_view clean_text) {
  std::size_t const first = clean_text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  std::size_t const last = clean_text.find_last_not_of(' ');
  return std::string(clean_text.substr(first, last + 1 - first));
}

std::size_t display_width(std::string_view clean_text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < clean_text.size();) {
    code_point const here = decode_at(clean_text, at);
    if (!is_in(joining, here.value)) width += is_in(wide, here.value) ? 2U : 1U;
    at += here.length == 0 ? 1 : here.length;
  }
  return width;
}

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  std::size_t const first_digit = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string count_text(std::int64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count_text(count), singular, count == 1 ? "" : "s");
}

std::string signed_count_text(std::int64_t count) {
  return (count > 0 ? "+" : "") + count_text(count);
}

std::string share_text(double percent) {
  return percent > 0.0 && percent < 0.05 ? "<0.1" : fmt::format("{:.1f}", percent);
}

std::string seconds_text(double seconds) { return fmt::format("{:.3f} s", seconds); }

std::string event_text(std::int64_t event) {
  return event < 0 ? "before the first event" : "at event " + count_text(event);
}

std::string device_list_text(std::vector<std::int32_t> const& devices) {
  return fmt::format("{}", fmt::join(devices, ", "));
}

}  // namespace memreplay::writers
