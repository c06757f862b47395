// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `follow_live`: the live sets of many moments in one pass, as changes from each to the
// next.
//
//   event          0   1   2   3   4   5
//   moments            ^       ^       ^          after events 1, 3 and 5
//   lifetime A     |---------------|              7 B, live at moments 0 and 1
//   lifetime B             |----------------      2 B, live at moments 1 and 2
//   lifetime C         |   |                      live at none
//
//   A comes at moment 0 and has gone at moment 2: (0, +7), (2, -7)
//   B comes at moment 1 and stays:                (1, +2)
//   sorted by (moment, stack, carried in) and joined, these are the changes
//
// Most lifetimes begin and end between two moments, so the changes are few.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <cstdint>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

struct moment_rows {
  std::int64_t count;
  event_index const* event;  ///< ascending, none twice

  /// The first moment at or after `position`; `count` when there is none.
  [[nodiscard]] MEMREPLAY_HD std::int64_t first_from(event_index position) const {
    std::int64_t first = 0;
    std::int64_t end = count;
    while (first < end) {
      std::int64_t const middle = first + (end - first) / 2;
      if (event[middle] < position) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  }
};

struct is_seen {
  moment_rows moments;
  event_index const* birth;
  event_index const* end;
  event_index earliest_birth;  ///< 0 leaves out what was carried in
  MEMREPLAY_HD bool operator()(std::int64_t lifetime) const {
    if (birth[lifetime] < earliest_birth) return false;
    std::int64_t const comes = moments.first_from(birth[lifetime]);
    return comes < moments.count && moments.event[comes] < end[lifetime];
  }
};

/// Sorts behind all other keys: the lifetime outlasts the last moment.
constexpr std::uint64_t stays = ~std::uint64_t{0};
constexpr int moment_shift = 33;

/// Two entries a lifetime: it comes (even rows) and it goes (odd rows).
struct write_entries {
  moment_rows moments;
  lifetime_rows born;
  event_index const* end;
  std::int64_t const* lifetimes;
  std::uint64_t* key;
  std::uint64_t* entry;
  MEMREPLAY_HD void operator()(std::int64_t row) const {
    std::int64_t const lifetime = lifetimes[row];
    std::uint64_t const who = static_cast<std::uint64_t>(born.stack[lifetime]) << 1 |
                              (born.birth[lifetime] == before_trace ? 1 : 0);
    auto const comes = static_cast<std::uint64_t>(moments.first_from(born.birth[lifetime]));
    auto const goes = static_cast<std::uint64_t>(moments.first_from(end[lifetime]));
    bool const is_gone = goes < static_cast<std::uint64_t>(moments.count);
    auto const number = static_cast<std::uint64_t>(row) << 1;
    key[2 * row] = comes << moment_shift | who;
    key[2 * row + 1] = is_gone ? goes << moment_shift | who : stays;
    entry[2 * row] = number;
    entry[2 * row + 1] = number | 1;
  }
};

struct change {
  std::int64_t bytes;
  std::int64_t count;
};

struct change_of_entry {
  std::uint64_t const* size;
  std::int64_t const* lifetimes;
  std::uint64_t const* entry;
  MEMREPLAY_HD change operator()(std::int64_t row) const {
    auto const bytes = size[lifetimes[entry[row] >> 1]];
    bool const goes = (entry[row] & 1) != 0;
    return {static_cast<std::int64_t>(goes ? 0 - bytes : bytes), goes ? -1 : 1};
  }
};

struct add_changes {
  MEMREPLAY_HD change operator()(change left, change right) const {
    return {add_bytes{}(left.bytes, right.bytes), left.count + right.count};
  }
};

}  // namespace

std::vector<live_change> follow_live(execution const& exec, lifetime_rows const& born,
                                     std::vector<event_index> const& moments, measure which,
                                     carried_in older) {
  if (which == measure::reserved || moments.empty()) return {};
  event_index const* const end = which == measure::allocated ? born.allocated_end : born.active_end;
  auto const moment_count = static_cast<std::int64_t>(moments.size());
  input_column<event_index> const events(exec, moments.data(), moment_count);
  moment_rows const at{moment_count, events.data()};
  event_index const earliest = older == carried_in::include ? before_trace : 0;

  auto const seen = selected_rows(exec, born.count, is_seen{at, born.birth, end, earliest});
  std::int64_t const count = 2 * seen.count();
  buffer<std::uint64_t> keys(exec, count);
  buffer<std::uint64_t> entries(exec, count);
  for_each_row(exec, seen.count(),
               write_entries{at, born, end, seen.data(), keys.data(), entries.data()});
  sort_pairs(exec, keys, entries);
  buffer<std::uint64_t> run_keys(exec, count);
  buffer<change> run_changes(exec, count);
  std::int64_t const runs =
      reduce_runs(exec, keys.data(), count, change_of_entry{born.size, seen.data(), entries.data()},
                  add_changes{}, run_keys.data(), run_changes.data());

  auto const key = download(exec, run_keys.data(), runs);
  auto const joined = download(exec, run_changes.data(), runs);
  std::vector<live_change> changes;
  for (std::size_t run = 0; run < key.size(); ++run) {
    if (key[run] == stays || (joined[run].bytes == 0 && joined[run].count == 0)) continue;
    changes.push_back({static_cast<std::int64_t>(key[run] >> moment_shift),
                       static_cast<stack_id>(key[run] >> 1 & 0xffff'ffffU), (key[run] & 1) != 0,
                       joined[run].bytes, joined[run].count});
  }
  return changes;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
