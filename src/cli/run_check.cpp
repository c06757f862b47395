// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `check`: one snapshot against limits and a baseline, as an exit status with reasons.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memreplay/error.hpp>
#include <memreplay/make_check.hpp>
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>
#include <optional>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {
namespace {

/// The report of the devices to compare: those asked for, by default those of the baseline, since
/// the busiest of one run may not be that of another.
report report_of(std::string const& path, common_request common,
                 std::optional<memory_baseline> const& baseline) {
  bool const as_baseline = baseline && common.device == "busiest";
  if (as_baseline) common.device = "all";
  analysed const found =
      analyse(path, common, [&](snapshot const&, std::int32_t) { return common.plan; });
  report model = make_report(found.input, found.replayed, common.plan,
                             {.site = common.site, .top_contributors = 0}, path);
  if (as_baseline) {
    std::erase_if(model.devices, [&](device_report const& device) {
      return std::ranges::find(baseline->devices, device.device, &baseline_device::device) ==
             baseline->devices.end();
    });
  }
  return model;
}

void tell(std::string const& path, std::vector<std::string> const& reasons, char const* what) {
  for (std::string const& reason : reasons) {
    std::fputs(one_line(fmt::format("memreplay: {}: {}{}", path, what, reason)).c_str(), stderr);
    std::fputc('\n', stderr);
  }
}

}  // namespace

exit_status run_check(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  std::optional<memory_baseline> baseline;
  if (!asked.baseline.empty()) {
    try {
      baseline = read_baseline(asked.baseline);
    } catch (error const& problem) {
      std::fputs(failure_line(asked.baseline, problem).c_str(), stderr);
      return exit_status::could_not_run;
    }
  }
  report const model = report_of(path, common, baseline);
  check_report const answer = make_check(model, baseline ? &*baseline : nullptr,
                                         {.site = common.site,
                                          .limits = asked.limits,
                                          .top = asked.top,
                                          .baseline_file = asked.baseline});
  print_answer(common.json ? write_check_json(answer) : write_check_page(answer, common.format),
               common, check_schema_version, check_signature);
  tell(path, answer.failures, "");
  if (!common.quiet) tell(path, answer.warnings, "warning: ");
  bool const has_failed = answer.result == check_result::exceeded;
  if (asked.new_baseline.empty())
    return has_failed ? exit_status::partly_failed : exit_status::done;
  if (has_failed) {
    if (!common.quiet) fmt::print(stderr, "Not written: {}\n", asked.new_baseline);
    return exit_status::partly_failed;
  }
  write_file(asked.new_baseline, write_baseline(make_baseline(model, common.site)),
             baseline_schema_version, common.force);
  if (!common.quiet) fmt::print(stderr, "Wrote {}\n", asked.new_baseline);
  return exit_status::done;
}

}  // namespace memreplay::cli
