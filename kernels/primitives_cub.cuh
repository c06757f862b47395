// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA form of the sorts and the long sums: CUB's radix sort over the bits that differ, where
// Thrust's own would sort all 64, and a reduction.
#pragma once

#include "kernels/primitives.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace cub = CUB_NS_QUALIFIER;

/// The sum of one row.
template <class SumT, class AddT>
struct sum_of_row {
  AddT add;
  SumT identity;
  MEMREPLAY_HD SumT operator()(std::int64_t row) const {
    SumT sum = identity;
    add(row, sum);
    return sum;
  }
};

template <class SumT, class AddT, class JoinT>
SumT sum_rows(execution const& exec, std::int64_t count, AddT add, SumT identity, JoinT join) {
  return reduce_rows(exec, count, sum_of_row<SumT, AddT>{add, identity}, identity, join);
}

inline void sort_pairs(execution const& exec, buffer<std::uint64_t>& keys,
                       buffer<std::uint64_t>& values) {
  std::int64_t const count = keys.count();
  std::uint64_t const bits = find_differing_bits(exec, keys.data(), count);
  if (bits == 0) return;
  int const first_bit = std::countr_zero(bits);
  int const end_bit = 64 - std::countl_zero(bits);

  buffer<std::uint64_t> other_keys(exec, count);
  buffer<std::uint64_t> other_values(exec, count);
  cub::DoubleBuffer<std::uint64_t> both_keys(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint64_t> both_values(values.data(), other_values.data());
  auto const sort = [&](void* scratch, std::size_t& scratch_bytes) {
    MEMREPLAY_CUDA_TRY(cub::DeviceRadixSort::SortPairs(
        scratch, scratch_bytes, both_keys, both_values, count, first_bit, end_bit, exec.stream()));
  };
  std::size_t scratch_bytes = 0;
  sort(nullptr, scratch_bytes);
  buffer<std::byte> scratch(exec, static_cast<std::int64_t>(scratch_bytes));
  sort(scratch.data(), scratch_bytes);
  if (both_keys.Current() != keys.data()) std::swap(keys, other_keys);
  if (both_values.Current() != values.data()) std::swap(values, other_values);
}

inline void sort_keys(execution const& exec, std::uint64_t bits, buffer<std::uint64_t>& keys) {
  std::int64_t const count = keys.count();
  if (bits == 0 || count == 0) return;
  int const first_bit = std::countr_zero(bits);
  int const end_bit = 64 - std::countl_zero(bits);

  buffer<std::uint64_t> other_keys(exec, count);
  cub::DoubleBuffer<std::uint64_t> both_keys(keys.data(), other_keys.data());
  auto const sort = [&](void* scratch, std::size_t& scratch_bytes) {
    MEMREPLAY_CUDA_TRY(cub::DeviceRadixSort::SortKeys(scratch, scratch_bytes, both_keys, count,
                                                      first_bit, end_bit, exec.stream()));
  };
  std::size_t scratch_bytes = 0;
  sort(nullptr, scratch_bytes);
  buffer<std::byte> scratch(exec, static_cast<std::int64_t>(scratch_bytes));
  sort(scratch.data(), scratch_bytes);
  if (both_keys.Current() != keys.data()) std::swap(keys, other_keys);
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
