// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Columns where the steps can reach them: owned scratch, and the input (borrowed on a host,
// uploaded to a device).
#pragma once

#include "kernels/backend.cuh"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

/// An owned column of `count` values, uninitialised, in the back end's memory. Freed when it goes.
template <class ValueT>
class buffer {
  static_assert(std::is_trivially_copyable_v<ValueT>);

 public:
  buffer(execution const& exec, std::int64_t count) : exec_(&exec), count_(count) {
    if (count > 0) {
      data_ = static_cast<ValueT*>(exec.allocate(static_cast<std::size_t>(count) * sizeof(ValueT)));
    }
  }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;
  buffer(buffer&& other) noexcept
      : exec_(other.exec_),
        data_(std::exchange(other.data_, nullptr)),
        count_(std::exchange(other.count_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(exec_, other.exec_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~buffer() { release(); }

  [[nodiscard]] ValueT* data() noexcept { return data_; }
  [[nodiscard]] ValueT const* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// Forgets the values behind the first `count`; their memory stays with the column.
  void keep_first(std::int64_t count) noexcept { count_ = count; }
  /// Gives the memory back before the end of the scope.
  void release() noexcept {
    if (data_ != nullptr) exec_->deallocate(std::exchange(data_, nullptr));
    count_ = 0;
  }

 private:
  execution const* exec_;
  ValueT* data_ = nullptr;
  std::int64_t count_;
};

/// A column of the caller: read in place where host memory can be shared, else uploaded once.
template <class ValueT>
class input_column {
 public:
  input_column(execution const& exec, ValueT const* host, std::int64_t count)
      : copy_(exec, shares_host_memory ? 0 : count), data_(host) {
    if constexpr (!shares_host_memory) {
      data_ = copy_.data();
      if (count > 0) {
        exec.copy_from_host(copy_.data(), host, static_cast<std::size_t>(count) * sizeof(ValueT));
      }
    }
  }
  [[nodiscard]] ValueT const* data() const noexcept { return data_; }
  void release() noexcept {
    copy_.release();
    data_ = nullptr;
  }

 private:
  buffer<ValueT> copy_;
  ValueT const* data_;
};

/// The first `count` values of a column, on the host.
template <class ValueT>
[[nodiscard]] std::vector<ValueT> download(execution const& exec, ValueT const* data,
                                           std::int64_t count) {
  std::vector<ValueT> values(static_cast<std::size_t>(count));
  if (count > 0) exec.copy_to_host(values.data(), data, values.size() * sizeof(ValueT));
  return values;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
