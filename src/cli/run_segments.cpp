// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `segments`: what lies where at a moment, in text, markdown or JSON.
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {

exit_status run_segments(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  analysed const found = analyse(path, common, [&](snapshot const& input, std::int32_t device) {
    return plan_segments(input, device, asked.moment, common.plan);
  });
  segments_report const model =
      make_segments(found.input, found.replayed, common.plan, asked.moment,
                    {.site = common.site, .top_contributors = asked.top}, path);
  print_answer(common.json ? write_segments_json(model) : write_segments(model, common.format),
               common, segments_schema_version, segments_signature);
  return exit_status::done;
}

}  // namespace memreplay::cli
