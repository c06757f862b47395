// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `find_peaks`: distinct local maxima of a curve, largest first, the earlier of equal ones
// first.
//
//   position   -1      0      1      2      3      4
//   bytes       4     12      8     10     10      2
//   changes            +      -      +             -
//   plateaus   [4]   [12]    [8]   [10     10]    [2]
//                     ^                     ^
//
// A plateau is a maximum when the curve rises into it (or it is the first) and falls after it (or
// it is the last); its place is its last event. Here 12 at event 0 and 10 at event 3.
//
// The chosen levels only fall, so what an earlier choice forbids by its level the latest one
// forbids too: each round is one bound, one search for the greatest, one pass that drops what is
// too near.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <limits>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

struct is_change {
  curve_rows curve;
  MEMREPLAY_HD bool operator()(std::int64_t event) const {
    return curve.value[event] != curve.at(event - 1);
  }
};

/// Plateau p lies between change p - 1 and change p.
struct plateaus {
  curve_rows curve;
  std::int64_t change_count;
  std::int64_t const* change;

  [[nodiscard]] MEMREPLAY_HD event_index last_event(std::int64_t plateau) const {
    return (plateau < change_count ? change[plateau] : curve.count) - 1;
  }
  [[nodiscard]] MEMREPLAY_HD std::int64_t level(std::int64_t plateau) const {
    return curve.at(last_event(plateau));
  }
};

struct is_maximum {
  plateaus all;
  MEMREPLAY_HD bool operator()(std::int64_t plateau) const {
    std::int64_t const level = all.level(plateau);
    if (level <= 0) return false;
    bool const rises = plateau == 0 || all.level(plateau - 1) < level;
    bool const falls = plateau == all.change_count || all.level(plateau + 1) < level;
    return rises && falls;
  }
};

/// Replaces the number of a plateau by its last event.
struct place_of_plateau {
  plateaus all;
  std::int64_t* row;
  MEMREPLAY_HD void operator()(std::int64_t number) const {
    row[number] = all.last_event(row[number]);
  }
};

struct candidate {
  std::int64_t level;
  event_index event;
};

struct read_candidate {
  curve_rows curve;
  event_index const* place;
  MEMREPLAY_HD candidate operator()(std::int64_t row) const {
    return {curve.at(place[row]), place[row]};
  }
};

struct larger_then_earlier {
  MEMREPLAY_HD candidate operator()(candidate left, candidate right) const {
    if (left.level != right.level) return left.level > right.level ? left : right;
    return left.event <= right.event ? left : right;
  }
};

/// Whether a place stays a candidate after `chosen` was chosen.
struct is_apart {
  curve_rows curve;
  event_index chosen;
  std::int64_t highest_level;   ///< greater ones are too like the chosen
  std::int64_t const* time_us;  ///< null: no rule about time
  std::uint64_t min_separation_us;

  [[nodiscard]] MEMREPLAY_HD std::int64_t time_of(event_index place) const {
    return time_us[place < 0 ? 0 : place];
  }
  MEMREPLAY_HD bool operator()(event_index place) const {
    if (place == chosen || curve.at(place) > highest_level) return false;
    if (time_us == nullptr) return true;
    std::int64_t const here = time_of(place);
    std::int64_t const there = time_of(chosen);
    std::uint64_t const apart =
        here < there ? static_cast<std::uint64_t>(there) - static_cast<std::uint64_t>(here)
                     : static_cast<std::uint64_t>(here) - static_cast<std::uint64_t>(there);
    return apart >= min_separation_us;
  }
};

/// The highest candidate level c with (level - c) * 1e6 > level * dedup_ppm; `level` > 0.
[[nodiscard]] std::int64_t highest_distinct_level(std::int64_t level, std::int64_t dedup_ppm) {
  constexpr std::int64_t million = 1'000'000;
  if (dedup_ppm < 0) return std::numeric_limits<std::int64_t>::max();
  if (dedup_ppm >= million) return 0;
  // c * 1e6 < level * kept, in parts that do not overflow.
  std::int64_t const kept = million - dedup_ppm;
  std::int64_t const whole = level / million * kept;
  std::int64_t const part = level % million * kept;
  return whole + (part + million - 1) / million - 1;
}

[[nodiscard]] buffer<std::int64_t> find_candidates(execution const& exec, curve_rows const& bytes) {
  auto const changes = selected_rows(exec, bytes.count, is_change{bytes});
  plateaus const all{bytes, changes.count(), changes.data()};
  auto places = selected_rows(exec, changes.count() + 1, is_maximum{all});
  for_each_row(exec, places.count(), place_of_plateau{all, places.data()});
  return places;
}

}  // namespace

std::vector<peak> find_peaks(execution const& exec, curve_rows const& bytes,
                             std::int64_t const* time_us, replay_plan const& plan) {
  std::vector<peak> peaks;
  if (plan.peak_count <= 0) return peaks;
  bool const has_time_rule = time_us != nullptr && bytes.count > 0 && plan.min_separation_us > 0;

  auto places = find_candidates(exec, bytes);
  while (places.count() > 0 && static_cast<std::int64_t>(peaks.size()) < plan.peak_count) {
    candidate const none{0, never};
    candidate const best = reduce_rows(exec, places.count(), read_candidate{bytes, places.data()},
                                       none, larger_then_earlier{});
    peak chosen;
    chosen.event = best.event;
    chosen.bytes = best.level;
    peaks.push_back(chosen);
    is_apart const apart{bytes, best.event, highest_distinct_level(best.level, plan.dedup_ppm),
                         has_time_rule ? time_us : nullptr,
                         static_cast<std::uint64_t>(has_time_rule ? plan.min_separation_us : 0)};
    places = selected_values(exec, places, apart);
  }
  return peaks;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
