// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `report`: the peaks of one snapshot, in markdown or JSON.
#include <fmt/format.h>

#include <cstdio>
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace memreplay::cli {

exit_status run_report(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  analysed const found =
      analyse(path, common, [&](snapshot const&, std::int32_t) { return common.plan; });
  report const model = make_report(found.input, found.replayed, common.plan,
                                   {.site = common.site, .top_contributors = asked.top}, path);
  std::string const content = common.json ? write_json(model) : write_markdown(model);

  std::string out = common.out;
  if (out.empty()) out = common.json || path == "-" ? "-" : default_report_path(path);
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
