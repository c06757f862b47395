// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as the text opcodes of protocol 0 write them, and integers of any length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pickle/value.hpp"

namespace memreplay::pickle {

/// Little-endian two's complement, any length. Beyond 64 bits: `huge_integer`.
[[nodiscard]] value integer_from_bytes(std::span<std::uint8_t const> bytes) noexcept;

// Each returns false when the whole text is not a number.
[[nodiscard]] bool parse_integer(std::string_view text, value& number) noexcept;
[[nodiscard]] bool parse_unsigned(std::string_view text, std::uint64_t& number) noexcept;
[[nodiscard]] bool parse_real(std::string_view text, double& number);

/// Python's raw-unicode-escape (opcode UNICODE): \uXXXX and \UXXXXXXXX, everything else is Latin-1.
/// To UTF-8.
[[nodiscard]] std::string unescape_unicode(std::string_view line);
/// A Python 2 string literal (opcode STRING): quotes are dropped, \n \t \\ \' \" \xXX and octal are
/// replaced.
[[nodiscard]] std::string unescape_string(std::string_view line);

}  // namespace memreplay::pickle
