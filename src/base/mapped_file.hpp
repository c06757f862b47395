// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The bytes of an input file: mapped when it is a regular file, read into memory when it is a
// stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace memreplay::base {

/// Owns one anonymous or file mapping. Move-only.
class byte_buffer {
 public:
  byte_buffer() = default;
  byte_buffer(byte_buffer&& other) noexcept;
  byte_buffer& operator=(byte_buffer&& other) noexcept;
  byte_buffer(byte_buffer const&) = delete;
  byte_buffer& operator=(byte_buffer const&) = delete;
  ~byte_buffer();

  /// Maps a regular file read-only, or reads anything else ("-" = standard input) to its end.
  /// Throws `error` (cannot_read) naming the path and the system's reason.
  [[nodiscard]] static byte_buffer open(std::string const& path);

  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {data_, size_}; }
  /// Appends to an anonymous buffer (one not made by `open` of a regular file).
  void append(std::span<std::byte const> more);
  /// Reading has come to `offset`: what lies before is not needed soon (mapped pages count as
  /// resident memory until then), the next 16 MiB are. Content stays readable everywhere.
  void advance_to(std::size_t offset) noexcept;

 private:
  void unmap() noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  ///< mapped bytes
  std::size_t released_ = 0;
  bool is_file_ = false;
};

}  // namespace memreplay::base
