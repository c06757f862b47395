// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Parsing of limits.
#include "cli/limits.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cli/options.hpp"

namespace memreplay::cli {
namespace {

constexpr char const* group = "Limits";

[[noreturn]] void refuse(std::string const& word) {
  throw CLI::ValidationError(fmt::format("'{}'", word),
                             "is no limit: give 5% or +64MiB for growth, or a cap such as 70GiB");
}

std::int64_t parse_size(std::string const& word, std::string const& whole) {
  std::optional<std::int64_t> const bytes = parse_bytes(word);
  if (!bytes) refuse(whole);
  return *bytes;
}

}  // namespace

memory_limit parse_limit(std::string const& word) {
  memory_limit made;
  made.text = word;
  if (word.ends_with('%')) {
    std::string percent = word.substr(0, word.size() - 1);
    if (percent.starts_with('+')) percent.erase(0, 1);
    if (!number_between(0, 1e6)(percent).empty()) refuse(word);
    made.how = memory_limit::kind::percent;
    made.amount = std::llround(std::stod(percent) * 10'000);
  } else if (word.starts_with('+')) {
    made.how = memory_limit::kind::growth_bytes;
    made.amount = parse_size(word.substr(1), word);
  } else {
    made.how = memory_limit::kind::cap_bytes;
    made.amount = parse_size(word, word);
  }
  return made;
}

void add_growth_option(CLI::App& app, std::string const& name, std::optional<memory_limit>& target,
                       std::string const& help) {
  app.add_option_function<std::string>(
         name,
         [&target, name](std::string const& word) {
           memory_limit const limit = parse_limit(word);
           if (limit.is_cap()) {
             throw CLI::ValidationError(
                 name, fmt::format("'{}' is a cap: growth is 5% or +64MiB, caps belong to --limit",
                                   word));
           }
           target = limit;
         },
         help)
      ->type_name("LIMIT")
      ->group(group);
}

void add_named_limits_option(CLI::App& app,
                             std::vector<std::pair<std::string, memory_limit>>& target) {
  app.add_option_function<std::vector<std::string>>(
         "--limit",
         [&target](std::vector<std::string> const& words) {
           for (std::string const& word : words) {
             // The last one: names of sites may hold others.
             std::size_t const equals = word.rfind('=');
             if (equals == std::string::npos || equals == 0) {
               throw CLI::ValidationError("--limit", fmt::format("'{}' is not NAME=LIMIT", word));
             }
             target.emplace_back(word.substr(0, equals), parse_limit(word.substr(equals + 1)));
           }
         },
         "of one measure (peak, reserved, end, max_memory_allocated) or site: a growth in place of "
         "the two above, or a cap (70GiB) beside them; repeatable")
      ->type_name("NAME=LIMIT")
      ->allow_extra_args(false)  // else it would take the snapshot that follows
      ->group(group);
}

}  // namespace memreplay::cli
