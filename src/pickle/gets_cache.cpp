// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The hash table of get runs.
#include "pickle/gets_cache.hpp"

#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace memreplay::pickle {
namespace {

constexpr std::size_t byte_limit = std::size_t{64} << 20;

}  // namespace

std::uint64_t gets_cache::hash(std::span<std::uint8_t const> run) noexcept {
  return XXH3_64bits(run.data(), run.size());
}

std::optional<std::uint64_t> gets_cache::find(std::span<std::uint8_t const> run,
                                              std::uint64_t hash) const {
  if (table_.empty()) return std::nullopt;
  std::size_t const mask = table_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    entry const& candidate = table_[slot];
    if (candidate.length == 0) return std::nullopt;
    if (candidate.hash == hash && candidate.length == run.size() &&
        std::memcmp(bytes_.data() + candidate.first, run.data(), run.size()) == 0) {
      return candidate.payload;
    }
  }
}

void gets_cache::add(std::span<std::uint8_t const> run, std::uint64_t hash, std::uint64_t payload) {
  if (bytes_.size() + run.size() > byte_limit) return;
  if ((used_ + 1) * 2 > table_.size()) grow();
  std::size_t const mask = table_.size() - 1;
  std::size_t slot = hash & mask;
  while (table_[slot].length != 0) slot = (slot + 1) & mask;
  table_[slot] = {hash, payload, bytes_.size(), run.size()};
  bytes_.append(run);
  ++used_;
}

void gets_cache::clear() {
  if (used_ == 0) return;
  table_.clear();
  bytes_.clear();
  used_ = 0;
}

void gets_cache::grow() {
  column<entry> const old = std::exchange(table_, {});
  table_.resize(old.size() == 0 ? 64 : old.size() * 2, entry{});
  std::size_t const mask = table_.size() - 1;
  for (entry const& moved : old) {
    if (moved.length == 0) continue;
    std::size_t slot = moved.hash & mask;
    while (table_[slot].length != 0) slot = (slot + 1) & mask;
    table_[slot] = moved;
  }
}

}  // namespace memreplay::pickle
