// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Conversions of the text opcodes.
#include "pickle/number_text.hpp"

#include <algorithm>
#include <charconv>

namespace memreplay::pickle {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  auto const put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18 & 7));
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

/// Reads exactly `digits` digits of `base` at the start of `text`.
bool take_code(std::string_view text, std::size_t digits, int base, std::uint32_t& code) noexcept {
  if (text.size() < digits) return false;
  char const* const end = text.data() + digits;
  auto const [stop, problem] = std::from_chars(text.data(), end, code, base);
  return problem == std::errc{} && stop == end;
}

}  // namespace

value integer_from_bytes(std::span<std::uint8_t const> bytes) noexcept {
  bool const is_negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  std::uint8_t const filler = is_negative ? 0xff : 0x00;
  std::size_t const kept = std::min<std::size_t>(bytes.size(), 8);
  std::uint64_t bits = is_negative ? ~std::uint64_t{0} : 0;
  for (std::size_t row = kept; row-- > 0;) bits = bits << 8 | bytes[row];
  bool const fits_in_bytes =
      std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(kept), bytes.end(),
                  [filler](std::uint8_t byte) { return byte == filler; });
  bool const top_bit = bits >> 63 != 0;
  if (!fits_in_bytes || (is_negative && !top_bit))
    return {.bits = bits, .kind = value_kind::huge_integer};
  if (!is_negative && top_bit) return {.bits = bits, .kind = value_kind::unsigned_integer};
  return {.bits = bits, .kind = value_kind::integer};
}

bool parse_integer(std::string_view text, value& number) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  char const* const end = text.data() + text.size();
  std::int64_t as_signed = 0;
  auto const [stop, problem] = std::from_chars(text.data(), end, as_signed);
  if (stop != end || text.empty()) return false;
  if (problem == std::errc{}) {
    number = {.bits = static_cast<std::uint64_t>(as_signed), .kind = value_kind::integer};
    return true;
  }
  std::uint64_t as_unsigned = 0;
  if (parse_unsigned(text, as_unsigned)) {
    number = {.bits = as_unsigned, .kind = value_kind::unsigned_integer};
  } else {
    number = {.bits = 0, .kind = value_kind::huge_integer};
  }
  return true;
}

bool parse_unsigned(std::string_view text, std::uint64_t& number) noexcept {
  char const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc{} && stop == end;
}

bool parse_real(std::string_view text, double& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  char const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc{} && stop == end;
}

std::string unescape_unicode(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  while (!line.empty()) {
    std::uint32_t code = 0;
    if (line.starts_with("\\u") && take_code(line.substr(2), 4, 16, code)) {
      append_utf8(out, code);
      line.remove_prefix(6);
    } else if (line.starts_with("\\U") && take_code(line.substr(2), 8, 16, code)) {
      append_utf8(out, code);
      line.remove_prefix(10);
    } else {
      append_utf8(out, static_cast<std::uint8_t>(line.front()));
      line.remove_prefix(1);
    }
  }
  return out;
}

std::string unescape_string(std::string_view line) {
  if (line.size() >= 2 && (line.front() == '\'' || line.front() == '"') &&
      line.back() == line.front()) {
    line = line.substr(1, line.size() - 2);
  }
  std::string out;
  out.reserve(line.size());
  while (!line.empty()) {
    if (line.front() != '\\' || line.size() == 1) {
      out.push_back(line.front());
      line.remove_prefix(1);
      continue;
    }
    std::uint32_t code = 0;
    if (line[1] == 'x' && take_code(line.substr(2), 2, 16, code)) {
      out.push_back(static_cast<char>(code));
      line.remove_prefix(4);
      continue;
    }
    if (take_code(line.substr(1), 3, 8, code)) {
      out.push_back(static_cast<char>(code));
      line.remove_prefix(4);
      continue;
    }
    switch (line[1]) {
      case 'n': out.push_back('\n'); break;
      case 't': out.push_back('\t'); break;
      case 'r': out.push_back('\r'); break;
      default: out.push_back(line[1]);
    }
    line.remove_prefix(2);
  }
  return out;
}

}  // namespace memreplay::pickle
