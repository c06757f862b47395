// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, as CLI11 takes them.
#include "cli/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace memreplay::cli {

CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& word) {
        double number = 0;
        bool const is_number = CLI::detail::lexical_cast(word, number);
        return is_number && number >= low && number <= high
                   ? std::string{}
                   : fmt::format("'{}' is not a number from {} to {}", word, low, high);
      },
      "", "number");
}

std::optional<std::int64_t> parse_bytes(std::string const& text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  // CLI11 knows the units, but reads whole numbers only.
  std::size_t const point = text.find('.');
  std::size_t const unit = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string one = (point == text.npos ? text.substr(0, unit) : "1") + text.substr(unit);
  std::uint64_t bytes = 0;
  try {
    bool const is_size = unit > 0 && text.front() != '.' && CLI::AsSizeValue(false)(one).empty() &&
                         CLI::detail::lexical_cast(one, bytes);
    if (!is_size) return std::nullopt;
  } catch (CLI::ParseError const&) {
    return std::nullopt;
  }
  if (bytes > most) return std::nullopt;
  if (point == text.npos) return static_cast<std::int64_t>(bytes);
  double number = 0;
  if (!CLI::detail::lexical_cast(text.substr(0, unit), number)) return std::nullopt;
  number *= static_cast<double>(bytes);
  if (number > static_cast<double>(most)) return std::nullopt;
  return std::llround(number);
}

void add_common_options(CLI::App& app, common_request& common, raw_options& raw) {
  std::string const what = "What is counted";
  add_choice<measure>(app, "--measure", common.plan.what,
                      {{"allocated", measure::allocated},
                       {"active", measure::active},
                       {"reserved", measure::reserved}},
                      "bytes until the first free, until the free completes, or of segments")
      ->group(what);
  add_choice<size_basis>(app, "--sizes", common.plan.sizes,
                         {{"requested", size_basis::requested}, {"block", size_basis::block}},
                         "bytes asked for, or of the allocator's blocks")
      ->group(what);
  add_choice<carried_in>(app, "--carried-in", common.plan.older,
                         {{"include", carried_in::include}, {"ignore", carried_in::ignore}},
                         "memory older than the trace")
      ->group(what);
  app.add_option("--device", common.device,
                 "trace to analyse: an ordinal, busiest or all (busiest)")
      ->type_name("N|busiest|all")
      ->check(CLI::Validator(
          [](std::string& word) {
            bool const is_number = !word.empty() && word.size() <= 5 &&
                                   word.find_first_not_of("0123456789") == std::string::npos;
            return is_number || word == "busiest" || word == "all"
                       ? std::string{}
                       : fmt::format("'{}' is not a device: give a number, busiest or all", word);
          },
          "", "device"))
      ->group(what);

  std::string const sites = "Sites";
  app.add_option("--site", raw.site,
                 "rule that picks the frame to blame: project = innermost below --project-root, "
                 "user = innermost that is not PyTorch's or Python's")
      ->type_name("project|user")
      ->check(CLI::IsMember({"project", "user"}))
      ->group(sites);
  app.add_option("--project-root", common.site.project_root, "your code (current directory)")
      ->type_name("DIR")
      ->group(sites);
  app.add_option("--frame-depth", common.site.frame_depth, "frames of a user site (1)")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->group(sites);
  app.add_option("--path-map", raw.path_maps,
                 "paths of the recording machine to local ones; repeatable")
      ->type_name("OLD=NEW")
      ->check(CLI::Validator(
          [](std::string& word) {
            return word.find('=') == std::string::npos || word.front() == '='
                       ? fmt::format("'{}' is not OLD=NEW", word)
                       : std::string{};
          },
          "", "path map"))
      ->allow_extra_args(false)  // else it would take the snapshot that follows
      ->group(sites);
  app.add_flag("--redact", common.site.redact,
               "shorten paths outside the project, hide home directories")
      ->group(sites);

  std::string const running = "Running";
  add_choice<backend_choice>(app, "--backend", common.plan.backend,
                             {{"auto", backend_choice::automatic},
                              {"host", backend_choice::host},
                              {"cuda", backend_choice::cuda}},
                             "where the replay runs")
      ->group(running);
  app.add_option("--threads", common.threads, "host threads (all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group(running);
  app.add_flag("--salvage", common.salvage, "read a file that is cut off up to the cut")
      ->group(running);
  app.add_flag("--json", common.json, "JSON instead of text (docs/report-schema.md)")
      ->group(running);
  app.add_option("--out", common.out, "file to write; - is standard output")
      ->type_name("FILE")
      ->group(running);
  app.add_flag("--force", common.force, "overwrite a file that memreplay did not write")
      ->group(running);
  app.add_flag("--quiet", common.quiet, "no progress, no notes")->group(running);
}

void add_link_options(CLI::App& app, common_request& common) {
  std::map<std::string, link_style> const styles = {{"vscode", link_style::vscode},
                                                    {"cursor", link_style::cursor},
                                                    {"github", link_style::github},
                                                    {"file", link_style::file},
                                                    {"none", link_style::none}};
  std::string const links = "Links";
  add_choice(app, "--link-style", common.site.links, styles, "links of the sites")->group(links);
  app.add_option("--repo-url", common.site.repo_url, "repository of github links")
      ->type_name("URL")
      ->group(links);
  app.add_option("--commit", common.site.commit,
                 "commit of github links (HEAD of the project root)")
      ->type_name("REV")
      ->group(links);
}

void add_top_option(CLI::App& app, std::int64_t& top, std::int64_t preset) {
  app.add_option("--top", top, fmt::format("rows of each table, 0 = all ({})", preset))
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 32));
}

void add_format_option(CLI::App& app, common_request& common) {
  add_choice<text_format>(app, "--format", common.format,
                          {{"text", text_format::text}, {"markdown", text_format::markdown}},
                          "how it is printed")
      ->group("Running");
}

}  // namespace memreplay::cli
