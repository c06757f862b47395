// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The pieces of JSON that several reports share; docs/report-schema.md describes every key.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <memreplay/report.hpp>
#include <nlohmann/json.hpp>

namespace memreplay::writers {

using json = nlohmann::ordered_json;

template <class ValueT>
[[nodiscard]] json optional_json(std::optional<ValueT> const& value) {
  return value ? json(*value) : json(nullptr);
}

/// Adds `exact`, and where it is false `low`, `high` and `reason`.
void add_exactness(exactness const& value, json& out);
/// The same as an object of its own, with `bytes` where they are exact.
[[nodiscard]] json exactness_json(exactness const& value);
[[nodiscard]] json curve_json(curve_summary const& curve);
[[nodiscard]] json actions_json(std::vector<action_count_row> const& rows);
[[nodiscard]] json audit_json(audit const& rows);
[[nodiscard]] json sites_json(std::vector<site_row> const& rows);
[[nodiscard]] json rest_json(rest_row const& rest);
[[nodiscard]] json segments_json(segment_summary const& sum);
[[nodiscard]] json ooms_json(std::vector<oom_row> const& rows);
[[nodiscard]] json findings_json(std::vector<finding> const& rows);
/// What every report says first.
[[nodiscard]] json header_json(report_header const& model);

/// Ends in a newline. Names may hold bytes that are no UTF-8: they become U+FFFD.
[[nodiscard]] std::string to_text(json const& value);

}  // namespace memreplay::writers
