// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Stacks lifetimes upon each other, in order of birth.
//
//   event          0   1   2   3   4
//   lifetime B         |-------|           8 B above A until A ends at 2, then on the ground
//   lifetime A     |-------|               4 B on the ground
//
//   vertices of B: (1, 4), (2, 0)
#include "report/lifetime_stack.hpp"

#include <algorithm>
#include <cstddef>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

/// Whether `upper`, which is born after `lower`, falls because `lower` ends.
bool falls_with(large_lifetime const& upper, large_lifetime const& lower) {
  return lower.end > upper.birth && lower.end < upper.end;
}

/// In order of birth, those born together in the order given; as many as the vertices allow.
std::vector<large_lifetime> choose(std::vector<large_lifetime> const& largest,
                                   std::int64_t most_vertices) {
  std::vector<large_lifetime> chosen;
  std::int64_t vertices = 0;
  for (large_lifetime const& next : largest) {
    if (next.bytes <= 0) continue;  // a size beyond 63 bits
    auto const place = std::upper_bound(
        chosen.begin(), chosen.end(), next,
        [](large_lifetime const& a, large_lifetime const& b) { return a.birth < b.birth; });
    ++vertices;
    vertices += std::count_if(chosen.begin(), place,
                              [&](large_lifetime const& below) { return falls_with(next, below); });
    vertices += std::count_if(place, chosen.end(),
                              [&](large_lifetime const& above) { return falls_with(above, next); });
    if (vertices > most_vertices) break;
    chosen.insert(place, next);
  }
  return chosen;
}

struct falling {
  event_index event;
  std::int64_t bytes;
};

/// The edge of one lifetime above those that were born before it.
void add_vertices(std::vector<large_lifetime> const& chosen, std::size_t row,
                  lifetime_stack& made) {
  large_lifetime const& upper = chosen[row];
  std::int64_t edge = 0;
  std::vector<falling> falls;
  for (std::size_t below = 0; below < row; ++below) {
    large_lifetime const& lower = chosen[below];
    if (lower.end <= upper.birth) continue;
    edge = add_saturated(edge, lower.bytes);
    if (falls_with(upper, lower)) falls.push_back({lower.end, lower.bytes});
  }
  std::sort(falls.begin(), falls.end(),
            [](falling const& a, falling const& b) { return a.event < b.event; });
  made.vertex_event.push_back(upper.birth);
  made.vertex_bytes.push_back(edge);
  for (falling const& fall : falls) {
    edge = subtract_saturated(edge, fall.bytes);
    if (made.vertex_event.back() == fall.event) {
      made.vertex_bytes.back() = edge;
      continue;
    }
    made.vertex_event.push_back(fall.event);
    made.vertex_bytes.push_back(edge);
  }
}

}  // namespace

lifetime_stack make_lifetime_stack(std::vector<large_lifetime> const& largest, std::int64_t events,
                                   std::int64_t most_vertices, stack_collector& stacks) {
  std::vector<large_lifetime> const chosen = choose(largest, most_vertices);
  lifetime_stack made;
  made.first_vertex.push_back(0);
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    made.birth.push_back(chosen[row].birth);
    made.end.push_back(std::min(chosen[row].end, events));
    made.bytes.push_back(chosen[row].bytes);
    made.stack.push_back(stacks.row_of(chosen[row].stack));
    add_vertices(chosen, row, made);
    made.first_vertex.push_back(static_cast<std::int64_t>(made.vertex_event.size()));
  }
  return made;
}

}  // namespace memreplay::reporting
