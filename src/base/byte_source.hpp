// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Where bytes come from, one stretch after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace memreplay::base {

class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Fills `into` from its start; fewer bytes than asked only at the end; 0 = the end. Throws
  /// `error`.
  virtual std::size_t read(std::span<std::byte> into) = 0;
};

/// Bytes in memory, which must outlive the source.
class memory_source final : public byte_source {
 public:
  explicit memory_source(std::span<std::byte const> bytes) : left_(bytes) {}
  std::size_t read(std::span<std::byte> into) override {
    std::size_t const count = std::min(into.size(), left_.size());
    if (count > 0) std::memcpy(into.data(), left_.data(), count);
    left_ = left_.subspan(count);
    return count;
  }

 private:
  std::span<std::byte const> left_;
};

}  // namespace memreplay::base
