// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A source whose first bytes can be looked at before they are read, and that knows how far it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_source.hpp"

namespace memreplay::input {

/// What a file or a wrapper holds shows within so many bytes.
inline constexpr std::size_t peeked_bytes = 4096;

class peeked_source final : public base::byte_source {
 public:
  /// Reads the first `peeked_bytes` of `inner`.
  explicit peeked_source(std::unique_ptr<base::byte_source> inner);

  /// The first bytes; all there are when fewer than `peeked_bytes`.
  [[nodiscard]] std::span<std::byte const> start() const noexcept { return start_; }
  /// Bytes from the start to where the next read begins. Any thread may ask at any time.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  std::size_t read(std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return inner_->size(); }
  [[nodiscard]] bool seek(std::uint64_t offset) override;

 private:
  std::unique_ptr<base::byte_source> inner_;
  std::vector<std::byte> start_;
  std::atomic<std::uint64_t> position_ = 0;
};

}  // namespace memreplay::input
