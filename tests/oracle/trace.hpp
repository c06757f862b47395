// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A small trace that owns its columns, written row by row in tests.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel_api.hpp"

namespace memreplay::test {

struct trace {
  std::vector<action> what;
  std::vector<std::uint64_t> address;
  std::vector<std::uint64_t> size;
  std::vector<stack_id> stack;
  std::vector<std::int64_t> time_us;

  std::vector<std::uint64_t> block_address;  ///< ascending
  std::vector<std::uint64_t> block_size;
  std::vector<stack_id> block_stack;
  std::vector<std::uint8_t> block_is_pending;
  bool has_segments = true;
  std::int64_t reserved_end_bytes = 0;

  trace& add(action says, std::uint64_t at, std::uint64_t bytes, std::uint32_t held_by = 0) {
    what.push_back(says);
    address.push_back(at);
    size.push_back(bytes);
    stack.push_back(stack_id{held_by});
    time_us.push_back(static_cast<std::int64_t>(time_us.size()) * 10);
    return *this;
  }
  trace& alloc(std::uint64_t at, std::uint64_t bytes, std::uint32_t held_by = 0) {
    return add(action::alloc, at, bytes, held_by);
  }
  trace& request(std::uint64_t at, std::uint64_t bytes, std::uint32_t held_by = 0) {
    return add(action::free_requested, at, bytes, held_by);
  }
  trace& complete(std::uint64_t at, std::uint64_t bytes, std::uint32_t held_by = 0) {
    return add(action::free_completed, at, bytes, held_by);
  }
  /// Blocks are added in ascending address.
  trace& block(std::uint64_t at, std::uint64_t bytes, bool is_pending = false,
               std::uint32_t held_by = 0) {
    block_address.push_back(at);
    block_size.push_back(bytes);
    block_stack.push_back(stack_id{held_by});
    block_is_pending.push_back(is_pending ? 1 : 0);
    return *this;
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(what.size()); }
  [[nodiscard]] kernels::kernel_input view() const {
    kernels::kernel_input made;
    made.events = {count(), what.data(), address.data(), size.data(), stack.data(), time_us.data()};
    made.blocks = {static_cast<std::int64_t>(block_address.size()), block_address.data(),
                   block_size.data(), block_stack.data(), block_is_pending.data()};
    made.has_segments = has_segments;
    made.reserved_end_bytes = reserved_end_bytes;
    return made;
  }
};

}  // namespace memreplay::test
