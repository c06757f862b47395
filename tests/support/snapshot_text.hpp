// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A snapshot as text, with names instead of ids: two readings are equal when their texts are.
#pragma once

#include <string>

#include <memreplay/snapshot.hpp>

namespace memreplay::testing {

/// Everything that does not depend on the encoding: events, segments, blocks, annotations,
/// settings, streams, pools, and the kinds and counts of the audit.
[[nodiscard]] std::string snapshot_text(snapshot const& input);

/// `function@file:line <- ...`, innermost first; "-" for no stack.
[[nodiscard]] std::string stack_text(snapshot const& input, stack_id stack);

}  // namespace memreplay::testing
