// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One function a subcommand. Errors leave as `error`, except where one of several inputs fails.
#pragma once

#include "cli/exit_status.hpp"
#include "cli/request.hpp"

namespace memreplay::cli {

[[nodiscard]] exit_status run_report(request const& asked);
[[nodiscard]] exit_status run_info(request const& asked);
[[nodiscard]] exit_status run_compare(request const& asked);
[[nodiscard]] exit_status run_at(request const& asked);
[[nodiscard]] exit_status run_steps(request const& asked);
[[nodiscard]] exit_status run_leaks(request const& asked);
[[nodiscard]] exit_status run_oom(request const& asked);
[[nodiscard]] exit_status run_segments(request const& asked);
[[nodiscard]] exit_status run_check(request const& asked);
[[nodiscard]] exit_status run_timeline(request const& asked);

}  // namespace memreplay::cli
