// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How an error reads on standard error: one line with what, where and what to do.
#pragma once

#include <memreplay/error.hpp>
#include <string>

namespace memreplay::cli {

/// `memreplay: FILE: what (at byte N); hint`
[[nodiscard]] std::string failure_line(std::string const& file, error const& problem);

/// The same error, with the file in its text.
[[nodiscard]] error named_error(std::string const& file, error const& problem);

/// Calls `work` for one of several files: its errors then begin with the name of theirs.
template <class WorkT>
auto naming_file(std::string const& file, WorkT work) {
  try {
    return work();
  } catch (error const& problem) {
    throw named_error(file, problem);
  }
}

/// `text` with blanks for everything that a terminal would obey: names of files and what is in them
/// are not ours.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace memreplay::cli
