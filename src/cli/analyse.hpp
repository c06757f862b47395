// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What every analysing command does first: read the file, choose its devices, replay them.
#pragma once

#include <memreplay/replay.hpp>
#include <memreplay/snapshot.hpp>
#include <string>

#include "cli/request.hpp"

namespace memreplay::cli {

struct analysed {
  snapshot input;
  replay_result replayed;
};

/// Throws `error`; what() does not name the file yet.
[[nodiscard]] analysed analyse(std::string const& path, common_request const& common);

}  // namespace memreplay::cli
