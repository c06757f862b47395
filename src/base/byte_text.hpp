// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The one place that turns a number of bytes into text.
#pragma once

#include <cstdint>
#include <string>

namespace memreplay::base {

/// `512 B`, `1.50 KiB`, `779.21 MiB`, `11.506 GiB`: binary units, the largest of which at least one
/// is full. A value other than 0 never prints as 0; negative values carry a minus sign.
[[nodiscard]] std::string byte_text(std::int64_t bytes);

/// A change: `+9.500 GiB`, `-3.20 MiB`, and `0 B` without a sign.
[[nodiscard]] std::string signed_byte_text(std::int64_t bytes);

/// `11.49-11.52 GiB`: one unit when both ends share it, and enough digits to tell the ends apart
/// (at most those of a byte). Equal ends print as one value. Expects low <= high.
[[nodiscard]] std::string byte_range_text(std::int64_t low, std::int64_t high);

}  // namespace memreplay::base
