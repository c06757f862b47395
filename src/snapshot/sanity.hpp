// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Whole-column checks after reading: what is odd about this file, as audit rows.
#pragma once

#include <memreplay/snapshot.hpp>

#include "snapshot/row_sink.hpp"

namespace memreplay::reading {

/// Fills `input.defects`. Throws `error` (refused) when the sizes are so large that sums could
/// wrap.
void check_sanity(snapshot& input, oddities const& odd);

}  // namespace memreplay::reading
