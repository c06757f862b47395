// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What every analysing command does first: read the file, choose its devices, replay them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memreplay/plan.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>
#include <string>
#include <vector>

#include "cli/request.hpp"

namespace memreplay::cli {

/// A file that is read, and a replay that waits for its plans.
struct opened {
  snapshot input;
  std::vector<std::int32_t> devices;  ///< those asked for
  std::unique_ptr<replayer> engine;
};

struct analysed {
  snapshot input;
  replay_result replayed;
};

/// The plan of one device, once it is known what the file holds.
using plan_maker = std::function<replay_plan(snapshot const& input, std::int32_t device)>;

// All throw `error`; what() does not name the file yet.

[[nodiscard]] opened open_snapshot(std::string const& path, common_request const& common);
[[nodiscard]] replay_result replay_devices(opened& file, plan_maker const& plan_for);
/// Both.
[[nodiscard]] analysed analyse(std::string const& path, common_request const& common,
                               plan_maker const& plan_for);

}  // namespace memreplay::cli
