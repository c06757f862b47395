// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Columns of numbers as a page's scripts read them: typed arrays, little endian, in base64.
#pragma once

#include <cstdint>
#include <vector>

#include "writers/json_parts.hpp"

namespace memreplay::writers {

/// `{"f64": "..."}`. Bytes are exact below 2^53.
[[nodiscard]] json packed_f64(std::vector<double> const& column);
[[nodiscard]] json packed_f64(std::vector<std::int64_t> const& column);
/// `{"u32": "..."}`. What is negative becomes 0xffffffff (events: before the first), what is too
/// large 0xfffffffe.
[[nodiscard]] json packed_u32(std::vector<std::int64_t> const& column);
[[nodiscard]] json packed_u32(std::vector<std::uint32_t> const& column);
/// `{"u8": "..."}`.
[[nodiscard]] json packed_u8(std::vector<std::uint8_t> const& column);

}  // namespace memreplay::writers
