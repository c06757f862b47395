// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Sources to test with, and their content.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.hpp"

namespace memreplay::testing {

/// Bytes that come like those of a pipe: without a size, without a way back.
class stream_source final : public base::byte_source {
 public:
  explicit stream_source(std::string text)
      : text_(std::move(text)), bytes_(std::as_bytes(std::span(text_))) {}
  std::size_t read(std::span<std::byte> into) override { return bytes_.read(into); }

 private:
  std::string text_;
  base::memory_source bytes_;
};

/// `text` must outlive the source.
inline std::unique_ptr<base::byte_source> source_of(std::string_view text) {
  return std::make_unique<base::memory_source>(std::as_bytes(std::span(text)));
}
inline std::unique_ptr<base::byte_source> stream_of(std::string text) {
  return std::make_unique<stream_source>(std::move(text));
}

/// What is left, read `step` bytes at a time.
inline std::string text_of(base::byte_source& source, std::size_t step = 5000) {
  std::string text;
  std::vector<char> piece(step);
  std::size_t got = step;
  while (got == step) {
    got = source.read(std::as_writable_bytes(std::span(piece)));
    text.append(piece.data(), got);
  }
  return text;
}

}  // namespace memreplay::testing
