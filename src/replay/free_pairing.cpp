// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which alloc does a free belong to: one walk forward over a trace, a hash probe an event.
#include "replay/free_pairing.hpp"

namespace memreplay {
namespace {

constexpr unsigned bit_of(address_state::state state) { return 1U << state; }

// Sets of states, a bit each.
constexpr unsigned open_states = bit_of(address_state::live) | bit_of(address_state::pending);
constexpr unsigned not_open_states = bit_of(address_state::unseen) |
                                     bit_of(address_state::carried_pending) |
                                     bit_of(address_state::closed);

std::uint64_t word_of(std::uint64_t row, std::uint64_t flags, address_state::state state) {
  return row << address_state::row_shift | flags | state;
}

}  // namespace

void free_pairing::add_end_block(std::uint64_t address) {
  flat_map::entry& entry = addresses_.find(address);
  if (entry.value != 0) return;
  addresses_.fill(entry, address, address_state::at_end_flag | address_state::closed);
}

void free_pairing::run(std::span<std::uint64_t> tags) {
  constexpr std::uint64_t ahead = 12;
  for (std::uint64_t row = 0; row < trace_.count; ++row) {
    if (row + ahead < trace_.count && trace_.what[row + ahead] <= action::free_completed) {
      addresses_.prefetch(trace_.address[row + ahead]);
    }
    action const what = trace_.what[row];
    if (what > action::free_completed) continue;
    flat_map::entry& entry = addresses_.find(trace_.address[row]);
    address_state const before{entry.value};
    bool const is_alloc = what == action::alloc;
    // Nobody can foresee what comes next in a trace, so the usual cases share one straight way.
    if (((is_alloc ? not_open_states : open_states) >> before.now() & 1) == 0) [[unlikely]] {
      pair_unusual(row, entry, tags);
      continue;
    }
    std::uint64_t const flags = entry.value & address_state::flags_mask;
    bool const ends = what == action::free_completed || !has_completions_;
    std::uint64_t const falls = before.now() == address_state::live ? free_tag::falls_bit : 0;
    std::uint64_t const freed = ends ? word_of(0, flags, address_state::closed)
                                     : word_of(before.row(), flags, address_state::pending);
    std::uint64_t const born =
        word_of(row, flags | address_state::allocated_flag, address_state::live);
    tags[row] = is_alloc ? 0 : falls | before.row();
    set(entry, trace_.address[row], is_alloc ? born : freed);
  }
  // A trace recorded without requests: the completion is the free.
  if (has_completions_ && !has_requests_ && releases_own_block(tags)) {
    for (carried_block& one : carried) {
      one.falls = true;
      tags[one.row] |= free_tag::falls_bit;
    }
  }
}

// An alloc at an open address, or a free of one that is not.
void free_pairing::pair_unusual(std::uint64_t row, flat_map::entry& entry,
                                std::span<std::uint64_t> tags) {
  address_state const before{entry.value};
  std::uint64_t const flags = entry.value & address_state::flags_mask;
  if (trace_.what[row] == action::alloc) {
    closes.push_back({row, before.row(), before.now() == address_state::live});
    entry.value = word_of(row, flags | address_state::allocated_flag, address_state::live);
    return;
  }
  bool const is_request = trace_.what[row] == action::free_requested;
  bool const ends = !is_request || !has_completions_;
  std::uint64_t next = entry.value;
  if (before.now() == address_state::carried_pending) {
    tags[row] = before.row();
  } else {
    tags[row] = free_tag::unmatched_bit | (is_request ? free_tag::falls_bit : 0);
    carried.push_back({row, 0, 0, is_request});
    next = word_of(row, flags | address_state::freed_older_flag, address_state::carried_pending);
  }
  set(entry, trace_.address[row],
      ends ? word_of(0, next & address_state::flags_mask, address_state::closed) : next);
}

// An address that was used once will be used again: its entry stays.
void free_pairing::set(flat_map::entry& entry, std::uint64_t address, std::uint64_t value) {
  if (entry.value == 0) [[unlikely]] {
    addresses_.fill(entry, address, value);
  } else {
    entry.value = value;
  }
}

bool free_pairing::releases_own_block(std::span<std::uint64_t const> tags) const {
  for (std::uint64_t row = 0; row < trace_.count; ++row) {
    bool const is_matched = (tags[row] & free_tag::unmatched_bit) == 0;
    if (trace_.what[row] == action::free_completed && is_matched) return true;
  }
  return false;
}

}  // namespace memreplay
