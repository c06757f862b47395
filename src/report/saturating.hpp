// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Sums of recorded sizes that cannot overflow, whatever a damaged file claims.
#pragma once

#include <cstdint>
#include <limits>

namespace memreplay::reporting {

[[nodiscard]] constexpr std::int64_t to_bytes(std::uint64_t recorded) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(recorded < most ? recorded : most);
}

[[nodiscard]] constexpr std::int64_t add_saturated(std::int64_t left, std::int64_t right) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(left, right, &sum)) return sum;
  return left < 0 ? std::numeric_limits<std::int64_t>::min()
                  : std::numeric_limits<std::int64_t>::max();
}

[[nodiscard]] constexpr std::int64_t subtract_saturated(std::int64_t left,
                                                        std::int64_t right) noexcept {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(left, right, &difference)) return difference;
  return left < 0 ? std::numeric_limits<std::int64_t>::min()
                  : std::numeric_limits<std::int64_t>::max();
}

/// left - right, 0 when that is negative.
[[nodiscard]] constexpr std::int64_t excess(std::int64_t left, std::int64_t right) noexcept {
  return left > right ? subtract_saturated(left, right) : 0;
}

/// `part` in percent of `whole`; 0 when the whole is.
[[nodiscard]] constexpr double percent(std::int64_t part, std::int64_t whole) noexcept {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace memreplay::reporting
