// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `at`: what is live at a moment, and the difference to a second snapshot.
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {
namespace {

analysed analyse_moment(std::string const& path, request const& asked) {
  return analyse(path, asked.common, [&](snapshot const& input, std::int32_t device) {
    return plan_at(input, device, asked.moment, asked.common.plan);
  });
}

}  // namespace

exit_status run_at(request const& asked) {
  common_request const& common = asked.common;
  report_options const options{.site = common.site, .top_contributors = asked.top};
  std::string const& path = asked.inputs.front();
  if (asked.inputs.size() == 1) {
    analysed const found = analyse_moment(path, asked);
    at_report const model =
        make_at(found.input, found.replayed, common.plan, asked.moment, options, path);
    print_answer(common.json ? write_at_json(model) : write_at(model, common.format), common,
                 at_schema_version, at_signature);
    return exit_status::done;
  }
  std::string const& other = asked.inputs.back();
  analysed const a = naming_file(path, [&] { return analyse_moment(path, asked); });
  analysed const b = naming_file(other, [&] { return analyse_moment(other, asked); });
  at_comparison const model =
      make_at_comparison({a.input, a.replayed, path}, {b.input, b.replayed, other}, common.plan,
                         asked.moment, asked.match, options);
  print_answer(
      common.json ? write_at_comparison_json(model) : write_at_comparison(model, common.format),
      common, at_comparison_schema_version, at_signature);
  return exit_status::done;
}

}  // namespace memreplay::cli
