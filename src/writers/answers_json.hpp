// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// JSON of the parts that the answers about moments, steps and comparisons share.
#pragma once

#include <memreplay/comparison.hpp>

#include "writers/json_parts.hpp"

namespace memreplay::writers {

[[nodiscard]] json moment_json(moment_report const& moment);
[[nodiscard]] json deltas_json(site_deltas const& sites);
[[nodiscard]] json span_json(span_report const& span);

}  // namespace memreplay::writers
