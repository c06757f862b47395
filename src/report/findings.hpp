// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Sentences worth a reader's time, what to attack first at the top.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/report.hpp>

namespace memreplay::reporting {

/// How many of the bytes in question have a stack, and one that says something.
struct stack_coverage {
  std::int64_t bytes = 0;  ///< born in the trace, or carried in with a stack
  std::int64_t without_frames_bytes = 0;
  std::int64_t without_python_bytes = 0;  ///< those without any frame included
};

/// `device` is complete but for its findings. Each sentence appears only when its number matters.
[[nodiscard]] std::vector<finding> make_findings(report const& model, device_report const& device,
                                                 stack_coverage const& coverage);

}  // namespace memreplay::reporting
