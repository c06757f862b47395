// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `total_by`: bytes and lifetimes by stack, over some of the lifetimes.
//
//   lifetime       A  B  C  D  E
//   stack          7  3  7  3  9
//   bytes          1  2  4  8  5
//   sorted         3  3  7  7  9      by stack
//   joined         10    5     5      bytes of each run
//   in order       3: 10, 7: 5, 9: 5  bytes descending, then stack ascending
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <algorithm>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

struct read_stack_and_size {
  lifetime_rows born;
  std::int64_t const* rows;
  std::uint64_t* stack;
  std::uint64_t* size;
  MEMREPLAY_HD void operator()(std::int64_t row) const {
    stack[row] = static_cast<std::uint64_t>(born.stack[rows[row]]);
    size[row] = born.size[rows[row]];
  }
};

struct total {
  std::int64_t bytes;
  std::int64_t count;
};

struct total_of_one {
  std::uint64_t const* size;
  MEMREPLAY_HD total operator()(std::int64_t row) const {
    return {static_cast<std::int64_t>(size[row]), 1};
  }
};

struct add_totals {
  MEMREPLAY_HD total operator()(total left, total right) const {
    return {add_bytes{}(left.bytes, right.bytes), left.count + right.count};
  }
};

}  // namespace

std::vector<stack_total> total_by(execution const& exec, lifetime_rows const& born,
                                  buffer<std::int64_t> const& rows) {
  std::int64_t const count = rows.count();
  buffer<std::uint64_t> stacks(exec, count);
  buffer<std::uint64_t> sizes(exec, count);
  for_each_row(exec, count, read_stack_and_size{born, rows.data(), stacks.data(), sizes.data()});
  sort_pairs(exec, stacks, sizes);

  buffer<std::uint64_t> run_stacks(exec, count);
  buffer<total> run_totals(exec, count);
  std::int64_t const runs = reduce_runs(exec, stacks.data(), count, total_of_one{sizes.data()},
                                        add_totals{}, run_stacks.data(), run_totals.data());
  // Some ten thousand rows at most: their order is made on the host.
  auto const run_stack = download(exec, run_stacks.data(), runs);
  auto const run_total = download(exec, run_totals.data(), runs);
  std::vector<stack_total> totals;
  totals.reserve(run_stack.size());
  for (std::size_t run = 0; run < run_stack.size(); ++run) {
    totals.push_back(
        {static_cast<stack_id>(run_stack[run]), run_total[run].bytes, run_total[run].count});
  }
  std::sort(totals.begin(), totals.end(), [](stack_total const& left, stack_total const& right) {
    if (left.bytes != right.bytes) return left.bytes > right.bytes;
    return left.stack < right.stack;
  });
  return totals;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
