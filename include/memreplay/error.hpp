// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The one exception of the library: what went wrong, where in the input, and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace memreplay {

enum class error_code {
  cannot_read,     ///< the file cannot be opened or read
  cannot_write,    ///< the output cannot be created or written
  not_a_snapshot,  ///< the bytes are something else
  damaged,         ///< truncated or corrupt
  refused,         ///< an opcode that would run code, or a limit against hostile input
  bad_request,     ///< an option that this input cannot satisfy
  no_device,       ///< the CUDA back end was asked for and cannot run
};

/// Thrown when the work cannot go on. Defects that leave a usable result are rows of the audit
/// instead.
class error : public std::runtime_error {
 public:
  error(error_code code, std::string const& what, std::string hint = {})
      : std::runtime_error(what), code_(code), hint_(std::move(hint)) {}
  error(error_code code, std::string const& what, std::uint64_t byte_offset, std::string hint = {})
      : std::runtime_error(what), code_(code), byte_offset_(byte_offset), hint_(std::move(hint)) {}

  [[nodiscard]] error_code code() const noexcept { return code_; }
  /// Offset in the (decompressed) snapshot bytes, when the error has a place.
  [[nodiscard]] std::optional<std::uint64_t> byte_offset() const noexcept { return byte_offset_; }
  /// What the user can do, one sentence or empty.
  [[nodiscard]] std::string const& hint() const noexcept { return hint_; }

 private:
  error_code code_;
  std::optional<std::uint64_t> byte_offset_;
  std::string hint_;
};

}  // namespace memreplay
