// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The subcommands and their options.
#include "cli/request.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cli/failure.hpp"
#include "cli/limits.hpp"
#include "cli/options.hpp"
#include "cli/version.hpp"

namespace memreplay::cli {
namespace {

constexpr int any_number = 1 << 20;

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
  add_link_options(app, common);
}

using span_words = std::map<std::string, span_request::kind>;

/// `--by`: a word, or the name of an annotation.
void add_span_option(CLI::App& app, span_request& spans, span_words const& words,
                     std::string const& help) {
  std::string choices;
  for (auto const& [word, kind] : words) choices += word + "|";
  app.add_option_function<std::string>(
         "--by",
         [&spans, words](std::string const& word) {
           auto const known = words.find(word);
           spans.by = known == words.end() ? span_request::kind::annotation : known->second;
           spans.name = known == words.end() ? word : std::string{};
         },
         help)
      ->type_name(choices + "NAME");
}

void add_bytes_option(CLI::App& app, std::string const& name, std::optional<std::int64_t>& target,
                      std::string const& help) {
  app.add_option_function<std::string>(
         name,
         [&target, name](std::string const& word) {
           target = parse_bytes(word);
           if (!target || *target == 0) {
             throw CLI::ValidationError(
                 name, fmt::format("'{}' is no size: give bytes or 1.5GiB, up to 4EiB", word));
           }
         },
         help)
      ->type_name("SIZE");
}

/// The whole tree of commands over the variables it fills.
struct command_line {
  CLI::App app{"Says which lines of code hold the GPU memory in a PyTorch memory snapshot.",
               "memreplay"};
  request asked;
  raw_options raw;
  std::vector<std::pair<CLI::App*, command>> commands;

  command_line() {
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("memreplay ") + version);
    app.get_formatter()->column_width(34);
    add_report();
    add_info();
    add_compare();
    add_at();
    add_steps();
    add_leaks();
    add_segments();
    add_oom();
    add_check();
    add_timeline();
    add_completion();
  }
  command_line(command_line const&) = delete;
  command_line& operator=(command_line const&) = delete;

  /// The subcommand that was named, null when none was.
  [[nodiscard]] std::pair<CLI::App*, command> const* parsed_command() const {
    for (auto const& entry : commands) {
      if (entry.first->parsed()) return &entry;
    }
    return nullptr;
  }

 private:
  CLI::App& add(command what, std::string const& name, std::string const& help) {
    commands.emplace_back(app.add_subcommand(name, help), what);
    return *commands.back().first;
  }

  /// A command that reads `least` to `most` snapshots.
  CLI::App& add_over_snapshots(command what, std::string const& name, std::string const& help,
                               int least, int most) {
    CLI::App& made = add(what, name, help);
    bool const is_one = most == 1;
    made.add_option(
            is_one ? "snapshot" : "snapshots", asked.inputs,
            is_one ? "snapshot file, - is standard input" : "snapshot files, - is standard input")
        ->required()
        ->expected(least, most)
        ->type_name(is_one       ? "SNAPSHOT"
                    : least == 1 ? "SNAPSHOT..."
                                 : "A B");
    return made;
  }

  /// What commands that print one answer take.
  void add_answer_options(CLI::App& made, std::int64_t top) {
    // All commands share the variable, so the preset is written down when the command is parsed.
    std::int64_t* const rows = &asked.top;
    made.preparse_callback([rows, top](std::size_t) { *rows = top; });
    add_top_option(made, asked.top, top);
    add_format_option(made, asked.common);
    add_link_options(made, asked.common);
    add_common_options(made, asked.common, raw);
    made.get_option("--json")->excludes(made.get_option("--format"));
  }

  void add_report() {
    CLI::App& made = add_over_snapshots(command::report, "report",
                                        "peaks and who holds them, as markdown", 1, 1);
    add_report_options(made, asked.common, asked.top, raw);
    made.add_option("--svg", asked.svg,
                    "draw the curve into this file as well, and show it in the markdown")
        ->type_name("FILE");
    add_common_options(made, asked.common, raw);
  }

  void add_info() {
    CLI::App& made =
        add_over_snapshots(command::info, "info",
                           "what is in a snapshot: settings, memory, events, audit", 1, any_number);
    add_top_option(made, asked.top, asked.top);
    add_common_options(made, asked.common, raw);
  }

  void add_compare() {
    CLI::App& made = add_over_snapshots(command::compare, "compare",
                                        "why B peaks higher than A, site by site", 2, 2);
    add_span_option(
        made, asked.spans,
        {{"steps", span_request::kind::steps},
         {"time", span_request::kind::time},
         {"whole", span_request::kind::whole}},
        "what is set side by side: profiler steps, windows of equal time, whole traces, "
        "or the ranges of an annotation (steps if both have the same, else whole)");
    made.add_option("--step", asked.step,
                    "look into this step, range or window (largest difference)")
        ->type_name("N");
    add_choice<site_match>(made, "--match", asked.match,
                           {{"site", site_match::site},
                            {"function", site_match::function},
                            {"file", site_match::file}},
                           "what makes two sites the same");
    add_answer_options(made, 15);
  }

  /// Which moment; `asked.moment` stays what it is when none is named.
  CLI::Option_group* add_moment_options(CLI::App& made) {
    CLI::Option_group* const when = made.add_option_group("When", "one of these");
    when->add_option_function<double>(
            "--time",
            [this](double seconds) {
              asked.moment = {moment_request::kind::time, seconds, 0};
            },
            "seconds since the first event")
        ->type_name("S")
        ->check(number_between(-1e12, 1e12));
    when->add_option_function<std::int64_t>(
            "--event",
            [this](std::int64_t event) {
              asked.moment = {moment_request::kind::event, 0.0, event};
            },
            "after this event, counted from 0")
        ->type_name("N");
    when->add_option_function<std::int64_t>(
            "--peak",
            [this](std::int64_t rank) {
              asked.moment = {moment_request::kind::peak, 0.0, rank};
            },
            "at the K-th largest peak, 1 is the largest")
        ->type_name("K")
        ->check(CLI::Range(1, 1000));
    when->add_flag_callback(
        "--end",
        [this] {
          asked.moment = {moment_request::kind::end, 0.0, 0};
        },
        "after the last event");
    return when;
  }

  void add_at() {
    CLI::App& made = add_over_snapshots(
        command::at, "at", "what is live at a moment, and the difference to a second snapshot", 1,
        2);
    add_moment_options(made)->require_option(1);
    add_choice<site_match>(made, "--match", asked.match,
                           {{"site", site_match::site},
                            {"function", site_match::function},
                            {"file", site_match::file}},
                           "what makes two sites of two snapshots the same");
    add_answer_options(made, 25);
  }

  void add_steps() {
    CLI::App& made =
        add_over_snapshots(command::steps, "steps",
                           "what each step allocates, where it peaks and who is live there", 1, 1);
    add_span_option(
        made, asked.spans,
        {{"steps", span_request::kind::steps},
         {"auto", span_request::kind::period},
         {"time", span_request::kind::time},
         {"whole", span_request::kind::whole}},
        "what a step is: a profiler step, a repetition of the curve (auto), a window of "
        "time, or a range of the annotation NAME (steps)");
    CLI::Option* const one =
        made.add_option("--step", asked.step, "show who is live in this step (the highest)")
            ->type_name("N");
    made.add_flag("--all-steps", asked.all_steps, "show who is live in every step")->excludes(one);
    add_answer_options(made, 15);
  }

  void add_leaks() {
    CLI::App& made = add_over_snapshots(command::leaks, "leaks",
                                        "sites whose live bytes grow from step to step", 1, 1);
    add_span_option(made, asked.spans,
                    {{"steps", span_request::kind::steps},
                     {"auto", span_request::kind::period},
                     {"time", span_request::kind::time}},
                    "what a step is, as for the command steps (steps, else what repeats, else "
                    "windows of equal time)");
    add_answer_options(made, 15);
  }

  void add_segments() {
    CLI::App& made = add_over_snapshots(
        command::segments, "segments",
        "what lies where at a moment: segments, their holes, and who owns the rest", 1, 1);
    add_moment_options(made)->require_option(0, 1);
    add_answer_options(made, 25);
  }

  void add_oom() {
    CLI::App& made =
        add_over_snapshots(command::oom, "oom", "what ran out of memory, and why", 1, 1);
    failed_request& failed = asked.failed;
    add_bytes_option(made, "--request", failed.bytes,
                     "the request that failed (size of the oom event)");
    made.add_option("--stream", failed.stream, "its stream, as the file spells it (0)")
        ->type_name("N");
    add_bytes_option(made, "--capacity", failed.capacity_bytes,
                     "the device's memory, which the file does not tell");
    made.add_option("--event", failed.event, "look after this event (the last oom, else the end)")
        ->type_name("N");
    add_answer_options(made, 15);
  }

  void add_check() {
    CLI::App& made =
        add_over_snapshots(command::check, "check",
                           "a gate for CI: does memory hold its limits and its baseline", 1, 1);
    std::string const limits = "Limits";
    made.add_option("--baseline", asked.baseline, "numbers of an earlier run to compare with")
        ->type_name("FILE")
        ->group(limits);
    made.add_option("--write-baseline", asked.new_baseline,
                    "keep the numbers of this run, unless a limit is exceeded")
        ->type_name("FILE")
        ->group(limits);
    add_growth_option(made, "--max-growth", asked.limits.every_measure,
                      "of every measure over the baseline: 5% or +64MiB (5% with --baseline)");
    add_growth_option(made, "--max-site-growth", asked.limits.every_site,
                      "of every site at the peak over the baseline; a new site grew from 0 (none)");
    add_named_limits_option(made, asked.limits.named);
    add_answer_options(made, 15);
  }

  void add_timeline() {
    CLI::App& made = add_over_snapshots(command::timeline, "timeline",
                                        "one page to look through the memory of one or more runs",
                                        1, any_number);
    made.add_option("-o,--output", asked.common.out,
                    "file to write, as --out (MEM_TIMELINE_<snapshot>.html beside the snapshot)")
        ->type_name("FILE");
    made.add_option("--labels", asked.labels, "names of the runs (those of the files)")
        ->delimiter(',')
        ->type_name("A,B,...");
    add_choice<picture_format>(
        made, "--format", asked.picture,
        {{"html", picture_format::html}, {"svg", picture_format::svg}},
        "a page that opens offline, or a picture of the curves; --json is the page's data alone");
    made.add_option("--precision", asked.precision_ms,
                    "width of the curves' buckets, which keep every extreme (as fine as a page "
                    "of 8 MB allows)")
        ->type_name("MS")
        ->check(number_between(1e-6, 1e12));
    add_link_options(made, asked.common);
    add_common_options(made, asked.common, raw);
  }

  void add_completion() {
    CLI::App& made =
        add(command::completion, "completion", "print a completion script for a shell");
    made.add_option("shell", asked.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
  }
};

void resolve_check(request& asked) {
  check_limits& limits = asked.limits;
  bool const has_baseline = !asked.baseline.empty();
  bool const asks_growth =
      limits.every_measure || limits.every_site ||
      std::ranges::any_of(limits.named, [](auto const& named) { return !named.second.is_cap(); });
  if (!has_baseline && asks_growth) {
    throw CLI::ValidationError("check", "a limit of growth needs --baseline");
  }
  if (!has_baseline && limits.named.empty() && asked.new_baseline.empty()) {
    throw CLI::ValidationError(
        "check",
        "nothing to check: give --baseline FILE (made with --write-baseline FILE), or a cap such "
        "as --limit peak=70GiB");
  }
  if (limits.every_site && asked.common.plan.what == measure::reserved) {
    throw CLI::ValidationError("--max-site-growth", "--measure reserved has no sites");
  }
  if (has_baseline && !limits.every_measure) limits.every_measure = parse_limit("5%");
  asked.common.plan.peak_count = 1;
  asked.common.plan.timeline_width = 0;
}

void resolve_timeline(request const& asked) {
  if (!asked.labels.empty() && asked.labels.size() != asked.inputs.size()) {
    throw CLI::ValidationError("--labels", fmt::format("{} labels for {} snapshots",
                                                       asked.labels.size(), asked.inputs.size()));
  }
  if (asked.common.json && asked.picture == picture_format::svg) {
    throw CLI::ValidationError("--format svg", "is no JSON: leave out --json");
  }
}

void resolve(command_line& line) {
  request& asked = line.asked;
  asked.what = line.parsed_command()->second;
  asked.common.plan.dedup_ppm = std::llround(line.raw.dedup_pct * 10'000);
  asked.common.plan.min_separation_us = std::llround(line.raw.min_sep_ms * 1000);
  if (line.raw.site == "project") asked.common.site.rule = site_rule::project;
  if (line.raw.site == "user") asked.common.site.rule = site_rule::user;
  for (std::string const& map : line.raw.path_maps) {
    std::size_t const equals = map.find('=');
    asked.common.site.path_map.emplace_back(map.substr(0, equals), map.substr(equals + 1));
  }
  asked.common.plan.throughput = asked.what == command::info;
  if (asked.what != command::report && !asked.common.site.rule) {
    asked.common.site.rule = site_rule::user;
  }
  if (asked.common.site.links == link_style::github && asked.common.site.repo_url.empty()) {
    throw CLI::ValidationError("--link-style github", "needs --repo-url");
  }
  if (std::ranges::count(asked.inputs, "-") > 1) {
    throw CLI::ValidationError("-", "standard input can be read only once");
  }
  if (asked.what == command::leaks && asked.common.plan.what == measure::reserved) {
    throw CLI::ValidationError("leaks", "--measure reserved has no sites that could grow");
  }
  if (asked.what == command::check) resolve_check(asked);
  if (asked.what == command::timeline) resolve_timeline(asked);
  if (asked.svg == "-") {
    throw CLI::ValidationError("--svg",
                               "needs the name of a file; memreplay timeline --format svg "
                               "-o - writes to standard output");
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
    auto const* const named = line.parsed_command();
    CLI::App const* const asked = named == nullptr ? &line.app : named->first;
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
