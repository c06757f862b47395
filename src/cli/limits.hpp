// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Limits as the user writes them: `5%`, `+64MiB`, `70GiB`, and names before them.
#pragma once

#include <memreplay/check_report.hpp>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memreplay::cli {

/// Throws CLI::ValidationError. Units are binary, with or without the `i`.
[[nodiscard]] memory_limit parse_limit(std::string const& word);

/// A limit of growth: `5%` or `+64MiB`.
void add_growth_option(CLI::App& app, std::string const& name, std::optional<memory_limit>& target,
                       std::string const& help);
/// `--limit NAME=LIMIT`, repeatable.
void add_named_limits_option(CLI::App& app,
                             std::vector<std::pair<std::string, memory_limit>>& target);

}  // namespace memreplay::cli
