// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds the allocator's block sizes of a trace, which records requested bytes only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <memreplay/audit.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>

#include "base/huge_pages.hpp"

namespace memreplay {

using size_column = std::vector<std::uint64_t, huge_page_allocator<std::uint64_t>>;

/// `torch.cuda.memory_allocated` counts block sizes. A block is the request rounded up (format,
/// section 2.6); in a large pool it is bigger still when the free block it was cut from left too
/// small a remainder, and such splits are not recorded. So sizes are exact only where the file
/// allows it.
struct block_sizes {
  /// One per event row of the device's trace (row 0 = the trace's first event): block bytes of the
  /// lifetime which this alloc, or this unmatched free, stands for; a matched free has its alloc's
  /// size; a segment event its recorded bytes; other rows 0. The exact value, or the least possible
  /// one where it is not known. An unmatched free is the first free (requested or completed) of an
  /// address that is not open; a completion after an unmatched request repeats the request's size.
  size_column size;
  /// Maximum of `torch.cuda.memory_allocated` over the trace's window, the value before event 0 and
  /// the carried-in memory included.
  exactness peak_allocated;
  bool exact = false;  ///< every entry of `size` is exact
  std::string reason;  ///< how the sizes are known, one short phrase
  audit defects;       ///< e.g. the replayed end state differs from `segments`
};

/// For a device without a trace `size` is empty and the peak is the end state's. Any input is
/// accepted: values that no allocator writes cost exactness, never a crash. Time and memory are
/// linear in events and blocks.
[[nodiscard]] block_sizes find_block_sizes(snapshot const& input, std::int32_t device);

}  // namespace memreplay
