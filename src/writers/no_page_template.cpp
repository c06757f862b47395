// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Stands in for the page in a build that had no npm.
#include "writers/page_template.hpp"

namespace memreplay::writers {

std::string_view page_template() noexcept { return {}; }

}  // namespace memreplay::writers
