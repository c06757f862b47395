// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What every report says about its file, and about how it was asked.
#pragma once

#include <string>

#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

#include "report/sites.hpp"

namespace memreplay::reporting {

[[nodiscard]] report_header make_header(char const* schema, snapshot const& input,
                                        replay_result const& replayed, replay_plan const& plan,
                                        site_table const& sites, std::string const& file);

}  // namespace memreplay::reporting
