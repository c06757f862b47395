// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What two snapshots are compared by: the sites of a live set, and which device is whose.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <memreplay/moment_report.hpp>
#include <memreplay/replay.hpp>

#include "report/site_matching.hpp"
#include "report/sites.hpp"

namespace memreplay::reporting {

[[nodiscard]] std::vector<side_site> side_sites(site_table& sites,
                                                std::vector<stack_total> const& live);

struct device_pairs {
  std::vector<std::pair<device_replay const*, device_replay const*>> pairs;
  std::vector<std::string> notes;  ///< what has no counterpart
};

/// By ordinal; where each side has one device, as they are. Throws `error` (bad_request) when no
/// device has a counterpart.
[[nodiscard]] device_pairs pair_devices(replay_result const& a, replay_result const& b);

/// Of segments, which belong to no site: all of both sides is the rest.
[[nodiscard]] site_deltas deltas_without_sites(std::int64_t bytes_a, std::int64_t bytes_b);

void redact(site_deltas& made);

}  // namespace memreplay::reporting
