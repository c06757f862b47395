// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a finished container of the file turned out to be: the listener's payload, a kind and a row.
#pragma once

#include <cstdint>

#include "pickle/value.hpp"

namespace memreplay::reading {

enum class node_kind : std::uint8_t {
  empty,  ///< {} [] (): could be anything
  event,
  frame,
  block,
  segment,
  annotation,
  history_entry,
  pool,   // rows
  stack,  // list of frames
  event_list,
  block_list,
  segment_list,
  annotation_list,  // lists of rows: a row of `row_lists`
  history,          // list of history entries: its newest one
  trace_list,       // list of event lists
  loose,            // anything small, kept as JSON
  root,             // the snapshot's dictionary
  ignored,          // not needed, or cut
};

struct node {
  node_kind kind = node_kind::empty;
  std::uint64_t row = 0;
};

inline constexpr int row_bits = 48;

[[nodiscard]] constexpr std::uint64_t to_payload(node_kind kind, std::uint64_t row) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << row_bits | row;
}

/// The node of a container value; scalars have none and give `ignored`.
[[nodiscard]] constexpr node to_node(pickle::value const& item) noexcept {
  switch (item.kind) {
    case pickle::value_kind::list:
    case pickle::value_kind::dict:
    case pickle::value_kind::tuple:
      return {static_cast<node_kind>(item.bits >> row_bits),
              item.bits & ((std::uint64_t{1} << row_bits) - 1)};
    default: return {node_kind::ignored, 0};
  }
}

}  // namespace memreplay::reading
