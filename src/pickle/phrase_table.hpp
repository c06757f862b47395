// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Numbers for byte sequences that come again and again: nearly every stack of a trace is spelled as
// one of a few hundred runs of memo gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <memreplay/column.hpp>

namespace memreplay::pickle {

/// The opcodes of one value, as they stand in the file.
using phrase = std::span<std::uint8_t const>;

/// Phrase -> dense number, in order of first appearance. The bytes are kept (they never move), so a
/// hash collision cannot confuse two phrases. Stops learning at 64 MiB of bytes.
class phrase_table {
 public:
  static constexpr std::uint32_t absent = 0xffff'ffff;

  /// The number of `bytes`, a new one if they were never seen; `absent` when the table is full.
  [[nodiscard]] std::uint32_t intern(phrase bytes) { return intern(bytes, hash(bytes)); }
  [[nodiscard]] std::uint32_t intern(phrase bytes, std::uint64_t hash);
  [[nodiscard]] std::size_t size() const noexcept { return phrases_.size(); }
  [[nodiscard]] phrase operator[](std::uint32_t number) const noexcept { return phrases_[number]; }

  [[nodiscard]] static std::uint64_t hash(phrase bytes) noexcept;

 private:
  struct entry {
    std::uint64_t hash = 0;
    std::uint32_t number = absent;
  };

  [[nodiscard]] std::uint8_t const* keep(phrase bytes);
  void grow();

  column<entry> table_;
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::size_t block_left_ = 0;
  std::uint8_t* block_next_ = nullptr;
  std::size_t kept_bytes_ = 0;
  column<phrase> phrases_;
};

}  // namespace memreplay::pickle
