// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The caching allocator's rules for sizes: rounding, splitting, and what it asks of the driver.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <memreplay/snapshot.hpp>

namespace memreplay {

inline constexpr std::uint64_t min_block_bytes = 512;
/// Requests up to this (rounded) come from a small pool; a large pool keeps a remainder up to this
/// unsplit.
inline constexpr std::uint64_t small_limit_bytes = std::uint64_t{1} << 20;
/// Sizes above this are no sizes; they saturate, so that sums of a few of them stay in 64 bits.
inline constexpr std::uint64_t size_cap_bytes = std::uint64_t{1} << 60;

[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t left,
                                                     std::uint64_t right) noexcept {
  std::uint64_t const sum = left + right;
  return sum < left ? std::numeric_limits<std::uint64_t>::max() : sum;
}

/// The settings that decide block sizes (format, section 2.6).
struct allocator_rules {
  std::uint64_t added_bytes = 0;  ///< Ascend adds 32 before rounding
  /// By bucket, clamp(floor(log2 n) - 20, 0, 15); 0 and 1 = none.
  std::array<std::uint64_t, 16> power2_divisions{};
  bool has_divisions = false;  ///< one of them is > 1
  std::uint64_t max_split_size = std::numeric_limits<std::uint64_t>::max();
  std::optional<bool> expandable;  ///< the setting at dump time; unset when not in the file

  /// Bytes of the block that a request needs. Never less than the request, up to `size_cap_bytes`.
  [[nodiscard]] std::uint64_t round_size(std::uint64_t requested) const noexcept {
    if (requested > size_cap_bytes - small_limit_bytes) return size_cap_bytes;
    std::uint64_t const bytes = requested + added_bytes;
    if (bytes < min_block_bytes) return min_block_bytes;
    if (has_divisions) [[unlikely]] {
      if (std::uint64_t const rounded = round_to_division(bytes); rounded != 0) return rounded;
    }
    return (bytes + min_block_bytes - 1) / min_block_bytes * min_block_bytes;
  }

  /// Block bytes for a rounded request cut from the low end of a free range of a large pool
  /// (section 2.6: the remainder is split off when it is more than 1 MiB and the request is below
  /// max_split_size).
  [[nodiscard]] std::uint64_t large_block_size(std::uint64_t rounded,
                                               std::uint64_t range) const noexcept {
    return rounded < max_split_size && range - rounded > small_limit_bytes ? rounded : range;
  }

 private:
  [[nodiscard]] std::uint64_t round_to_division(std::uint64_t bytes) const noexcept;
};

/// Whether a block of this rounded size lives in a large pool.
[[nodiscard]] constexpr bool is_large(std::uint64_t rounded) noexcept {
  return rounded > small_limit_bytes;
}

/// Bytes that the allocator asks of the driver for a block of this rounded size that no cached
/// block can serve: a segment, or the pages of an expandable one.
[[nodiscard]] std::uint64_t driver_bytes(std::uint64_t rounded, bool expandable) noexcept;

/// The rules that the settings of the file tell. Unknown and malformed settings are passed over.
[[nodiscard]] allocator_rules read_allocator_rules(std::span<setting const> settings);

}  // namespace memreplay
