// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The page of `memreplay timeline`, as bundled when the program was built.
#pragma once

#include <string_view>

namespace memreplay::writers {

/// HTML in which `@PAGE_DATA@` stands once, inside an element of type `application/json`: there the
/// data of docs/page-data.md belong, every `<` of them written as `\u003c`. Empty in a build
/// without npm.
[[nodiscard]] std::string_view page_template() noexcept;

}  // namespace memreplay::writers
