// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The host form of the sorts: a radix sort, low digit first, that skips the bits on which all keys
// agree. On addresses it takes half the time of Thrust's merge sort, which has no bit range.
#pragma once

#include "kernels/primitives.cuh"

#include <algorithm>
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

inline constexpr int digit_bits = 8;
inline constexpr std::int64_t digit_count = std::int64_t{1} << digit_bits;

/// The part of a pass that all tasks share. `counters[block * digit_count + digit]` is first the
/// number of rows, then the place of the next one. `values` may be null: keys alone.
struct radix_pass {
  std::int64_t count;
  int shift;
  std::uint64_t const* keys;
  std::uint64_t const* values;
  std::uint64_t* sorted_keys;
  std::uint64_t* sorted_values;
  std::int64_t* counters;

  [[nodiscard]] std::size_t digit_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key >> shift) & (digit_count - 1));
  }
  [[nodiscard]] std::int64_t end_of(std::int64_t block) const {
    return std::min(count, (block + 1) * task_rows);
  }
};

struct count_digits {
  radix_pass pass;
  void operator()(std::int64_t block) const {
    std::int64_t* const counters = pass.counters + block * digit_count;
    std::fill(counters, counters + digit_count, 0);
    std::int64_t const end = pass.end_of(block);
    for (std::int64_t row = block * task_rows; row < end; ++row) {
      ++counters[pass.digit_of(pass.keys[row])];
    }
  }
};

struct move_rows {
  radix_pass pass;
  void operator()(std::int64_t block) const {
    std::int64_t* const places = pass.counters + block * digit_count;
    std::int64_t const first = block * task_rows;
    std::int64_t const end = pass.end_of(block);
    if (pass.values == nullptr) {
      for (std::int64_t row = first; row < end; ++row) {
        pass.sorted_keys[places[pass.digit_of(pass.keys[row])]++] = pass.keys[row];
      }
      return;
    }
    for (std::int64_t row = first; row < end; ++row) {
      std::int64_t const place = places[pass.digit_of(pass.keys[row])]++;
      pass.sorted_keys[place] = pass.keys[row];
      pass.sorted_values[place] = pass.values[row];
    }
  }
};

/// Numbers of rows become first places: digit by digit, in each digit block by block, hence stable.
inline void place_blocks(std::vector<std::int64_t>& counters, std::int64_t blocks) {
  std::int64_t place = 0;
  for (std::int64_t digit = 0; digit < digit_count; ++digit) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      auto& counter = counters[static_cast<std::size_t>(block * digit_count + digit)];
      place += std::exchange(counter, place);
    }
  }
}

/// `values` is empty, or as long as `keys`.
inline void radix_sort(execution const& exec, std::uint64_t bits, buffer<std::uint64_t>& keys,
                       buffer<std::uint64_t>& values) {
  std::int64_t const count = keys.count();
  if (bits == 0 || count == 0) return;
  std::int64_t const blocks = task_count(count);
  std::vector<std::int64_t> counters(static_cast<std::size_t>(blocks * digit_count));
  buffer<std::uint64_t> other_keys(exec, count);
  buffer<std::uint64_t> other_values(exec, values.count());
  while (bits != 0) {
    int const shift = std::countr_zero(bits);
    radix_pass const pass{
        count,          shift, keys.data(), values.data(), other_keys.data(), other_values.data(),
        counters.data()};
    for_each_row(exec, blocks, count_digits{pass});
    place_blocks(counters, blocks);
    for_each_row(exec, blocks, move_rows{pass});
    std::swap(keys, other_keys);
    std::swap(values, other_values);
    // Two shifts, since one by 64 would be undefined.
    bits = (bits >> shift >> digit_bits) << digit_bits << shift;
  }
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
