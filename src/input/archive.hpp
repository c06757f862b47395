// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Compressed files and zip archives, through libarchive.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/mapped_file.hpp"

namespace memreplay::input {

struct decoded_member {
  base::byte_buffer content;
  std::string format;  ///< "gzip", "zip", "zstd" ...
};

/// Whether the bytes begin like a gzip, zstd, bzip2, xz or zip file.
[[nodiscard]] bool is_archive(std::span<std::byte const> bytes) noexcept;

/// Takes one layer off what `is_archive`: decodes a compressed file, or the one snapshot of a zip,
/// which is its only file or torch.save's `data.pkl`. Throws `error`: damaged, refused (more than
/// `limit` bytes), not_a_snapshot (several files). A stream that is cut inside its header gives
/// nothing.
[[nodiscard]] decoded_member decode_archive(std::span<std::byte const> bytes, std::size_t limit,
                                            bool is_cut_allowed);

}  // namespace memreplay::input
