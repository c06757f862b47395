// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Pages that PyTorch's trace_plot and segment_plot write: the snapshot is in them as base64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <nettle/base64.h>

#include "base/byte_source.hpp"

namespace memreplay::input {

/// Finds the texts of `"base64": "..."` in a page that comes in pieces.
class member_finder {
 public:
  /// Takes bytes up to and with the next quote that begins or ends a member, and says how many
  /// that were: all of them when there is none.
  std::size_t skip(std::string_view page);
  [[nodiscard]] bool is_inside() const noexcept { return state_ == state::inside; }

 private:
  enum class state { name, colon, quote, inside };

  state state_ = state::name;
  std::size_t matched_ = 0;  ///< letters of the name
  char quote_ = '"';
};

/// The first file that a page embeds. Reads the page to its end, even beyond that file.
class html_source final : public base::byte_source {
 public:
  /// Throws `error` (not_a_snapshot) when the page embeds none. `is_cut_allowed`: a file without an
  /// end, or with a part that is no base64, ends there instead of throwing (damaged).
  html_source(std::unique_ptr<base::byte_source> page, bool is_cut_allowed);

  std::size_t read(std::span<std::byte> into) override;
  /// Further files in the page, not decoded; known when this one was read to its end.
  [[nodiscard]] std::size_t other_members() const noexcept { return other_members_; }

 private:
  [[nodiscard]] bool next_chunk();
  void decode_chunk();
  void finish_page();

  std::unique_ptr<base::byte_source> page_;
  bool is_cut_allowed_;
  member_finder finder_;
  base64_decode_ctx decoder_{};
  std::vector<char> buffer_;         ///< of the page
  std::string_view chunk_;           ///< its part that was not looked at
  std::uint64_t page_bytes_ = 0;     ///< read
  std::uint64_t member_offset_ = 0;  ///< of the first member in the page
  std::vector<std::uint8_t> decoded_;
  std::span<std::uint8_t const> ready_;  ///< decoded and not yet read
  bool has_decoded_ = false;
  bool has_ended_ = false;
  std::size_t other_members_ = 0;
};

}  // namespace memreplay::input
