// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `report`: the peaks of one snapshot, in markdown or JSON.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>
#include <string>
#include <system_error>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace memreplay::cli {

namespace {

namespace fs = std::filesystem;

/// The picture as seen from the folder of the report; as given where there is none.
std::string picture_from(std::string const& picture, std::string const& report) {
  if (picture.empty() || report == "-") return picture;
  std::error_code failed;
  fs::path const folder = fs::absolute(report, failed).parent_path();
  fs::path const seen = fs::absolute(picture, failed).lexically_relative(folder);
  return failed || seen.empty() ? picture : seen.generic_string();
}

}  // namespace

exit_status run_report(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  bool const has_picture = !asked.svg.empty();
  replay_plan const plan = has_picture ? plan_timeline_picture(common.plan) : common.plan;
  analysed const found = analyse(path, common, [&](snapshot const&, std::int32_t) { return plan; });
  report_options const options{.site = common.site, .top_contributors = asked.top};
  report const model = make_report(found.input, found.replayed, plan, options, path);

  std::string out = common.out;
  if (out.empty()) out = common.json || path == "-" ? "-" : default_report_path(path);
  if (has_picture) {
    timeline_options drawn;
    drawn.label = fs::path(path).filename().string();
    timeline_report picture;
    picture.runs.push_back(make_timeline(found.input, found.replayed, plan, drawn, options, path));
    write_file(asked.svg, write_timeline_svg(picture), timeline_svg_signature, common.force);
    if (!common.quiet) fmt::print(stderr, "Wrote {}\n", asked.svg);
  }
  std::string const content =
      common.json ? write_json(model) : write_markdown(model, picture_from(asked.svg, out));
  if (out == "-") {
    write_standard_output(content);
  } else {
    write_file(out, content, common.json ? report_schema_version : markdown_signature,
               common.force);
    if (!common.quiet) fmt::print(stderr, "Wrote {}\n", out);
  }
  if (!common.quiet && !model.rule_note.empty()) fmt::print(stderr, "note: {}\n", model.rule_note);
  return exit_status::done;
}

}  // namespace memreplay::cli
