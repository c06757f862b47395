// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The host form of the long sums, which every task keeps for itself, and of the sorts.
//
// A sort is a radix sort that looks only at bits in which keys differ. All tasks together split the
// rows by the highest such bits; then each task sorts parts of its own, low digit first, and a part
// does not leave the cache of its core meanwhile. On addresses it takes a third of the time of
// Thrust's merge sort, which has no bit range.
#pragma once

#include "kernels/primitives.cuh"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

/// Rows that one task handles at a time.
inline constexpr std::int64_t task_rows = 1 << 16;

[[nodiscard]] inline std::int64_t task_count(std::int64_t rows) {
  return (rows + task_rows - 1) / task_rows;
}

template <class SumT, class AddT>
struct sum_of_task {
  AddT add;
  SumT identity;
  std::int64_t count;
  SumT* sums;
  void operator()(std::int64_t task) const {
    SumT sum = identity;
    std::int64_t const end = std::min(count, (task + 1) * task_rows);
    for (std::int64_t row = task * task_rows; row < end; ++row) add(row, sum);
    sums[task] = sum;
  }
};

template <class SumT, class AddT, class JoinT>
SumT sum_rows(execution const& exec, std::int64_t count, AddT add, SumT identity, JoinT join) {
  std::vector<SumT> sums(static_cast<std::size_t>(task_count(count)));
  for_each_row(exec, task_count(count), sum_of_task<SumT, AddT>{add, identity, count, sums.data()});
  for (SumT const& sum : sums) identity = join(identity, sum);
  return identity;
}

/// Keys, and values that go along; `value` may be null: keys alone.
struct radix_rows {
  std::uint64_t* key;
  std::uint64_t* value;

  [[nodiscard]] radix_rows from(std::int64_t row) const {
    return {key + row, value == nullptr ? nullptr : value + row};
  }
};

/// A part of the rows, and the bits in which its keys may still differ (or do, where it is split).
struct radix_part {
  std::int64_t first;
  std::int64_t count;
  std::uint64_t bits;
};

/// Parts up to this many rows are sorted by one task: both copies of it fit into a core's cache.
inline constexpr std::int64_t most_part_rows = 1 << 15;
/// Splitting pays while parts have as many rows as this.
inline constexpr std::int64_t fewest_part_rows = 1 << 12;
inline constexpr int most_split_bits = 10;

/// The split that all tasks share. `places[task << digit_bits | digit]` is first the number of
/// rows, then the place of the next one.
struct radix_split {
  std::int64_t count;
  int shift;
  int digit_bits;
  radix_rows from;
  radix_rows to;
  std::int64_t* places;

  [[nodiscard]] std::size_t digit_of(std::uint64_t key) const {
    return static_cast<std::size_t>(key >> shift & ((std::uint64_t{1} << digit_bits) - 1));
  }
  [[nodiscard]] std::int64_t* places_of(std::int64_t task) const {
    return places + (task << digit_bits);
  }
  [[nodiscard]] std::int64_t end_of(std::int64_t task) const {
    return std::min(count, (task + 1) * task_rows);
  }
};

struct count_digits {
  radix_split split;
  void operator()(std::int64_t task) const {
    std::int64_t* const counts = split.places_of(task);
    std::fill(counts, counts + (std::int64_t{1} << split.digit_bits), 0);
    std::int64_t const end = split.end_of(task);
    for (std::int64_t row = task * task_rows; row < end; ++row) {
      ++counts[split.digit_of(split.from.key[row])];
    }
  }
};

struct move_rows {
  radix_split split;
  void operator()(std::int64_t task) const {
    std::int64_t* const places = split.places_of(task);
    std::int64_t const end = split.end_of(task);
    for (std::int64_t row = task * task_rows; row < end; ++row) {
      std::int64_t const place = places[split.digit_of(split.from.key[row])]++;
      split.to.key[place] = split.from.key[row];
      if (split.from.value != nullptr) split.to.value[place] = split.from.value[row];
    }
  }
};

/// Numbers of rows become first places: digit by digit, in each digit task by task, hence stable.
/// Returns the parts that more than one row went to.
[[nodiscard]] inline std::vector<radix_part> place_parts(radix_split const& split,
                                                         std::uint64_t bits) {
  std::vector<radix_part> parts;
  std::uint64_t const bits_below = bits & ((std::uint64_t{1} << split.shift) - 1);
  std::int64_t const tasks = task_count(split.count);
  std::int64_t place = 0;
  for (std::int64_t digit = 0; digit < std::int64_t{1} << split.digit_bits; ++digit) {
    std::int64_t const first = place;
    for (std::int64_t task = 0; task < tasks; ++task) {
      place += std::exchange(split.places_of(task)[digit], place);
    }
    if (place > first) parts.push_back({first, place - first, bits_below});
  }
  return parts;
}

/// Sorts a part within one task, low digit first. The rows lie in `here`, are sorted by way of
/// `there`, and end in `there` or in `here` as the caller says.
class part_sorter {
 public:
  part_sorter(radix_rows here, radix_rows there, radix_part part)
      : here_(here.from(part.first)), there_(there.from(part.first)), count_(part.count) {
    bits_ = part.bits & differing_bits_of();
  }
  void sort(bool ends_in_there) {
    std::uint64_t bits = bits_;
    while (bits != 0) {
      // Counting for two digits at once saves a look at all keys.
      int const low = std::countr_zero(bits);
      std::uint64_t const rest = without_digit(bits, low);
      int const high = rest == 0 ? low : std::countr_zero(rest);
      count(low, high);
      move(low, places_[0]);
      ends_in_there = !ends_in_there;
      if (rest == 0) break;
      move(high, places_[1]);
      ends_in_there = !ends_in_there;
      bits = without_digit(rest, high);
    }
    if (!ends_in_there) return;
    std::copy(here_.key, here_.key + count_, there_.key);
    if (here_.value != nullptr) std::copy(here_.value, here_.value + count_, there_.value);
  }

 private:
  static constexpr int digit_bits = 8;
  static constexpr std::size_t digit_count = std::size_t{1} << digit_bits;
  using digit_places = std::array<std::uint32_t, digit_count>;

  [[nodiscard]] static std::size_t digit_of(std::uint64_t key, int shift) {
    return static_cast<std::size_t>(key >> shift & (digit_count - 1));
  }
  [[nodiscard]] static std::uint64_t without_digit(std::uint64_t bits, int shift) {
    // Two shifts, since one by 64 would be undefined.
    return (bits >> shift >> digit_bits) << digit_bits << shift;
  }
  [[nodiscard]] std::uint64_t differing_bits_of() const {
    differing_bits joined;
    for (std::int64_t row = 0; row < count_; ++row) {
      joined = join_bits{}(joined, {here_.key[row], here_.key[row]});
    }
    return bits_that_differ(joined);
  }
  void count(int low, int high) {
    places_[0].fill(0);
    places_[1].fill(0);
    for (std::int64_t row = 0; row < count_; ++row) {
      std::uint64_t const key = here_.key[row];
      ++places_[0][digit_of(key, low)];
      ++places_[1][digit_of(key, high)];
    }
    for (digit_places& places : places_) {
      std::uint32_t place = 0;
      for (std::uint32_t& next : places) place += std::exchange(next, place);
    }
  }
  void move(int shift, digit_places& places) {
    for (std::int64_t row = 0; row < count_; ++row) {
      std::uint64_t const key = here_.key[row];
      std::uint32_t const place = places[digit_of(key, shift)]++;
      there_.key[place] = key;
      if (here_.value != nullptr) there_.value[place] = here_.value[row];
    }
    std::swap(here_, there_);
  }

  radix_rows here_;
  radix_rows there_;
  std::int64_t count_;
  std::uint64_t bits_ = 0;
  std::array<digit_places, 2> places_;
};

struct sort_part {
  radix_part const* parts;
  radix_rows here;
  radix_rows there;
  bool ends_in_there;
  void operator()(std::int64_t row) const {
    part_sorter(here, there, parts[row]).sort(ends_in_there);
  }
};

/// Sorts the rows in `here`; they end in `there` or in `here` as the caller says. Each call looks
/// at lower bits only, so however the keys are spread, no row is moved more often than keys have
/// digits.
inline void sort_rows(execution const& exec, radix_rows here, radix_rows there, radix_part whole,
                      bool ends_in_there) {
  if (whole.count <= most_part_rows) {
    sort_part{&whole, here, there, ends_in_there}(0);
    return;
  }
  std::uint64_t const bits = whole.bits;
  if (bits == 0) {
    sort_part{&whole, here, there, ends_in_there}(0);
    return;
  }
  radix_rows const from = here.from(whole.first);
  radix_rows const to = there.from(whole.first);
  int const end_bit = 64 - std::countl_zero(bits);
  int const wanted =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(whole.count / fewest_part_rows)));
  int const digit_bits = std::min({wanted, most_split_bits, end_bit - std::countr_zero(bits)});
  std::vector<std::int64_t> places(static_cast<std::size_t>(task_count(whole.count) << digit_bits));
  radix_split const split{whole.count, end_bit - digit_bits, digit_bits, from, to, places.data()};
  for_each_row(exec, task_count(whole.count), count_digits{split});
  std::vector<radix_part> parts = place_parts(split, bits);
  for_each_row(exec, task_count(whole.count), move_rows{split});

  auto const is_small = [](radix_part const& part) { return part.count <= most_part_rows; };
  auto const large = std::stable_partition(parts.begin(), parts.end(), is_small);
  for_each_row(exec, large - parts.begin(), sort_part{parts.data(), to, from, !ends_in_there});
  for (auto part = large; part != parts.end(); ++part) {
    part->bits &= find_differing_bits(exec, to.key + part->first, part->count);
    sort_rows(exec, to, from, *part, !ends_in_there);
  }
}

/// `values` is empty, or as long as `keys`.
inline void radix_sort(execution const& exec, std::uint64_t bits, buffer<std::uint64_t>& keys,
                       buffer<std::uint64_t>& values) {
  if (bits == 0 || keys.count() == 0) return;
  buffer<std::uint64_t> other_keys(exec, keys.count());
  buffer<std::uint64_t> other_values(exec, values.count());
  sort_rows(exec, {keys.data(), values.data()}, {other_keys.data(), other_values.data()},
            {0, keys.count(), bits}, false);
}

inline void sort_pairs(execution const& exec, buffer<std::uint64_t>& keys,
                       buffer<std::uint64_t>& values) {
  radix_sort(exec, find_differing_bits(exec, keys.data(), keys.count()), keys, values);
}

inline void sort_keys(execution const& exec, std::uint64_t bits, buffer<std::uint64_t>& keys) {
  buffer<std::uint64_t> no_values(exec, 0);
  radix_sort(exec, bits, keys, no_values);
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
