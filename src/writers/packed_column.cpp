// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Columns of numbers as a page's scripts read them: typed arrays, little endian, in base64.
#include "writers/packed_column.hpp"

#include <bit>
#include <cstddef>
#include <string>
#include <utility>

#include <nettle/base64.h>

namespace memreplay::writers {
namespace {

template <class WordT>
void append_little_endian(WordT word, std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = 0; at < sizeof(WordT); ++at)
    bytes.push_back(static_cast<std::uint8_t>(word >> (8 * at)));
}

json to_base64(char const* type, std::vector<std::uint8_t> const& bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(text.data(), bytes.size(), bytes.data());
  json out = json::object();
  out[type] = std::move(text);
  return out;
}

/// `word_of(value)` is the unsigned word that stands for a value.
template <class ValueT, class WordOfT>
json pack(char const* type, std::vector<ValueT> const& column, WordOfT word_of) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(column.size() * sizeof(word_of(ValueT{})));
  for (ValueT const value : column) append_little_endian(word_of(value), bytes);
  return to_base64(type, bytes);
}

std::uint32_t to_u32(std::int64_t value) {
  constexpr std::int64_t most = 0xffff'fffe;
  if (value < 0) return 0xffff'ffff;
  return static_cast<std::uint32_t>(value < most ? value : most);
}

}  // namespace

json packed_f64(std::vector<double> const& column) {
  return pack("f64", column, [](double value) { return std::bit_cast<std::uint64_t>(value); });
}

json packed_f64(std::vector<std::int64_t> const& column) {
  return pack("f64", column, [](std::int64_t value) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  });
}

json packed_u32(std::vector<std::int64_t> const& column) { return pack("u32", column, to_u32); }

json packed_u32(std::vector<std::uint32_t> const& column) {
  return pack("u32", column, [](std::uint32_t value) { return value; });
}

json packed_u8(std::vector<std::uint8_t> const& column) { return to_base64("u8", column); }

}  // namespace memreplay::writers
