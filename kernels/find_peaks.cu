// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `find_peaks`: distinct local maxima of a curve, largest first, the earlier of equal ones
// first.
//
//   position   -1      0      1      2      3      4
//   bytes       4     12      8     10     10      2
//   plateaus   [4]   [12]    [8]   [10     10]    [2]
//                     ^                     ^
//
// A plateau is a maximum when the curve rises into it (or it is the first) and falls after it (or
// it is the last); its place is its last event. Here 12 at event 0 and 10 at event 3.
//
// The chosen levels only fall, so what an earlier choice forbids by its level the latest one
// forbids too: each round is one search for the greatest below a bound. Where peaks must lie apart
// in time, one more pass drops what is too near.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <limits>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

/// Rows are places, one behind: row 0 is the place before event 0.
struct place_of_row {
  MEMREPLAY_HD event_index operator()(std::int64_t row) const { return row - 1; }
};

/// Only the last event of a plateau looks back over it, so all rows together read each value a few
/// times at most, however long the plateaus are.
struct is_maximum {
  curve_rows curve;
  MEMREPLAY_HD bool operator()(std::int64_t row) const {
    event_index const place = place_of_row{}(row);
    std::int64_t const level = curve.at(place);
    bool const falls = place + 1 == curve.count || curve.value[place + 1] < level;
    if (!falls || level <= 0) return false;
    event_index before = place - 1;
    while (before >= before_trace && curve.at(before) == level) --before;
    return before < before_trace || curve.at(before) < level;
  }
};

struct candidate {
  std::int64_t level;
  event_index event;
};

struct candidate_of_row {
  curve_rows curve;
  MEMREPLAY_HD candidate operator()(std::int64_t row) const {
    event_index const place = place_of_row{}(row);
    return {curve.at(place), place};
  }
};

struct larger_then_earlier {
  [[nodiscard]] MEMREPLAY_HD bool comes_first(candidate left, candidate right) const {
    return left.level != right.level ? left.level > right.level : left.event < right.event;
  }
  MEMREPLAY_HD candidate operator()(candidate left, candidate right) const {
    return comes_first(right, left) ? right : left;
  }
};

constexpr candidate no_candidate{0, never};

/// The candidates that may still be chosen: behind the latest choice, and not too like it.
struct read_candidate {
  candidate const* candidates;
  candidate latest;
  std::int64_t highest_level;
  MEMREPLAY_HD candidate operator()(std::int64_t row) const {
    candidate const read = candidates[row];
    bool const may_be =
        read.level <= highest_level && larger_then_earlier{}.comes_first(latest, read);
    return may_be ? read : candidate{0, never};
  }
};

/// Whether a candidate is far enough in time from the chosen one.
struct is_apart {
  event_index chosen;
  std::int64_t const* time_us;
  std::uint64_t min_separation_us;

  [[nodiscard]] MEMREPLAY_HD std::int64_t time_of(event_index place) const {
    return time_us[place < 0 ? 0 : place];
  }
  MEMREPLAY_HD bool operator()(candidate const& other) const {
    std::int64_t const here = time_of(other.event);
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

[[nodiscard]] buffer<candidate> find_candidates(execution const& exec, curve_rows const& bytes) {
  // Of two neighbours one is lower.
  buffer<candidate> found(exec, bytes.count / 2 + 1);
  found.keep_first(write_selected(exec, bytes.count + 1, is_maximum{bytes}, candidate_of_row{bytes},
                                  found.data()));
  return found;
}

}  // namespace

std::vector<peak> find_peaks(execution const& exec, curve_rows const& bytes,
                             std::int64_t const* time_us, replay_plan const& plan) {
  std::vector<peak> peaks;
  if (plan.peak_count <= 0) return peaks;
  bool const has_time_rule = time_us != nullptr && bytes.count > 0 && plan.min_separation_us > 0;

  auto candidates = find_candidates(exec, bytes);
  constexpr std::int64_t any_level = std::numeric_limits<std::int64_t>::max();
  candidate latest{any_level, before_trace - 1};  // before all
  std::int64_t highest_level = any_level;
  while (static_cast<std::int64_t>(peaks.size()) < plan.peak_count) {
    latest = reduce_rows(exec, candidates.count(),
                         read_candidate{candidates.data(), latest, highest_level}, no_candidate,
                         larger_then_earlier{});
    if (latest.event == no_candidate.event) break;
    peak chosen;
    chosen.event = latest.event;
    chosen.bytes = latest.level;
    peaks.push_back(chosen);
    highest_level = highest_distinct_level(latest.level, plan.dedup_ppm);
    if (has_time_rule) {
      candidates = selected_values(
          exec, candidates,
          is_apart{latest.event, time_us, static_cast<std::uint64_t>(plan.min_separation_us)});
    }
  }
  return peaks;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
