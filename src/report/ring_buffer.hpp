// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Whether the recorder's ring buffer has lost the beginning of a trace.
#pragma once

#include <string>

#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>

#include "report/trace_view.hpp"

namespace memreplay::reporting {

struct ring_state {
  bool is_truncated = false;
  std::string reason;  ///< how that is known; also set when the file itself denies it
};

/// What the file says (`trace_alloc_overflowed`, newer PyTorch), else inferred: a trace of exactly
/// such a length as people give to `max_entries` which frees what it did not allocate, or one whose
/// first entry is the second half of a free.
[[nodiscard]] ring_state find_ring_state(snapshot const& input, trace_view const& trace,
                                         device_replay const& replayed);

}  // namespace memreplay::reporting
