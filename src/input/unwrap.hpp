// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds the snapshot in what a file holds: looks at the content, never at the name, and takes
// wrappers off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_source.hpp"
#include "input/html.hpp"
#include "input/peeked_source.hpp"

namespace memreplay::input {

enum class encoding { pickle, json };

/// A snapshot's bytes without any wrapper. What is counted here is final when they were read to
/// their end.
struct unwrapped {
  std::unique_ptr<peeked_source> bytes;
  encoding what = encoding::pickle;
  std::string description;  ///< "pickle", "pickle in gzip", "json in zip" ...

  peeked_source const* file = nullptr;  ///< the outermost bytes: owned by `bytes`, or the same
  html_source const* page = nullptr;    ///< owned by `bytes`, if there is one

  /// Of the file; of a stream, those that were read.
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// Further snapshots in the same HTML page, not read.
  [[nodiscard]] std::size_t other_members() const noexcept {
    return page == nullptr ? 0 : page->other_members();
  }
};

/// `is_cut_allowed`: a compressed stream that ends early gives what could be decoded. Throws
/// `error`, here or while `bytes` is read: not_a_snapshot with what the bytes look like, damaged
/// for a broken wrapper, refused for one that would blow up beyond 200 times its size.
[[nodiscard]] unwrapped unwrap(std::unique_ptr<base::byte_source> file, bool is_cut_allowed);

}  // namespace memreplay::input
