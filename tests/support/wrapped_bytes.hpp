// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Wraps bytes as files in the wild are wrapped: compressed, in a zip, in a page.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memreplay::testing {

/// `filter`: "gzip", "zstd", "bzip2" or "xz".
[[nodiscard]] std::string compressed(std::string_view content, char const* filter);
/// Members (path, content), deflated.
[[nodiscard]] std::string zip_of(std::vector<std::pair<std::string, std::string>> const& members);
[[nodiscard]] std::string base64_of(std::string_view content);
/// A page like those of torch.cuda._memory_viz, with one embedded file for each content.
[[nodiscard]] std::string page_of(std::vector<std::string> const& contents);

}  // namespace memreplay::testing
