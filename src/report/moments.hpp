// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which event a question about a moment means.
#pragma once

#include <cstdint>

#include <memreplay/questions.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reporting {

/// The event after which the moment is; `before_trace` for the end of an empty trace, and for a
/// peak, which only the replay can find. Throws `error` (bad_request) with what the trace has
/// instead: a moment outside of it, a time in a file without times.
[[nodiscard]] event_index find_moment(snapshot const& input, std::int32_t device,
                                      moment_request const& asked);

}  // namespace memreplay::reporting
