// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// No page: what a build without npm links in its place.
#include "writers/page_template.hpp"

namespace memreplay::writers {

std::string_view page_template() noexcept { return {}; }

}  // namespace memreplay::writers
