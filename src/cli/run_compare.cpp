// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The command `compare`: why B peaks higher than A.
#include <algorithm>
#include <memreplay/make_report.hpp>
#include <memreplay/write_report.hpp>
#include <optional>

#include "cli/analyse.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/print_answer.hpp"

namespace memreplay::cli {
namespace {

/// The device of `other` that is set against this one.
std::optional<std::int32_t> counterpart(opened const& one, std::int32_t device,
                                        opened const& other) {
  if (one.devices.size() == 1 && other.devices.size() == 1) return other.devices.front();
  bool const is_there = std::ranges::find(other.devices, device) != other.devices.end();
  return is_there ? std::optional<std::int32_t>{device} : std::nullopt;
}

}  // namespace

exit_status run_compare(request const& asked) {
  common_request const& common = asked.common;
  std::string const& path_a = asked.inputs.front();
  std::string const& path_b = asked.inputs.back();
  opened a = naming_file(path_a, [&] { return open_snapshot(path_a, common); });
  opened b = naming_file(path_b, [&] { return open_snapshot(path_b, common); });

  std::vector<paired_spans> cuts;
  for (std::int32_t const device : a.devices) {
    if (auto const other = counterpart(a, device, b))
      cuts.push_back(pair_spans(a.input, device, b.input, *other, asked.spans));
  }
  // Devices without a counterpart are only named.
  auto next_a = cuts.cbegin();
  auto next_b = cuts.cbegin();
  span_list const uncut;
  replay_result const replayed_a = replay_devices(a, [&](snapshot const&, std::int32_t device) {
    return plan_comparison(counterpart(a, device, b) ? (next_a++)->a : uncut, common.plan);
  });
  replay_result const replayed_b = replay_devices(b, [&](snapshot const&, std::int32_t device) {
    return plan_comparison(counterpart(b, device, a) ? (next_b++)->b : uncut, common.plan);
  });
  comparison const model =
      make_comparison({a.input, replayed_a, path_a}, {b.input, replayed_b, path_b}, cuts,
                      common.plan, {.spans = asked.spans, .step = asked.step, .match = asked.match},
                      {.site = common.site, .top_contributors = asked.top});
  print_answer(common.json ? write_comparison_json(model) : write_comparison(model, common.format),
               common, comparison_schema_version, comparison_signature);
  return exit_status::done;
}

}  // namespace memreplay::cli
