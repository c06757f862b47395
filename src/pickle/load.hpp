// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers out of bytes at any address.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace memreplay::pickle {

template <class IntT>
[[nodiscard]] inline IntT load(std::uint8_t const* from) noexcept {
  IntT number;
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::endian::native == std::endian::big) {
    auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(IntT)>>(number);
    std::reverse(bytes.begin(), bytes.end());
    number = std::bit_cast<IntT>(bytes);
  }
  return number;
}

}  // namespace memreplay::pickle
