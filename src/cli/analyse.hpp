// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What every analysing command does first: read the file, choose its devices, replay them.
#pragma once

#include <cstdint>
#include <functional>
#include <memreplay/plan.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>
#include <string>

#include "cli/request.hpp"

namespace memreplay::cli {

struct analysed {
  snapshot input;
  replay_result replayed;
};

/// The plan of one device, once it is known what the file holds.
using plan_maker = std::function<replay_plan(snapshot const& input, std::int32_t device)>;

/// Throws `error`; what() does not name the file yet.
[[nodiscard]] analysed analyse(std::string const& path, common_request const& common,
                               plan_maker const& plan_for);

}  // namespace memreplay::cli
