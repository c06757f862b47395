// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The dictionary keys that snapshots use, as numbers, so that a set of them is one word.
#pragma once

#include <cstdint>
#include <string_view>

namespace memreplay::reading {

enum class key : std::uint8_t {
  // events
  action,
  addr,
  device_free,
  size,
  stream,
  frames,
  time_us,
  compile_context,
  user_metadata,
  pool_id,
  cpp_frames,
  forward_frames,
  internal_metadata,
  category,
  // frames and annotations
  name,
  filename,
  line,
  stage,
  device,
  // segments and blocks
  address,
  total_size,
  allocated_size,
  active_size,
  requested_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  state,
  history,
  real_size,
  // top level
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  host_segments,
  host_traces,
  trace_alloc_overflowed,
  trace_alloc_max_entries,
  unknown,
};

/// The key that `text` spells, or `unknown`.
[[nodiscard]] key find_key(std::string_view text) noexcept;

/// A set of keys.
class key_set {
 public:
  constexpr key_set() = default;
  template <class... Keys>
  constexpr explicit key_set(Keys... keys) : bits_((bit(keys) | ...)) {}
  constexpr void insert(key member) noexcept { bits_ |= bit(member); }
  constexpr void erase(key member) noexcept { bits_ &= ~bit(member); }
  [[nodiscard]] constexpr bool has(key member) const noexcept { return (bits_ & bit(member)) != 0; }
  [[nodiscard]] constexpr bool has_any(key_set other) const noexcept {
    return (bits_ & other.bits_) != 0;
  }

 private:
  static constexpr std::uint64_t bit(key member) noexcept {
    return std::uint64_t{1} << static_cast<int>(member);
  }
  std::uint64_t bits_ = 0;
};

}  // namespace memreplay::reading
