// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A growing array of plain values that never copies itself twice: the storage of every event
// column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace memreplay {

namespace detail {
/// Changes the size of a block that this function made, or makes (old_bytes = 0) or frees
/// (new_bytes = 0) one; contents are kept. Throws std::bad_alloc.
void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes);
}  // namespace detail

/// Like std::vector for trivially copyable values, but large blocks are remapped instead of copied,
/// so a column of gigabytes needs no second copy of itself while it grows (std::vector does).
template <class ValueT>
class column {
  static_assert(std::is_trivially_copyable_v<ValueT>);

 public:
  column() = default;
  column(column const&) = delete;
  column& operator=(column const&) = delete;
  column(column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  column& operator=(column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~column() { detail::resize_block(data_, capacity_ * sizeof(ValueT), 0); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] ValueT* data() noexcept { return data_; }
  [[nodiscard]] ValueT const* data() const noexcept { return data_; }
  [[nodiscard]] ValueT& operator[](std::size_t row) noexcept { return data_[row]; }
  [[nodiscard]] ValueT const& operator[](std::size_t row) const noexcept { return data_[row]; }
  [[nodiscard]] ValueT& back() noexcept { return data_[size_ - 1]; }
  [[nodiscard]] ValueT const* begin() const noexcept { return data_; }
  [[nodiscard]] ValueT const* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::span<ValueT const> view() const noexcept { return {data_, size_}; }

  void push_back(ValueT value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(std::span<ValueT const> values) {
    if (values.empty()) return;
    if (size_ + values.size() > capacity_) grow(size_ + values.size());
    std::memcpy(data_ + size_, values.data(), values.size_bytes());
    size_ += values.size();
  }
  /// `count` new rows without a value yet; returns the first of them.
  [[nodiscard]] ValueT* extend(std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    size_ += count;
    return data_ + (size_ - count);
  }
  /// New rows get `value`.
  void resize(std::size_t size, ValueT value) {
    if (size > capacity_) grow(size);
    for (std::size_t row = size_; row < size; ++row) data_[row] = value;
    size_ = size;
  }
  /// Drops the rows from `size` on; there must be as many.
  void shrink_to(std::size_t size) noexcept { size_ = size; }
  void shrink_to_fit() {
    if (size_ < capacity_) reallocate(size_);
  }
  void clear() noexcept { size_ = 0; }

 private:
  void grow(std::size_t at_least) {
    std::size_t const doubled = capacity_ + capacity_ / 2 + 64;
    reallocate(doubled < at_least ? at_least : doubled);
  }
  void reallocate(std::size_t capacity) {
    data_ = static_cast<ValueT*>(
        detail::resize_block(data_, capacity_ * sizeof(ValueT), capacity * sizeof(ValueT)));
    capacity_ = capacity;
  }

  ValueT* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace memreplay
