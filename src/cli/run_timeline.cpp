// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `timeline`: one page, or one picture, of the memory of one or more runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>
#include <string>
#include <vector>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"

namespace memreplay::cli {
namespace {

/// The files' names, or all their paths where two names are equal.
std::vector<std::string> label_runs(request const& asked) {
  if (!asked.labels.empty()) return asked.labels;
  std::vector<std::string> names;
  for (std::string const& path : asked.inputs)
    names.push_back(path == "-" ? path : std::filesystem::path(path).filename().string());
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end() ? names : asked.inputs;
}

/// Reads and replays one file, and forgets all of it that is not drawn.
timeline_run draw(std::string const& path, std::string const& label, request const& asked) {
  common_request const& common = asked.common;
  opened file = open_snapshot(path, common);
  auto const shares = static_cast<std::int64_t>(asked.inputs.size() * file.devices.size());
  timeline_options const drawn{.label = label,
                               .budget = share_of(timeline_budget{}, shares),
                               .precision_ms = asked.precision_ms};
  bool const is_page = common.json || asked.picture == picture_format::html;
  replay_result const replayed =
      replay_devices(file, [&](snapshot const& input, std::int32_t device) {
        return is_page ? plan_timeline(input, device, drawn, common.plan)
                       : plan_timeline_picture(common.plan);
      });
  return make_timeline(file.input, replayed, common.plan, drawn,
                       {.site = common.site, .top_contributors = 1}, path);
}

std::string write(timeline_report const& model, request const& asked) {
  if (asked.common.json) return write_timeline_json(model);
  return asked.picture == picture_format::svg ? write_timeline_svg(model)
                                              : write_timeline_page(model);
}

std::string choose_path(request const& asked) {
  std::string const& first = asked.inputs.front();
  if (!asked.common.out.empty()) return asked.common.out;
  if (asked.common.json || first == "-") return "-";
  return default_timeline_path(first, asked.picture == picture_format::svg ? ".svg" : ".html");
}

}  // namespace

exit_status run_timeline(request const& asked) {
  common_request const& common = asked.common;
  bool const is_svg = asked.picture == picture_format::svg;
  if (!common.json && !is_svg && !has_timeline_page()) {
    throw error(error_code::bad_request, "this build of memreplay has no page",
                "it is made with npm: have npm, run cmake again and build; --format svg and "
                "--json do without");
  }
  std::vector<std::string> const labels = label_runs(asked);
  timeline_report model;
  model.program = std::string("memreplay ") + version;
  for (std::size_t row = 0; row < asked.inputs.size(); ++row) {
    std::string const& path = asked.inputs[row];
    model.runs.push_back(naming_file(path, [&] { return draw(path, labels[row], asked); }));
  }
  std::string const content = write(model, asked);
  std::string const out = choose_path(asked);
  if (out == "-") {
    write_standard_output(content);
    return exit_status::done;
  }
  write_file(out, content,
             common.json ? timeline_schema_version
             : is_svg    ? timeline_svg_signature
                         : timeline_page_signature,
             common.force);
  if (!common.quiet) fmt::print(stderr, "Wrote {}\n", out);
  return exit_status::done;
}

}  // namespace memreplay::cli
