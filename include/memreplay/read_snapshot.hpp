// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reads a snapshot from a file, standard input or memory, whatever it is wrapped in.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include <memreplay/snapshot.hpp>

namespace memreplay {

struct read_options {
  bool salvage = false;  ///< a file whose tail is cut off is read up to the cut
  int threads = 1;       ///< that read; the result is the same for every number
  /// Called now and then with (bytes of the file done, bytes in all); in all are 0 for a stream,
  /// whose end is not known. From any thread, never from two at once. May be empty.
  std::function<void(std::uint64_t, std::uint64_t)> on_progress = {};
  /// Called now and then from the reading thread; may be empty. Rows [0, rows) of the events are
  /// final; more follow, the last of them perhaps without a call. The columns may move between two
  /// calls and the optional ones may appear late, so whoever wants values copies them at once.
  std::function<void(event_columns const& events, std::size_t rows)> on_rows = {};
};

/// Reads `path` ("-" = standard input). The content decides what it is, never the name: pickle
/// protocols 0-5, gzip, zip, zstd, torch.save zip, HTML with an embedded snapshot, JSON. Runs no
/// code of the file. Throws `error`.
[[nodiscard]] snapshot read_snapshot(std::string const& path, read_options const& options = {});

/// The same for bytes in memory.
[[nodiscard]] snapshot read_snapshot(std::span<std::byte const> bytes,
                                     read_options const& options = {});

}  // namespace memreplay
