// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A stretch of a pickle in memory, with room in front for what its predecessor left unfinished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "pickle/row_batch.hpp"
#include "pickle/row_reader.hpp"

namespace memreplay::pickle {

/// Storage: headroom, bytes, then `read_slack` zeros.
class part {
 public:
  static constexpr std::size_t headroom = std::size_t{4} << 10;

  explicit part(std::size_t capacity)
      : capacity_(capacity),
        storage_(std::make_unique_for_overwrite<std::uint8_t[]>(headroom + capacity + read_slack)) {
    set_size(0);
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint8_t* first() noexcept { return storage_.get() + headroom; }
  [[nodiscard]] std::uint8_t* last() noexcept { return first() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void set_size(std::size_t size) noexcept {
    size_ = size;
    std::memset(last(), 0, read_slack);
  }

  std::uint64_t offset = 0;  ///< of `first` in the pickle
  row_batch rows;            ///< read ahead

 private:
  std::size_t capacity_;
  std::unique_ptr<std::uint8_t[]> storage_;
  std::size_t size_ = 0;
};

}  // namespace memreplay::pickle
