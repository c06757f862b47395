// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The replay as one would write it on a blackboard: one event after the other, a map of what is
// live. Slow, obvious, and without a line in common with the kernels; the tests' idea of the truth.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel_api.hpp"

namespace memreplay::test {

struct naive_lifetimes {
  kernels::host_lifetimes rows;  ///< ascending (address, first event)
  std::vector<std::uint64_t> address;
  replay_counts counts;
};

[[nodiscard]] naive_lifetimes naive_pair(kernels::kernel_input const& input, bool compare_sizes);

struct naive_curve {
  std::int64_t start = 0;
  std::vector<std::int64_t> after;  ///< bytes after each event
};

[[nodiscard]] naive_curve naive_accumulate(kernels::kernel_input const& input, measure which,
                                           carried_in older);

[[nodiscard]] curve_summary naive_summary(naive_curve const& curve);

[[nodiscard]] std::vector<peak> naive_peaks(naive_curve const& curve, std::int64_t const* time_us,
                                            replay_plan const& plan);

[[nodiscard]] std::vector<stack_total> naive_live(kernels::host_lifetimes const& lifetimes,
                                                  event_index event, measure which,
                                                  carried_in older);

[[nodiscard]] std::vector<timeline_bucket> naive_downsample(naive_curve const& curve,
                                                            std::int64_t width);

[[nodiscard]] std::vector<large_lifetime> naive_largest(kernels::host_lifetimes const& lifetimes,
                                                        std::int64_t events,
                                                        replay_plan const& plan);

/// The live set at the plan's moments and those of the ranges; the curves' values are left 0.
[[nodiscard]] live_history naive_history(kernels::host_lifetimes const& lifetimes,
                                         replay_plan const& plan,
                                         std::vector<range_replay> const& ranges);

/// All of it.
[[nodiscard]] kernels::kernel_result naive_run(kernels::kernel_input const& input,
                                               replay_plan const& plan);

}  // namespace memreplay::test
