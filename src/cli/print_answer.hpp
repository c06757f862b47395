// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Where the answer of a command goes: standard output, or the file of --out.
#pragma once

#include <string>

#include "cli/request.hpp"

namespace memreplay::cli {

/// `schema` marks a file of JSON as ours, `signature` one of text or markdown.
void print_answer(std::string const& content, common_request const& common, char const* schema,
                  char const* signature);

}  // namespace memreplay::cli
