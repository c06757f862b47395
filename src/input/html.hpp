// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Pages that PyTorch's trace_plot and segment_plot write: the snapshot is in them as base64.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/mapped_file.hpp"

namespace memreplay::input {

struct decoded_page {
  base::byte_buffer content;      ///< of the first embedded file
  std::size_t other_members = 0;  ///< further ones, not decoded
};

/// Throws `error`: not_a_snapshot when the page embeds none, damaged when what it embeds is no
/// base64 or has no end. `is_cut_allowed`: a member without an end is read up to the end of the
/// page.
[[nodiscard]] decoded_page decode_html(std::string_view page, bool is_cut_allowed);

}  // namespace memreplay::input
