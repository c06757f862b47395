// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A command line, recorded and checked: what the user asked for, before any file is touched.
#pragma once

#include <memreplay/check_report.hpp>
#include <memreplay/plan.hpp>
#include <memreplay/questions.hpp>
#include <memreplay/report.hpp>
#include <memreplay/write_report.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memreplay::cli {

enum class command {
  report,
  info,
  compare,
  at,
  steps,
  leaks,
  segments,
  oom,
  check,
  timeline,
  completion
};

/// What `timeline` writes.
enum class picture_format { html, svg };

/// Options that every analysing command takes.
struct common_request {
  replay_plan plan;
  site_options site;
  std::string device = "busiest";  ///< "busiest", "all" or an ordinal
  int threads = 0;                 ///< 0 = all cores
  bool json = false;
  text_format format = text_format::text;  ///< of commands that have both
  bool salvage = false;
  bool quiet = false;
  bool force = false;
  std::string out;  ///< empty: the command's default; "-": standard output
};

struct request {
  command what = command::report;
  std::vector<std::string> inputs;
  common_request common;
  std::int64_t top = 15;                ///< rows of a table, 0 = all
  moment_request moment;                ///< `at`, `segments`
  span_request spans;                   ///< `steps`, `leaks`, `compare`
  std::optional<std::int64_t> step;     ///< `steps`, `compare`: the one to look into
  bool all_steps = false;               ///< `steps`
  site_match match = site_match::site;  ///< `compare`, `at`
  failed_request failed;                ///< `oom`
  std::string svg;                      ///< `report`: picture to write, empty = none
  std::vector<std::string> labels;      ///< `timeline`: of the runs, else the files' names
  picture_format picture = picture_format::html;  ///< `timeline`
  std::optional<double> precision_ms;             ///< `timeline`
  std::string shell;                              ///< `completion`
  check_limits limits;                            ///< `check`
  std::string baseline;                           ///< `check`: file to compare with, empty = none
  std::string new_baseline;                       ///< `check`: file to write, empty = none
};

/// What parsing a command line came to: a request, or a text to print and a status to leave with.
struct parsed {
  bool is_request = false;
  request asked;
  std::string text;
  bool is_error = false;  ///< `text` belongs on standard error, the status is 2
};

[[nodiscard]] parsed parse_command_line(std::vector<std::string> const& arguments);

/// A completion script for bash, zsh or fish, made from the same tables that parse the command
/// line.
[[nodiscard]] std::string completion_script(std::string const& shell);

}  // namespace memreplay::cli
