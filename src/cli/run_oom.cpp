// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `oom`: what failed and why, in text, markdown or JSON.
#include <memreplay/make_oom_report.hpp>
#include <memreplay/write_report.hpp>
#include <utility>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {
namespace {

/// Each device has a moment of its own, so those that need a map are replayed once more, alone.
void add_maps(failed_request const& asked, replay_plan const& plan, analysed& found) {
  for (device_replay& device : found.replayed.devices) {
    oom_moment const moment = find_oom_moment(found.input, device.device, asked);
    if (!moment.needs_map) continue;
    replay_plan one = plan;
    one.maps = {moment.event};
    device = std::move(replay(found.input, {device.device}, one).devices.front());
  }
}

}  // namespace

exit_status run_oom(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path = asked.inputs.front();
  analysed found =
      analyse(path, common, [&](snapshot const&, std::int32_t) { return common.plan; });
  add_maps(asked.failed, common.plan, found);
  oom_report const model =
      make_oom_report(found.input, found.replayed, common.plan, asked.failed,
                      {.site = common.site, .top_contributors = asked.top}, path);
  print_answer(common.json ? write_oom_json(model) : write_oom(model, common.format), common,
               oom_schema_version, oom_signature);
  return exit_status::done;
}

}  // namespace memreplay::cli
