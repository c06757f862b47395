// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The hash table of phrases.
#include "pickle/phrase_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace memreplay::pickle {
namespace {

constexpr std::size_t byte_limit = std::size_t{64} << 20;
constexpr std::size_t block_bytes = std::size_t{256} << 10;

}  // namespace

std::uint64_t phrase_table::hash(phrase bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint32_t phrase_table::intern(phrase bytes, std::uint64_t hash) {
  if ((phrases_.size() + 1) * 2 > table_.size()) grow();
  std::size_t const mask = table_.size() - 1;
  std::size_t slot = hash & mask;
  for (; table_[slot].number != absent; slot = (slot + 1) & mask) {
    if (table_[slot].hash != hash) continue;
    phrase const known = phrases_[table_[slot].number];
    if (known.size() == bytes.size() && std::memcmp(known.data(), bytes.data(), known.size()) == 0)
      return table_[slot].number;
  }
  if (kept_bytes_ + bytes.size() > byte_limit) return absent;
  auto const number = static_cast<std::uint32_t>(phrases_.size());
  phrases_.push_back({keep(bytes), bytes.size()});
  table_[slot] = {hash, number};
  return number;
}

std::uint8_t const* phrase_table::keep(phrase bytes) {
  if (bytes.size() > block_left_) {
    block_left_ = std::max(block_bytes, bytes.size());
    blocks_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(block_left_));
    block_next_ = blocks_.back().get();
  }
  std::uint8_t* const kept = block_next_;
  std::memcpy(kept, bytes.data(), bytes.size());
  block_next_ += bytes.size();
  block_left_ -= bytes.size();
  kept_bytes_ += bytes.size();
  return kept;
}

void phrase_table::grow() {
  column<entry> const old = std::exchange(table_, {});
  table_.resize(std::max<std::size_t>(old.size() * 2, 64), entry{});
  std::size_t const mask = table_.size() - 1;
  for (entry const& moved : old) {
    if (moved.number == absent) continue;
    std::size_t slot = moved.hash & mask;
    while (table_[slot].number != absent) slot = (slot + 1) & mask;
    table_[slot] = moved;
  }
}

}  // namespace memreplay::pickle
