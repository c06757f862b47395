// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Spellings of the keys.
#include "snapshot/keys.hpp"

#include <array>
#include <unordered_map>

namespace memreplay::reading {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(key::unknown)> spellings = {
    "action",
    "addr",
    "device_free",
    "size",
    "stream",
    "frames",
    "time_us",
    "compile_context",
    "user_metadata",
    "pool_id",
    "cpp_frames",
    "forward_frames",
    "internal_metadata",
    "category",
    "name",
    "filename",
    "line",
    "stage",
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "requested_size",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "state",
    "history",
    "real_size",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "trace_alloc_overflowed",
    "trace_alloc_max_entries"};

}  // namespace

key find_key(std::string_view text) noexcept {
  static std::unordered_map<std::string_view, key> const known = [] {
    std::unordered_map<std::string_view, key> map;
    for (std::size_t row = 0; row < spellings.size(); ++row)
      map.emplace(spellings[row], static_cast<key>(row));
    return map;
  }();
  if (text.size() > 32) return key::unknown;  // not worth a hash
  auto const found = known.find(text);
  return found == known.end() ? key::unknown : found->second;
}

}  // namespace memreplay::reading
