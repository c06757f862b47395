// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `info`: what each file holds, in text or JSON.
#include <cstdio>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {

exit_status run_info(request const& asked) {
  common_request const& common = asked.common;
  std::vector<std::string> texts;
  std::size_t failed = 0;
  for (std::string const& path : asked.inputs) {
    try {
      analysed const found = analyse(path, common, [&](snapshot const& input, std::int32_t device) {
        return plan_info(input, device, common.plan);
      });
      report const model = make_info(found.input, found.replayed, common.plan,
                                     {.site = common.site, .top_contributors = asked.top}, path);
      texts.push_back(common.json ? write_info_json(model) : write_info_text(model));
    } catch (error const& problem) {
      // One bad file of many is told and passed over; the others still count.
      ++failed;
      std::fputs(failure_line(path, problem).c_str(), stderr);
    }
  }
  if (failed == asked.inputs.size()) return exit_status::could_not_run;

  std::string content;
  bool const is_json_list = common.json && asked.inputs.size() > 1;
  for (std::string const& text : texts) {
    if (!content.empty()) content += is_json_list ? "," : "\n";
    content += text;
  }
  if (is_json_list) content = "[" + content + "]\n";
  print_answer(content, common, info_schema_version, info_signature);
  return failed == 0 ? exit_status::done : exit_status::partly_failed;
}

}  // namespace memreplay::cli
