// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A number of bytes together with how well it is known, as text.
#pragma once

#include <string>

#include <memreplay/replay.hpp>

namespace memreplay::writers {

/// `11.506 GiB` when exact, else `11.49-11.52 GiB (block sizes estimated)`.
[[nodiscard]] std::string exactness_text(exactness const& value);

}  // namespace memreplay::writers
