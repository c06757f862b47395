// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Bytes that are read one after the other, once: a file, a pipe, memory, or what a wrapper holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace memreplay::base {

/// Several threads may read, one after the other, never at the same time.
class byte_source {
 public:
  byte_source() = default;
  byte_source(byte_source const&) = delete;
  byte_source& operator=(byte_source const&) = delete;
  virtual ~byte_source();

  /// Fills `into` from its start; fewer bytes than asked only at the end; 0 = the end. Throws
  /// `error`.
  virtual std::size_t read(std::span<std::byte> into) = 0;
  /// Bytes from the start to the end, where they can be known without reading.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const;
  /// Goes on at `offset` bytes from the start. False where there is no way back, as in a pipe; a
  /// source that has a `size` always can.
  [[nodiscard]] virtual bool seek(std::uint64_t offset);
};

/// Reads what is left and forgets it: what is damaged only there is still found.
void drain(byte_source& source);

/// A regular file, or anything else that can be read. A file that others shorten meanwhile just
/// ends early.
class file_source final : public byte_source {
 public:
  /// "-" = standard input, which stays open. Throws `error` (cannot_read) naming the path and the
  /// system's reason.
  explicit file_source(std::string const& path);
  /// What is left of `source`, copied into a temporary file without a name: for readers that must
  /// go to and fro. The file lies in $TMPDIR, else in /tmp, and is gone with the result.
  [[nodiscard]] static std::unique_ptr<file_source> spool(byte_source& source);
  ~file_source() override;

  std::size_t read(std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }
  [[nodiscard]] bool seek(std::uint64_t offset) override;

 private:
  file_source(std::string shown, int fd);  ///< takes `fd`, or the reason in `errno`

  std::string shown_;  ///< its name in messages
  int fd_;
  std::uint64_t start_ = 0;            ///< where standard input stood in its file
  std::optional<std::uint64_t> size_;  ///< of a regular file, when it was opened
  bool has_ended_ = false;             ///< a terminal would ask for more
};

/// Bytes that others keep.
class memory_source final : public byte_source {
 public:
  explicit memory_source(std::span<std::byte const> bytes) : bytes_(bytes) {}
  std::size_t read(std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  [[nodiscard]] bool seek(std::uint64_t offset) override;

 private:
  std::span<std::byte const> bytes_;
  std::size_t at_ = 0;
};

}  // namespace memreplay::base
