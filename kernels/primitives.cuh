// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The things that steps are made of. Each is a parallel pass or two with a name; all Thrust
// calls are here; the sorts and the long sums, which a GPU and a host do in their own ways, are in
// the files included at the end.
#pragma once

#include "kernels/backend.cuh"
#include "kernels/columns.cuh"

#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>

#include <cstdint>
#include <vector>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

using row_iterator = thrust::counting_iterator<std::int64_t>;

/// 1. Calls `functor(row)` for every row of [0, count), in any order.
template <class FunctorT>
void for_each_row(execution const& exec, std::int64_t count, FunctorT functor) {
  if (count > 0) thrust::for_each(exec.policy(), row_iterator(0), row_iterator(count), functor);
}

/// 2. How many rows of [0, count) satisfy `predicate(row)`.
template <class PredicateT>
[[nodiscard]] std::int64_t count_rows(execution const& exec, std::int64_t count,
                                      PredicateT predicate) {
  if (count <= 0) return 0;
  return thrust::count_if(exec.policy(), row_iterator(0), row_iterator(count), predicate);
}

/// 3. Writes `value(row)` of the rows of [0, count) that satisfy `predicate(row)` one after
/// another, and returns how many they are.
template <class PredicateT, class ValueT, class TransformT>
std::int64_t write_selected(execution const& exec, std::int64_t count, PredicateT predicate,
                            TransformT value, ValueT* out) {
  if (count <= 0) return 0;
  auto const values = thrust::make_transform_iterator(row_iterator(0), value);
  return thrust::copy_if(exec.policy(), values, values + count, row_iterator(0), out, predicate) -
         out;
}

/// 4. The rows of [0, count) that satisfy `predicate(row)`, ascending.
template <class PredicateT>
[[nodiscard]] buffer<std::int64_t> selected_rows(execution const& exec, std::int64_t count,
                                                 PredicateT predicate) {
  // Room for all of them: a pass that counts first would cost more than memory not written to.
  buffer<std::int64_t> rows(exec, count);
  if (count <= 0) return rows;
  std::int64_t* const end =
      thrust::copy_if(exec.policy(), row_iterator(0), row_iterator(count), rows.data(), predicate);
  rows.keep_first(end - rows.data());
  return rows;
}

/// 5. Those of the values that satisfy `predicate(value)`, in their order.
template <class ValueT, class PredicateT>
[[nodiscard]] buffer<ValueT> selected_values(execution const& exec, buffer<ValueT> const& values,
                                             PredicateT predicate) {
  buffer<ValueT> kept(exec, values.count());
  if (values.count() == 0) return kept;
  ValueT* const end = thrust::copy_if(exec.policy(), values.data(), values.data() + values.count(),
                                      kept.data(), predicate);
  kept.keep_first(end - kept.data());
  return kept;
}

template <class ValueT>
struct gather_row {
  ValueT const* column;
  std::int64_t const* rows;
  ValueT* out;
  MEMREPLAY_HD void operator()(std::int64_t row) const { out[row] = column[rows[row]]; }
};

/// 13. Some rows of a column, on the host.
template <class ValueT>
[[nodiscard]] std::vector<ValueT> download_rows(execution const& exec, ValueT const* column,
                                                buffer<std::int64_t> const& rows) {
  buffer<ValueT> values(exec, rows.count());
  for_each_row(exec, rows.count(), gather_row<ValueT>{column, rows.data(), values.data()});
  return download(exec, values.data(), rows.count());
}

/// 6. Joins `transform(row)` over [0, count). `join` is associative and commutative, `identity`
/// neutral.
template <class ResultT, class TransformT, class JoinT>
[[nodiscard]] ResultT reduce_rows(execution const& exec, std::int64_t count, TransformT transform,
                                  ResultT identity, JoinT join) {
  if (count <= 0) return identity;
  return thrust::transform_reduce(exec.policy(), row_iterator(0), row_iterator(count), transform,
                                  identity, join);
}

/// 7. Joins sums that are too long to be made anew for every row: `add(row, sum)` changes a sum,
/// and may write what belongs to its row alone. `join` is associative and commutative, `identity`
/// neutral.
template <class SumT, class AddT, class JoinT>
[[nodiscard]] SumT sum_rows(execution const& exec, std::int64_t count, AddT add, SumT identity,
                            JoinT join);

/// Sum that wraps around: the bytes of a hostile file overflow without harm.
struct add_bytes {
  MEMREPLAY_HD std::int64_t operator()(std::int64_t left, std::int64_t right) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) +
                                     static_cast<std::uint64_t>(right));
  }
};

/// 8. Replaces every value by the sum of itself and all before it.
inline void prefix_sum(execution const& exec, std::int64_t* values, std::int64_t count) {
  if (count <= 0) return;
  thrust::inclusive_scan(exec.policy(), values, values + count, values, add_bytes{});
}

struct equal_keys {
  MEMREPLAY_HD bool operator()(std::uint64_t left, std::uint64_t right) const {
    return left == right;
  }
};

/// 9. Joins the values of each run of equal keys: `value(row)` over sorted `keys`. Writes one key
/// and one joined value a run, returns the number of runs.
template <class ValueT, class TransformT, class JoinT>
std::int64_t reduce_runs(execution const& exec, std::uint64_t const* keys, std::int64_t count,
                         TransformT value, JoinT join, std::uint64_t* run_keys,
                         ValueT* run_values) {
  if (count <= 0) return 0;
  auto const values = thrust::make_transform_iterator(row_iterator(0), value);
  auto const ends = thrust::reduce_by_key(exec.policy(), keys, keys + count, values, run_keys,
                                          run_values, equal_keys{}, join);
  return ends.first - run_keys;
}

struct differing_bits {
  std::uint64_t any = 0;
  std::uint64_t all = ~std::uint64_t{0};
};

struct bits_of_key {
  std::uint64_t const* keys;
  MEMREPLAY_HD differing_bits operator()(std::int64_t row) const { return {keys[row], keys[row]}; }
};

struct join_bits {
  MEMREPLAY_HD differing_bits operator()(differing_bits left, differing_bits right) const {
    return {left.any | right.any, left.all & right.all};
  }
};

/// The bits that some of the joined words have and others have not.
[[nodiscard]] inline std::uint64_t bits_that_differ(differing_bits joined) {
  return joined.any & ~(joined.any & joined.all);
}

/// 10. The bits in which any two of the keys differ: a sort need not look at others.
[[nodiscard]] inline std::uint64_t find_differing_bits(execution const& exec,
                                                       std::uint64_t const* keys,
                                                       std::int64_t count) {
  return bits_that_differ(
      reduce_rows(exec, count, bits_of_key{keys}, differing_bits{}, join_bits{}));
}

/// 11. Sorts the keys, equal ones in their old order, and takes the values along.
inline void sort_pairs(execution const& exec, buffer<std::uint64_t>& keys,
                       buffer<std::uint64_t>& values);

/// 12. Sorts keys by some of their bits, those equal in them in their old order. `bits` are all
/// that differ above the lowest one looked at.
inline void sort_keys(execution const& exec, std::uint64_t bits, buffer<std::uint64_t>& keys);

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND

#if defined(__CUDACC__)
#include "kernels/primitives_cub.cuh"
#else
#include "kernels/primitives_host.cuh"
#endif
