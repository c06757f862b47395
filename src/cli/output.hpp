// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Where results go: standard output, or a file that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace memreplay::cli {

/// Writes to standard output. A reader that went away is no error. Throws `error` (cannot_write)
/// else.
void write_standard_output(std::string_view content);

/// Writes `content` to `path` through a temporary file in the same directory and a rename, so that
/// a failure leaves what was there. A file that does not carry `signature` near its start was not
/// written by memreplay and is only replaced with `force`. Throws `error` (cannot_write).
void write_file(std::string const& path, std::string_view content, std::string_view signature,
                bool force);

/// `MEM_PEAK_ANALYSIS_<name>.md` beside the snapshot, without the endings of snapshots and
/// compression.
[[nodiscard]] std::string default_report_path(std::string const& snapshot);
/// `MEM_TIMELINE_<name><ending>` beside the snapshot.
[[nodiscard]] std::string default_timeline_path(std::string const& snapshot,
                                                std::string const& ending);

}  // namespace memreplay::cli
