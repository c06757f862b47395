// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Random traces with all the disorder that real and hostile files show, reproducible by seed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "trace.hpp"

namespace memreplay::test {

enum class disorder {
  none,            ///< a complete history and the end state that belongs to it
  carried_in,      ///< memory older than the trace, some of it never freed
  everything,      ///< besides: double allocs and frees, wrong sizes, an end state that contradicts
  no_requests,     ///< recorded without free_requested
  no_completions,  ///< recorded without free_completed
  huge_sizes,      ///< `everything` with sizes up to 2^64 - 1, so that sums wrap around
  no_end_state,    ///< `everything`, but the file has no segments
};

struct random_options {
  std::uint64_t seed = 0;
  std::int64_t events = 0;
  std::int64_t addresses = 16;  ///< distinct ones; few of them are reused often
  disorder kind = disorder::everything;
};

[[nodiscard]] trace make_random_trace(random_options const& options);

/// Every kind of disorder at every size that has a special case in a parallel algorithm, up to
/// `largest`.
[[nodiscard]] std::vector<random_options> random_cases(std::int64_t largest);

std::ostream& operator<<(std::ostream& out, random_options const& options);

}  // namespace memreplay::test
