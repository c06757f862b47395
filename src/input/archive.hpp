// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Compressed files and zip archives, through libarchive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/byte_source.hpp"

namespace memreplay::input {

/// "gzip", "zstd", "bzip2", "xz" or "zip" when a file of that format begins like `start`; else
/// empty.
[[nodiscard]] std::string_view archive_format(std::span<std::byte const> start) noexcept;

struct archive_options {
  /// How many bytes may come out, asked while they do. It grows with what went in.
  std::function<std::uint64_t()> limit;
  bool is_cut_allowed = false;  ///< a broken stream ends where it breaks
};

/// Takes one layer of `format` off: what a compressed file holds, or the one snapshot of a zip,
/// which is its only file or torch.save's `data.pkl`. A zip has its table at the end: one that
/// cannot `seek` is copied into a temporary file, still compressed. Compressed bytes are read to
/// the end, even beyond the end of what they hold.
///
/// Throws `error`, here or in `read`: damaged, refused (more than `limit`), not_a_snapshot (several
/// files). A stream that is cut inside its header gives nothing.
[[nodiscard]] std::unique_ptr<base::byte_source> open_archive(
    std::unique_ptr<base::byte_source> bytes, std::string_view format, archive_options options);

}  // namespace memreplay::input
