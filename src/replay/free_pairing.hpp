// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which alloc does a free belong to: one walk forward over a trace, a hash probe an event.
//
// The steps of `kernels` pair too, by sorting, and know more of each lifetime; this walk gives what
// the search for block sizes needs of every *event*, so that it may run beside those steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memreplay/snapshot.hpp>

#include "replay/allocator_model.hpp"

namespace memreplay {

/// One device's events.
struct trace_rows {
  std::uint64_t count = 0;
  action const* what = nullptr;
  std::uint64_t const* address = nullptr;
  std::uint64_t const* bytes = nullptr;
};

/// What pairing says of a free, in one word. The rest of the word is the row of its alloc (or of
/// its unmatched request); for an unmatched free it is free for the caller.
struct free_tag {
  static constexpr std::uint64_t falls_bit = std::uint64_t{1} << 63;  ///< `allocated` falls here
  static constexpr std::uint64_t unmatched_bit = std::uint64_t{1} << 62;
  static constexpr std::uint64_t rest_mask = unmatched_bit - 1;
};

/// What pairing knows of an address after the last event, in one word.
struct address_state {
  enum state : std::uint64_t { unseen, live, pending, carried_pending, closed };
  static constexpr std::uint64_t at_end_flag = 8;        ///< `segments` has an active block here
  static constexpr std::uint64_t allocated_flag = 16;    ///< the trace allocated it at some time
  static constexpr std::uint64_t freed_older_flag = 32;  ///< the trace freed an older block here

  std::uint64_t word = 0;

  [[nodiscard]] state now() const noexcept { return static_cast<state>(word & 7); }
  [[nodiscard]] bool is_open() const noexcept { return now() == live || now() == pending; }
  [[nodiscard]] bool has(std::uint64_t flag) const noexcept { return (word & flag) != 0; }
  /// A block of `segments` that no event of the trace speaks of.
  [[nodiscard]] bool is_untouched() const noexcept {
    return now() == closed && !has(allocated_flag) && !has(freed_older_flag);
  }
  /// Row of the alloc, or of the unmatched request, that opened it.
  [[nodiscard]] std::uint64_t row() const noexcept { return word >> row_shift; }

  static constexpr int row_shift = 6;
  static constexpr std::uint64_t flags_mask = at_end_flag | allocated_flag | freed_older_flag;
};

/// A lifetime that began before the trace and is freed in it.
struct carried_block {
  std::uint64_t row = 0;   ///< of its first free
  std::uint64_t size = 0;  ///< least possible; pairing leaves it 0
  std::uint64_t high = 0;
  bool falls = false;  ///< part of `allocated` when the trace begins
};

/// An alloc at an open address ends the lifetime that was there.
struct closed_by_alloc {
  std::uint64_t row = 0;
  std::uint64_t closed_row = 0;
  bool falls = false;
};

class free_pairing {
 public:
  /// `has_requests`, `has_completions`: the trace has such events at all.
  free_pairing(trace_rows const& trace, bool has_requests, bool has_completions)
      : trace_(trace), has_requests_(has_requests), has_completions_(has_completions) {}

  /// An active block of `segments`; to be said before `run`.
  void add_end_block(std::uint64_t address);
  /// Writes the tag of every free; `tags` has a row for each event.
  void run(std::span<std::uint64_t> tags);

  [[nodiscard]] address_state at(std::uint64_t address) const noexcept {
    return {addresses_.value_of(address)};
  }
  /// All addresses: `key`, and the word of an `address_state` as `value`; 0 = no entry.
  [[nodiscard]] std::span<flat_map::entry const> addresses() const noexcept {
    return addresses_.entries();
  }

  std::vector<carried_block> carried;   ///< by row
  std::vector<closed_by_alloc> closes;  ///< by row

 private:
  void pair_unusual(std::uint64_t row, flat_map::entry& entry, std::span<std::uint64_t> tags);
  void set(flat_map::entry& entry, std::uint64_t address, std::uint64_t value);
  [[nodiscard]] bool releases_own_block(std::span<std::uint64_t const> tags) const;

  trace_rows trace_;
  bool has_requests_;
  bool has_completions_;
  flat_map addresses_;
};

}  // namespace memreplay
