// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Picks one device's events, segments and blocks out of a snapshot.
#include "replay/device_input.hpp"

#include <algorithm>

namespace memreplay {
namespace {

/// Writers give a block without a stack the shared empty list: as little is known of it as without
/// the key.
stack_id known_stack(snapshot const& input, stack_id stack) {
  return stack == no_stack || input.stacks[stack].empty() ? no_stack : stack;
}

// Sums of a hostile file may wrap around; unsigned, they do so without harm.
void add(std::int64_t& sum, std::uint64_t bytes) {
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + bytes);
}

bool is_segment_action(action what) {
  return what == action::segment_alloc || what == action::segment_free ||
         what == action::segment_map || what == action::segment_unmap;
}

std::vector<block> blocks_in_use(snapshot const& input, std::int32_t device, end_bytes& end) {
  std::vector<block> in_use;
  for (segment const& part : input.segments) {
    if (part.device != device) continue;
    add(end.reserved, part.total_size);
    for (std::int64_t row = part.first_block; row < part.first_block + part.block_count; ++row) {
      block const& piece = input.blocks[static_cast<std::size_t>(row)];
      if (piece.state != block_state::inactive) in_use.push_back(piece);
    }
  }
  auto const by_address = [](block const& left, block const& right) {
    return left.address < right.address;
  };
  if (!std::is_sorted(in_use.begin(), in_use.end(), by_address)) {
    std::stable_sort(in_use.begin(), in_use.end(), by_address);
  }
  return in_use;
}

}  // namespace

trace_range trace_of(snapshot const& input, std::int32_t device) noexcept {
  if (device < 0 || static_cast<std::size_t>(device) >= input.traces.size()) return {};
  return input.traces[static_cast<std::size_t>(device)];
}

bool has_device(snapshot const& input, std::int32_t device) noexcept {
  if (device == 0) return true;
  if (device > 0 && static_cast<std::size_t>(device) < input.traces.size()) return true;
  return std::any_of(input.segments.begin(), input.segments.end(),
                     [device](segment const& part) { return part.device == device; });
}

bool knows_end_state(snapshot const& input, trace_range range) noexcept {
  if (!input.has_segments) return false;
  if (!input.segments.empty()) return true;
  action const* const first = input.events.what.data() + range.first;
  return std::any_of(first, first + range.count, is_segment_action);
}

device_input make_device_input(snapshot const& input, std::int32_t device, size_basis sizes,
                               std::span<std::uint64_t const> event_size) {
  device_input made;
  trace_range const range = trace_of(input, device);
  made.events = range.count;
  made.has_end_state = knows_end_state(input, range);

  std::vector<block> const in_use = blocks_in_use(input, device, made.end);
  for (block const& piece : in_use) {
    if (!made.block_address.empty() && made.block_address.back() == piece.address) {
      ++made.repeated_blocks;
      continue;
    }
    bool const is_pending = piece.state == block_state::active_pending_free;
    made.block_address.push_back(piece.address);
    made.block_size.push_back(sizes == size_basis::block ? piece.size : piece.requested_size);
    made.block_stack.push_back(known_stack(input, piece.stack));
    made.block_is_pending.push_back(is_pending ? 1 : 0);
    add(made.end.active, piece.requested_size);
    if (is_pending) continue;
    add(made.end.allocated, piece.requested_size);
    add(made.end.allocated_blocks, piece.size);
  }

  event_columns const& events = input.events;
  auto const first = static_cast<std::size_t>(range.first);
  kernels::event_view& view = made.event_columns;
  view.count = range.count;
  view.first_row = range.first;
  view.what = events.what.data() + first;
  view.address = events.address.data() + first;
  view.size = event_size.empty() ? events.size.data() + first : event_size.data();
  view.stack = events.stack.data() + first;
  view.time_us = events.time_us.empty() ? nullptr : events.time_us.data() + first;
  return made;
}

kernels::kernel_input device_input::view() const noexcept {
  kernels::kernel_input made;
  made.events = event_columns;
  made.blocks.count = static_cast<std::int64_t>(block_address.size());
  made.blocks.address = block_address.data();
  made.blocks.size = block_size.data();
  made.blocks.stack = block_stack.data();
  made.blocks.is_pending = block_is_pending.data();
  made.has_segments = has_end_state;
  made.reserved_end_bytes = end.reserved;
  return made;
}

}  // namespace memreplay
