// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Remembers lists that consist of memo gets only, by their raw bytes: nearly every stack of a trace
// is such a list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <memreplay/column.hpp>

namespace memreplay::pickle {

/// Raw bytes of a run of BINGET / LONG_BINGET -> payload of the list. Equal bytes mean equal
/// members for as long as no memo slot changes its value; the machine calls `clear` when one does.
/// Open addressing; the bytes are kept, so a hash collision cannot confuse two lists. Stops
/// learning at 64 MiB of bytes.
class gets_cache {
 public:
  [[nodiscard]] std::optional<std::uint64_t> find(std::span<std::uint8_t const> run,
                                                  std::uint64_t hash) const;
  void add(std::span<std::uint8_t const> run, std::uint64_t hash, std::uint64_t payload);
  void clear();

  [[nodiscard]] static std::uint64_t hash(std::span<std::uint8_t const> run) noexcept;

 private:
  struct entry {
    std::uint64_t hash;
    std::uint64_t payload;
    std::uint64_t first;   ///< start of the run in `bytes_`
    std::uint64_t length;  ///< 0 = free
  };

  void grow();

  column<entry> table_;
  column<std::uint8_t> bytes_;
  std::size_t used_ = 0;
};

}  // namespace memreplay::pickle
