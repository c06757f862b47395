// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The subcommands and their options.
#include "cli/request.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <memory>

#include "cli/failure.hpp"
#include "cli/version.hpp"

namespace memreplay::cli {
namespace {

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

void add_report_options(CLI::App& app, common_request& common, std::int64_t& top,
                        raw_options& raw) {
  std::string const peaks = "Peaks";
  app.add_option("--top-n", common.plan.peak_count, "distinct peaks (6)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->group(peaks);
  app.add_option("--top-contributors", top, "rows of each table, 0 = all (15)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 32))
      ->group(peaks);
  app.add_option("--dedup-pct", raw.dedup_pct,
                 "drop a peak within this many percent of a larger one (3)")
      ->type_name("PCT")
      ->check(number_between(0, 100))
      ->group(peaks);
  app.add_option("--min-sep-ms", raw.min_sep_ms, "drop a peak closer than this to a larger one (0)")
      ->type_name("MS")
      ->check(number_between(0, 1e12))
      ->group(peaks);
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

/// The whole tree of commands over the variables it fills.
struct command_line {
  CLI::App app{"Says which lines of code hold the GPU memory in a PyTorch memory snapshot.",
               "memreplay"};
  request asked;
  raw_options raw;
  CLI::App* report = nullptr;
  CLI::App* info = nullptr;
  CLI::App* completion = nullptr;

  command_line() {
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("memreplay ") + version);
    app.get_formatter()->column_width(34);

    report = app.add_subcommand("report", "peaks and who holds them, as markdown");
    report->add_option("snapshot", asked.inputs, "snapshot file, - is standard input")
        ->required()
        ->expected(1)
        ->type_name("SNAPSHOT");
    add_report_options(*report, asked.common, asked.top, raw);
    add_common_options(*report, asked.common, raw);

    info = app.add_subcommand("info", "what is in a snapshot: settings, memory, events, audit");
    info->add_option("snapshots", asked.inputs, "snapshot files, - is standard input")
        ->required()
        ->type_name("SNAPSHOT...");
    info->add_option("--top", asked.top, "rows of the table of sites, 0 = all (15)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 32));
    add_common_options(*info, asked.common, raw);

    completion = app.add_subcommand("completion", "print a completion script for a shell");
    completion->add_option("shell", asked.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
  }
  command_line(command_line const&) = delete;
  command_line& operator=(command_line const&) = delete;
};

void resolve(command_line& line) {
  request& asked = line.asked;
  asked.what = line.report->parsed() ? command::report
               : line.info->parsed() ? command::info
                                     : command::completion;
  asked.common.plan.dedup_ppm = std::llround(line.raw.dedup_pct * 10'000);
  asked.common.plan.min_separation_us = std::llround(line.raw.min_sep_ms * 1000);
  if (line.raw.site == "project") asked.common.site.rule = site_rule::project;
  if (line.raw.site == "user") asked.common.site.rule = site_rule::user;
  for (std::string const& map : line.raw.path_maps) {
    std::size_t const equals = map.find('=');
    asked.common.site.path_map.emplace_back(map.substr(0, equals), map.substr(equals + 1));
  }
  if (asked.what == command::info) {
    asked.common.plan.throughput = true;
    if (!asked.common.site.rule) asked.common.site.rule = site_rule::user;
  }
  if (asked.common.site.links == link_style::github && asked.common.site.repo_url.empty()) {
    throw CLI::ValidationError("--link-style github", "needs --repo-url");
  }
}

std::string join(std::vector<std::string> const& words) {
  std::string joined;
  for (std::string const& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::vector<std::string> option_names(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::Option const* option : app.get_options()) {
    for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

parsed parse_command_line(std::vector<std::string> const& arguments) {
  command_line line;
  parsed result;
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    line.app.parse(reversed);
    resolve(line);
  } catch (CLI::CallForHelp const&) {
    CLI::App const* const asked = line.report->parsed()       ? line.report
                                  : line.info->parsed()       ? line.info
                                  : line.completion->parsed() ? line.completion
                                                              : &line.app;
    result.text = asked->help(asked == &line.app ? "" : "memreplay");
    return result;
  } catch (CLI::CallForVersion const&) {
    result.text = std::string("memreplay ") + version + "\n";
    return result;
  } catch (CLI::ParseError const& problem) {
    result.text =
        one_line(fmt::format("memreplay: {}; see memreplay --help", problem.what())) + "\n";
    result.is_error = true;
    return result;
  }
  result.is_request = true;
  result.asked = std::move(line.asked);
  return result;
}

std::string completion_script(std::string const& shell) {
  command_line const line;
  std::vector<std::string> commands;
  std::string cases;
  std::string fish;
  for (CLI::App const* sub : line.app.get_subcommands({})) {
    std::string const name = sub->get_name();
    commands.push_back(name);
    cases += fmt::format("    {}) words=\"{}\" ;;\n", name, join(option_names(*sub)));
    fish += fmt::format("complete -c memreplay -n __fish_use_subcommand -a {} -d '{}'\n", name,
                        sub->get_description());
    for (std::string const& option : option_names(*sub)) {
      fish += fmt::format("complete -c memreplay -n '__fish_seen_subcommand_from {}' -l {}\n", name,
                          option.substr(2));
    }
  }
  if (shell == "fish") return fish;
  std::string script = shell == "zsh" ? "autoload -Uz bashcompinit && bashcompinit\n" : "";
  script += fmt::format(
      "_memreplay() {{\n"
      "  local words=\"{} --help --version\" current=\"${{COMP_WORDS[COMP_CWORD]}}\"\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}"
      "  esac\n"
      "  [ \"$COMP_CWORD\" -gt 1 ] && [ \"${{current#-}}\" = \"$current\" ] && return\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _memreplay memreplay\n",
      join(commands), cases);
  return script;
}

}  // namespace memreplay::cli
