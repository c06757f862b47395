// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Foreign text inside markdown: shown as it is, whatever it contains.
#pragma once

#include <string>
#include <string_view>

namespace memreplay::writers {

/// One line that renders as `text` also inside a table cell or a link, and never as markup or HTML.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// The same where a block begins, without blanks around it: it opens no list, heading or code.
[[nodiscard]] std::string markdown_paragraph(std::string_view text);

/// `[text](url)`, or the text alone without URL. The URL is percent-encoded already.
[[nodiscard]] std::string markdown_link(std::string_view text, std::string_view url);

/// `![text](file)` for the name of a file, with `/` between its folders.
[[nodiscard]] std::string markdown_image(std::string_view text, std::string_view file);

}  // namespace memreplay::writers
