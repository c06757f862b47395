// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A snapshot made by hand and its replay on the host, as the commands do it.
#pragma once

#include <string>
#include <vector>

#include <memreplay/error.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::testing {

[[nodiscard]] inline replay_plan host_plan() {
  replay_plan plan;
  plan.backend = backend_choice::host;
  return plan;
}

/// Of each device by its own plan: `plan_for(device)`.
template <class PlanT>
[[nodiscard]] replay_result replay_by(snapshot const& input,
                                      std::vector<std::int32_t> const& devices, PlanT plan_for) {
  replay_result all;
  for (std::int32_t const device : devices) {
    replay_result one = replay(input, {device}, plan_for(device));
    all.backend = one.backend;
    all.devices.push_back(std::move(one.devices.front()));
  }
  return all;
}

/// The complaint and its hint; empty when `ask` was answered.
template <class AskT>
[[nodiscard]] std::string refusal(AskT ask) {
  try {
    ask();
  } catch (error const& problem) {
    return problem.code() == error_code::bad_request
               ? std::string(problem.what()) + "; " + problem.hint()
               : "another error: " + std::string(problem.what());
  }
  return {};
}

}  // namespace memreplay::testing
