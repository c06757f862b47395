// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Ways through an address map that may come from a damaged file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <memreplay/replay.hpp>

namespace memreplay::reporting {

/// The segment's blocks, as far as the map has them.
[[nodiscard]] inline std::span<block const> blocks_of(address_map const& map,
                                                      segment const& owner) noexcept {
  std::span<block const> const all(map.blocks);
  if (owner.first_block < 0 || owner.block_count <= 0) return {};
  auto const first = static_cast<std::size_t>(owner.first_block);
  if (first >= all.size()) return {};
  return all.subspan(first,
                     std::min(static_cast<std::size_t>(owner.block_count), all.size() - first));
}

[[nodiscard]] inline pool_id pool_of(snapshot const& input, segment const& owner) noexcept {
  std::size_t const index = to_row(owner.pool);
  return index < input.pools.size() ? input.pools[index] : pool_id{};
}

[[nodiscard]] inline std::uint64_t stream_of(snapshot const& input, stream_id stream) noexcept {
  return to_row(stream) < input.streams.size() ? input.streams[to_row(stream)] : 0;
}

}  // namespace memreplay::reporting
