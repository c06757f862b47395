// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How an error reads on standard error: one line with what, where and what to do.
#pragma once

#include <memreplay/error.hpp>
#include <string>

namespace memreplay::cli {

/// `memreplay: FILE: what (at byte N); hint`
[[nodiscard]] std::string failure_line(std::string const& file, error const& problem);

/// `text` with blanks for everything that a terminal would obey: names of files and what is in them
/// are not ours.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace memreplay::cli
