// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Runs of memo gets: four fifths of a snapshot's bytes.
#pragma once

#include <cstdint>

namespace memreplay::pickle {

/// First byte from `next` on that starts no complete BINGET or LONG_BINGET before `last`.
[[nodiscard]] std::uint8_t const* end_of_gets(std::uint8_t const* next,
                                              std::uint8_t const* last) noexcept;

}  // namespace memreplay::pickle
