// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Index types of the tables of a snapshot: each table has its own, so a stack id never indexes
// frames.
#pragma once

#include <cstdint>
#include <limits>

namespace memreplay {

/// Row of `string_table`. Id 0 is always the empty string.
enum class string_id : std::uint32_t {};
/// Row of `frame_table`.
enum class frame_id : std::uint32_t {};
/// Row of `stack_table`, or one of the two markers below.
enum class stack_id : std::uint32_t {};
/// Row of `snapshot::streams`.
enum class stream_id : std::uint32_t {};
/// Row of `snapshot::pools`.
enum class pool_index : std::uint32_t {};

/// The writer recorded no stack for this row (the key is absent, or recording was off).
inline constexpr stack_id no_stack{0xffff'ffff};
/// Memory older than the trace of which nothing tells the stack; used in totals only, never in a
/// column.
inline constexpr stack_id before_trace_stack{0xffff'fffe};

template <class EnumT>
[[nodiscard]] constexpr std::uint32_t to_row(EnumT id) noexcept {
  return static_cast<std::uint32_t>(id);
}

/// Position of an event in its device's trace, 0-based. `before_trace` stands for "older than event
/// 0", `never` for "not within the trace".
using event_index = std::int64_t;
inline constexpr event_index before_trace = -1;
inline constexpr event_index never = std::numeric_limits<event_index>::max();

}  // namespace memreplay
