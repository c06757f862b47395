// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The page that timelines are put into.
#pragma once

#include <string_view>

namespace memreplay::writers {

/// Where the data goes; it stands in the template once.
inline constexpr std::string_view page_data_mark = "@PAGE_DATA@";

/// One HTML file with its styles and scripts; empty in a build that could not make it.
[[nodiscard]] std::string_view page_template() noexcept;

}  // namespace memreplay::writers
