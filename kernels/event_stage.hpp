// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Moves event rows to a device while the file is still being read: through a ring of pinned
// buffers, into columns that grow there.
//
//   the reader's columns     rows final so far        1 1 1 1 2 2 2 2 3 3 . .
//   slot 0, slot 1           four rows each           [1 1 1 1]   [2 2 2 2]   then slot 0 again
//   the device's columns     copied in order          1 1 1 1 2 2 2 2
//
// The reader's columns may move between two calls, so a row is copied out while the call lasts. A
// slot is filled again only when the device has read it. This file knows no CUDA: what a device can
// do stands in `DeviceT`, and the tests' one runs anywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kernel_api.hpp"

namespace memreplay::kernels {

/// Rows [0, n) of the file's event columns on a device.
struct staged_columns {
  std::uint64_t* address = nullptr;
  std::uint64_t* size = nullptr;
  stack_id* stack = nullptr;
  action* what = nullptr;
};

/// `DeviceT` has `slot_count` buffers of `slot_bytes` and does everything in the order it was
/// asked:
///   std::byte* wait_for(int slot)             the buffer, when no copy reads it any more
///   void copy(void* to, std::byte const*, std::size_t bytes)   begins a copy from a buffer
///   void done_with(int slot)                  no more copies from this filling
///   void* resize(void* memory, std::size_t used_bytes, std::size_t bytes)   null: new memory
///   void release(void* memory)
template <class DeviceT>
class event_stage {
 public:
  explicit event_stage(DeviceT& device) : device_(&device) {}
  event_stage(event_stage const&) = delete;
  event_stage& operator=(event_stage const&) = delete;
  ~event_stage() {
    device_->release(columns_.address);
    device_->release(columns_.size);
    device_->release(columns_.stack);
    device_->release(columns_.what);
  }

  /// Rows [0, rows.count) are final; those not taken yet are sent on, in whole slots unless these
  /// are all.
  void take(event_view const& rows, bool are_all) {
    while (rows.count - count_ >= (are_all ? 1 : slot_rows)) {
      send(rows, std::min(slot_rows, rows.count - count_));
    }
  }

  /// Rows that are on the device, or on the way: whatever the device does next sees them.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] staged_columns const& columns() const noexcept { return columns_; }

  static constexpr std::int64_t row_bytes = 2 * sizeof(std::uint64_t) + sizeof(stack_id) + 1;
  /// A multiple of 64, so that each column's part of a slot is aligned.
  static constexpr std::int64_t slot_rows =
      static_cast<std::int64_t>(DeviceT::slot_bytes) / row_bytes / 64 * 64;
  static_assert(sizeof(action) == 1 && slot_rows > 0);

 private:
  void send(event_view const& rows, std::int64_t count) {
    grow(count_ + count);
    std::byte* part = device_->wait_for(slot_);
    send_column(rows.address, columns_.address, count, part);
    send_column(rows.size, columns_.size, count, part);
    send_column(rows.stack, columns_.stack, count, part);
    send_column(rows.what, columns_.what, count, part);
    device_->done_with(slot_);
    slot_ = (slot_ + 1) % DeviceT::slot_count;
    count_ += count;
  }

  template <class ValueT>
  void send_column(ValueT const* from, ValueT* to, std::int64_t count, std::byte*& part) {
    std::size_t const bytes = bytes_of<ValueT>(count);
    std::memcpy(part, from + count_, bytes);
    device_->copy(to + count_, part, bytes);
    part += bytes_of<ValueT>(slot_rows);
  }

  void grow(std::int64_t at_least) {
    if (at_least <= capacity_) return;
    std::int64_t const capacity = std::max({at_least, 2 * capacity_, 4 * slot_rows});
    grow_column(columns_.address, capacity);
    grow_column(columns_.size, capacity);
    grow_column(columns_.stack, capacity);
    grow_column(columns_.what, capacity);
    capacity_ = capacity;
  }

  template <class ValueT>
  void grow_column(ValueT*& column, std::int64_t capacity) {
    column = static_cast<ValueT*>(
        device_->resize(column, bytes_of<ValueT>(count_), bytes_of<ValueT>(capacity)));
  }

  template <class ValueT>
  [[nodiscard]] static constexpr std::size_t bytes_of(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(ValueT);
  }

  DeviceT* device_;
  staged_columns columns_;
  std::int64_t count_ = 0;
  std::int64_t capacity_ = 0;
  int slot_ = 0;
};

}  // namespace memreplay::kernels
