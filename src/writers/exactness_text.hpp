// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A number of bytes together with how well it is known, as text.
#pragma once

#include <string>

#include <memreplay/replay.hpp>

namespace memreplay::writers {

/// `11.506 GiB` when exact, else `11.49-11.52 GiB (block sizes estimated)`.
[[nodiscard]] std::string exactness_text(exactness const& value);

/// What follows that text so that it can be compared with a log: ` (1,948,676,096 bytes)`, or
/// nothing when the value is not exact or has all its digits already.
[[nodiscard]] std::string exact_digits_text(exactness const& value);

}  // namespace memreplay::writers
