// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds the snapshot in what a file holds: looks at the content, never at the name, and takes
// wrappers off.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/mapped_file.hpp"

namespace memreplay::input {

enum class encoding { pickle, json };

/// The bytes of a snapshot without any wrapper.
struct unwrapped {
  base::byte_buffer storage;  ///< holds `bytes` when they had to be decoded; else empty
  std::span<std::byte const> bytes;
  encoding what = encoding::pickle;
  std::string description;        ///< "pickle", "pickle in gzip", "json in zip" ...
  std::size_t other_members = 0;  ///< further snapshots in the same HTML page, not read
};

/// `bytes` must outlive the result when nothing had to be decoded. `is_cut_allowed`: a compressed
/// stream that ends early gives what could be decoded. Throws `error`: not_a_snapshot with what the
/// bytes look like, damaged for a broken wrapper, refused for one that would blow up beyond 200
/// times its size.
[[nodiscard]] unwrapped unwrap(std::span<std::byte const> bytes, bool is_cut_allowed);

}  // namespace memreplay::input
