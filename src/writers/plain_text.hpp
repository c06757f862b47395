// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Small pieces of text that all human-readable formats share.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memreplay::writers {

/// fmt::format to the end of `out`.
template <class... ArgsT>
void append(std::string& out, fmt::format_string<ArgsT...> format, ArgsT&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<ArgsT>(args)...);
}

/// One line of valid UTF-8: line breaks and tabs become blanks; other control characters (terminal
/// escapes), marks that turn the direction of writing, and bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string clean_line(std::string_view text);

/// Without the blanks around it.
[[nodiscard]] std::string trimmed(std::string_view clean_text);

/// Columns of a terminal that a clean line takes: 2 for each wide character of East Asia and each
/// emoji, 0 for a mark that joins the character before. The same in every locale.
[[nodiscard]] std::size_t display_width(std::string_view clean_text);

/// `1,234,567`.
[[nodiscard]] std::string count_text(std::int64_t count);
/// `1 event`, `2 events`: the singular must take a plain `s`.
[[nodiscard]] std::string count_text(std::int64_t count, std::string_view singular);
/// A change: `+1,234`, `-5`, and `0` without a sign.
[[nodiscard]] std::string signed_count_text(std::int64_t count);
/// `12.3`, and `<0.1` for what is more than nothing.
[[nodiscard]] std::string share_text(double percent);
/// `2.100 s`.
[[nodiscard]] std::string seconds_text(double seconds);
/// `at event 1,234`, or `before the first event`.
[[nodiscard]] std::string event_text(std::int64_t event);
/// `0, 1, 3`.
[[nodiscard]] std::string device_list_text(std::vector<std::int32_t> const& devices);

}  // namespace memreplay::writers
