// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What stands on a pickle's stack: numbers by value, texts and containers by what the listener made
// of them.
#pragma once

#include <cstdint>

namespace memreplay::pickle {

enum class value_kind : std::uint8_t {
  none,
  boolean,           ///< bits: 0 or 1
  integer,           ///< bits: std::int64_t
  unsigned_integer,  ///< bits: std::uint64_t >= 2^63
  huge_integer,      ///< beyond 64 bits; the value is not kept
  real,              ///< bits: double
  text,              ///< bits: the listener's handle; equal texts have equal ones
  list,              ///< bits: the listener's payload, 0 = empty
  dict,              ///< bits: the listener's payload, 0 = empty
  tuple,             ///< bits: the listener's payload, 0 = empty
};

/// One value. Containers are never held as trees: `bits` is the number that the `sink` returned for
/// them.
struct value {
  std::uint64_t bits = 0;
  std::uint32_t memo = no_memo;  ///< slot to keep up to date while the container grows
  value_kind kind = value_kind::none;
  bool shared = false;   ///< fetched from the memo: it must not grow any more
  bool pending = false;  ///< its items wait on the machine's side stack; `bits` is where they start
  std::uint8_t padding = 0;  ///< named, so that a value is copied as two whole words

  static constexpr std::uint32_t no_memo = 0xffff'ffff;
};

/// Handles of texts and payloads of containers must fit into this many bits.
inline constexpr int payload_bits = 56;

}  // namespace memreplay::pickle
