// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What the program's exit status says; part of the promise to scripts.
#pragma once

namespace memreplay::cli {

enum class exit_status : int {
  done = 0,
  partly_failed = 1,  ///< a check failed, or some of several inputs could not be read
  could_not_run = 2,
};

}  // namespace memreplay::cli
