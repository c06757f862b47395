// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One device's part of a snapshot in the shape that the kernels take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memreplay/plan.hpp>
#include <memreplay/snapshot.hpp>

#include "kernels/kernel_api.hpp"

namespace memreplay {

/// Bytes of the blocks in use at the end, by what the curves count.
struct end_bytes {
  std::int64_t allocated = 0;         ///< requested bytes, state active_allocated
  std::int64_t active = 0;            ///< requested bytes, pending frees included
  std::int64_t reserved = 0;          ///< segments
  std::int64_t allocated_blocks = 0;  ///< block bytes, as memory_allocated() counts them
};

/// Owns the block columns, and points to the snapshot's events and to `event_size`, which must both
/// outlive it.
struct device_input {
  std::vector<std::uint64_t> block_address;
  std::vector<std::uint64_t> block_size;
  std::vector<stack_id> block_stack;
  std::vector<std::uint8_t> block_is_pending;
  std::int64_t events = 0;
  bool has_end_state = false;
  end_bytes end;
  /// Blocks that share their address with another one; the first of them counts.
  std::int64_t repeated_blocks = 0;
  kernels::event_view event_columns;

  [[nodiscard]] kernels::kernel_input view() const noexcept;
};

/// `event_size` has one entry per event of the device, or is empty for the recorded sizes.
[[nodiscard]] device_input make_device_input(snapshot const& input, std::int32_t device,
                                             size_basis sizes,
                                             std::span<std::uint64_t const> event_size);

/// The trace of a device; empty for an ordinal beyond the list.
[[nodiscard]] trace_range trace_of(snapshot const& input, std::int32_t device) noexcept;
/// Whether the file says anything about the device. Ordinal 0 always exists, as an empty device if
/// need be.
[[nodiscard]] bool has_device(snapshot const& input, std::int32_t device) noexcept;
/// Whether `segments` tells the end state of a trace. Some writers leave it empty because they know
/// no segments: their traces speak of none either.
[[nodiscard]] bool knows_end_state(snapshot const& input, trace_range range) noexcept;

}  // namespace memreplay
