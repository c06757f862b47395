// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What lay where after an event: the file's segments with everything undone that came later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>

#include "kernels/kernel_api.hpp"
#include "replay/block_sizes.hpp"

namespace memreplay {

/// One map for each of `moments`, in their order. `sizes` are those of the device's trace. Any
/// input is accepted: what no allocator would do costs exactness, never a crash. Time is that of
/// one walk over the trace, and of sorting segments and live blocks.
[[nodiscard]] std::vector<address_map> make_address_maps(
    snapshot const& input, std::int32_t device, std::span<kernels::live_lifetimes const> moments,
    block_sizes const& sizes);

/// The same for one moment.
[[nodiscard]] address_map make_address_map(snapshot const& input, std::int32_t device,
                                           kernels::live_lifetimes const& live,
                                           block_sizes const& sizes);

}  // namespace memreplay
