// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `select_live`: the lifetimes that a measure counts at a moment.
//
//   event          -1   0   1   2   3   4
//   lifetime A   -------.......|                 carried in, freed at 2
//   lifetime B          |-----------------|      born at 0, freed at 4
//   lifetime C                  |------------    born at 2, never freed
//                                   ^
//   live after event 3: birth <= 3 < end, hence B and C
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

struct is_live {
  event_index const* birth;
  event_index const* end;
  event_index event;
  event_index earliest_birth;  ///< 0 leaves out what was carried in
  MEMREPLAY_HD bool operator()(std::int64_t lifetime) const {
    event_index const born = birth[lifetime];
    return born <= event && end[lifetime] > event && born >= earliest_birth;
  }
};

struct is_birth {
  event_index const* birth;
  MEMREPLAY_HD bool operator()(std::int64_t lifetime) const {
    return birth[lifetime] != before_trace;
  }
};

struct size_if_carried_in {
  lifetime_rows born;
  std::int64_t const* rows;
  MEMREPLAY_HD std::int64_t operator()(std::int64_t row) const {
    std::int64_t const lifetime = rows[row];
    return born.birth[lifetime] == before_trace ? static_cast<std::int64_t>(born.size[lifetime])
                                                : 0;
  }
};

}  // namespace

buffer<std::int64_t> select_live(execution const& exec, lifetime_rows const& born,
                                 event_index event, measure which, carried_in older) {
  if (which == measure::reserved) return buffer<std::int64_t>(exec, 0);
  event_index const* const end = which == measure::allocated ? born.allocated_end : born.active_end;
  event_index const earliest = older == carried_in::include ? before_trace : 0;
  return selected_rows(exec, born.count, is_live{born.birth, end, event, earliest});
}

buffer<std::int64_t> select_births(execution const& exec, lifetime_rows const& born) {
  return selected_rows(exec, born.count, is_birth{born.birth});
}

std::int64_t carried_in_bytes(execution const& exec, lifetime_rows const& born,
                              buffer<std::int64_t> const& rows) {
  return reduce_rows(exec, rows.count(), size_if_carried_in{born, rows.data()}, std::int64_t{0},
                     add_bytes{});
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
