// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The commands `steps` and `leaks`: a trace step by step.
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {

exit_status run_steps(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  analysed const found = analyse(path, common, [&](snapshot const& input, std::int32_t device) {
    return plan_steps(input, device, asked.spans, common.plan);
  });
  steps_report const model =
      make_steps(found.input, found.replayed, common.plan,
                 {.spans = asked.spans, .step = asked.step, .all_steps = asked.all_steps},
                 {.site = common.site, .top_contributors = asked.top}, path);
  print_answer(common.json ? write_steps_json(model) : write_steps(model, common.format), common,
               steps_schema_version, steps_signature);
  return exit_status::done;
}

exit_status run_leaks(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  analysed const found = analyse(path, common, [&](snapshot const& input, std::int32_t device) {
    return plan_leaks(input, device, asked.spans, common.plan);
  });
  leaks_report const model = make_leaks(found.input, found.replayed, common.plan, asked.spans,
                                        {.site = common.site, .top_contributors = asked.top}, path);
  print_answer(common.json ? write_leaks_json(model) : write_leaks(model, common.format), common,
               leaks_schema_version, leaks_signature);
  return exit_status::done;
}

}  // namespace memreplay::cli
