// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, as CLI11 takes them.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/request.hpp"

namespace memreplay::cli {

/// Values as the user writes them, turned into the plan's integers once the command line is
/// complete.
struct raw_options {
  double dedup_pct = 3.0;
  double min_sep_ms = 0.0;
  std::vector<std::string> path_maps;
  std::string site;
};

template <class EnumT>
CLI::Option* add_choice(CLI::App& app, std::string const& name, EnumT& target,
                        std::map<std::string, EnumT> const& words, std::string const& help) {
  std::string choices;
  for (auto const& [word, value] : words) choices += (choices.empty() ? "" : "|") + word;
  std::string preset;
  for (auto const& [word, value] : words) {
    if (value == target) preset = word;
  }
  return app
      .add_option_function<std::string>(
          name, [&target, words](std::string const& word) { target = words.at(word); },
          fmt::format("{} ({})", help, preset))
      ->type_name(choices)
      ->check(CLI::Validator(
          [words, choices](std::string& word) {
            return words.contains(word) ? std::string{}
                                        : fmt::format("'{}' is not one of {}", word, choices);
          },
          "", "choice"));
}

/// Unlike CLI::Range, without "nan".
[[nodiscard]] CLI::Validator number_between(double low, double high);

/// `2GiB`, `1.5 GB`, `512M` or plain bytes, to the nearest byte; units are binary. Unset when the
/// text is something else, or more than 2^62.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string const& text);

/// What every analysing command takes.
void add_common_options(CLI::App& app, common_request& common, raw_options& raw);
/// How sites are linked.
void add_link_options(CLI::App& app, common_request& common);
/// `--top`: rows of each table, 0 = all.
void add_top_option(CLI::App& app, std::int64_t& top, std::int64_t preset);
/// `--format text|markdown`.
void add_format_option(CLI::App& app, common_request& common);

}  // namespace memreplay::cli
