// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Takes names of people and machines out of what a report shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <memreplay/report.hpp>
#include <memreplay/segment_report.hpp>

#include "report/path_parts.hpp"

namespace memreplay::reporting {

/// `/home/NAME`, `/Users/NAME`, `C:\Users\NAME` and `/root` become `~` wherever they stand in the
/// text, also below another folder (`/nfs/home/NAME`) and within a longer string.
[[nodiscard]] std::string redact_homes(std::string_view text);

/// A file outside the project: its name and last folder, home directories as `~`.
[[nodiscard]] std::string redact_outside(path_parts const& parts);

// Each applies `redact_homes` to every string of what it is given, names of annotations and
// settings included, and drops links; a file's own name is shortened as files outside the project
// are.

void redact(std::vector<site_row>& rows);
void redact(std::vector<finding>& rows);
void redact(audit& rows);
void redact(report_header& header);
void redact(report& model);
void redact(segments_report& model);

}  // namespace memreplay::reporting
