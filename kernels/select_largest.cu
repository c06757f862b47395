// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `select_largest`: the lifetimes that fill the greatest area below a curve, bytes times
// events.
//
//   event          -1   0   1   2   3   4        limit 2
//   lifetime A   4 ---------|                    lives for 3 places (-1, 0, 1): 12
//   lifetime B          8 ----------|            for 3 (0, 1, 2): 24
//   lifetime C              2 ---------------    for 4 (1 to the end): 8
//   chosen: B, then A
//
// Few are wanted out of millions, so not all are sorted: a bisection over powers of two finds the
// greatest power that enough areas reach, and only what reaches it goes into the sort.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <algorithm>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

struct area_of_lifetime {
  event_index const* birth;
  event_index const* end;
  std::uint64_t const* size;
  std::int64_t events;
  event_index earliest_birth;  ///< 0 leaves out what was carried in

  /// At most 2^64 - 1; 0 when the curve never counts it.
  [[nodiscard]] MEMREPLAY_HD std::uint64_t operator()(std::int64_t lifetime) const {
    event_index const from = birth[lifetime];
    event_index const to = end[lifetime] < events ? end[lifetime] : events;
    if (from < earliest_birth || to <= from) return 0;
    auto const places = static_cast<std::uint64_t>(to - from);
    std::uint64_t const bytes = size[lifetime];
    return bytes > UINT64_MAX / places ? UINT64_MAX : bytes * places;
  }
};

struct write_area {
  area_of_lifetime area;
  std::uint64_t* areas;
  MEMREPLAY_HD void operator()(std::int64_t lifetime) const { areas[lifetime] = area(lifetime); }
};

struct reaches {
  std::uint64_t const* areas;
  std::uint64_t least;
  MEMREPLAY_HD bool operator()(std::int64_t lifetime) const { return areas[lifetime] >= least; }
};

/// The greatest power of two that at least `limit` areas reach; 1 when not even so many are there.
[[nodiscard]] std::uint64_t find_least_area(execution const& exec,
                                            buffer<std::uint64_t> const& areas,
                                            std::int64_t limit) {
  int reached = 0;
  int missed = 64;
  while (missed - reached > 1) {
    int const middle = (reached + missed) / 2;
    reaches const is_large{areas.data(), std::uint64_t{1} << middle};
    (count_rows(exec, areas.count(), is_large) >= limit ? reached : missed) = middle;
  }
  return std::uint64_t{1} << reached;
}

/// Rows become the order's last key, births its middle one.
struct write_birth_keys {
  event_index const* birth;
  std::int64_t const* rows;
  std::uint64_t* key;
  std::uint64_t* lifetime;
  MEMREPLAY_HD void operator()(std::int64_t row) const {
    key[row] = static_cast<std::uint64_t>(birth[rows[row]] + 1);
    lifetime[row] = static_cast<std::uint64_t>(rows[row]);
  }
};

struct write_area_keys {
  std::uint64_t const* areas;
  std::uint64_t const* lifetime;
  std::uint64_t* key;
  MEMREPLAY_HD void operator()(std::int64_t row) const { key[row] = ~areas[lifetime[row]]; }
};

struct write_rows {
  std::uint64_t const* lifetime;
  std::int64_t* rows;
  MEMREPLAY_HD void operator()(std::int64_t row) const {
    rows[row] = static_cast<std::int64_t>(lifetime[row]);
  }
};

/// The rows by area descending, then birth, then row; both sorts keep the order of equal keys.
void sort_by_area(execution const& exec, lifetime_rows const& born,
                  buffer<std::uint64_t> const& areas, buffer<std::int64_t>& rows) {
  std::int64_t const count = rows.count();
  buffer<std::uint64_t> keys(exec, count);
  buffer<std::uint64_t> order(exec, count);
  for_each_row(exec, count, write_birth_keys{born.birth, rows.data(), keys.data(), order.data()});
  sort_pairs(exec, keys, order);
  for_each_row(exec, count, write_area_keys{areas.data(), order.data(), keys.data()});
  sort_pairs(exec, keys, order);
  for_each_row(exec, count, write_rows{order.data(), rows.data()});
}

}  // namespace

std::vector<large_lifetime> select_largest(execution const& exec, lifetime_rows const& born,
                                           std::int64_t events, measure which, carried_in older,
                                           std::int64_t limit) {
  if (which == measure::reserved || limit <= 0) return {};
  event_index const* const ends =
      which == measure::allocated ? born.allocated_end : born.active_end;
  event_index const earliest = older == carried_in::include ? before_trace : 0;
  buffer<std::uint64_t> areas(exec, born.count);
  for_each_row(exec, born.count,
               write_area{{born.birth, ends, born.size, events, earliest}, areas.data()});
  reaches const is_large{areas.data(), find_least_area(exec, areas, limit)};
  auto rows = selected_rows(exec, born.count, is_large);
  sort_by_area(exec, born, areas, rows);
  rows.keep_first(std::min(limit, rows.count()));

  auto const birth = download_rows(exec, born.birth, rows);
  auto const end = download_rows(exec, ends, rows);
  auto const size = download_rows(exec, born.size, rows);
  auto const stack = download_rows(exec, born.stack, rows);
  std::vector<large_lifetime> largest;
  largest.reserve(birth.size());
  for (std::size_t row = 0; row < birth.size(); ++row) {
    largest.push_back({birth[row], end[row], static_cast<std::int64_t>(size[row]), stack[row]});
  }
  return largest;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
