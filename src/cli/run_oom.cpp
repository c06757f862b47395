// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `oom`: what failed and why, in text, markdown or JSON.
#include <memreplay/make_oom_report.hpp>
#include <memreplay/write_report.hpp>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {

exit_status run_oom(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  analysed const found = analyse(path, common, [&](snapshot const& input, std::int32_t device) {
    return plan_oom(input, device, asked.failed, common.plan);
  });
  oom_report const model =
      make_oom_report(found.input, found.replayed, common.plan, asked.failed,
                      {.site = common.site, .top_contributors = asked.top}, path);
  print_answer(common.json ? write_oom_json(model) : write_oom(model, common.format), common,
               oom_schema_version, oom_signature);
  return exit_status::done;
}

}  // namespace memreplay::cli
