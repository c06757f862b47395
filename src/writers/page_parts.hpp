// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Parts of pages that several reports share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <memreplay/moment_report.hpp>
#include <memreplay/report.hpp>
#include <memreplay/write_report.hpp>

#include "writers/page.hpp"

namespace memreplay::writers {

[[nodiscard]] std::string render(page const& shown, text_format format);

/// What was measured, and how sites were found.
void show_header(report_header const& model, page& shown);
/// The same of two files.
void show_sides(report_header const& a, report_header const& b,
                std::vector<std::string> const& notes, page& shown);

/// A table of sites with its rest and its total.
void show_sites(std::vector<site_row> const& rows, rest_row const& rest, std::int64_t total_bytes,
                std::int64_t total_tensors, page& shown);
/// A table of differences with its rest, its total and the parts of it.
void show_deltas(site_deltas const& sites, page& shown);

/// A row of a table with the columns name, A, B, B - A.
void add_bytes_row(std::string const& name, std::int64_t a, std::int64_t b, page_table& table);
void add_count_row(std::string const& name, std::int64_t a, std::int64_t b, page_table& table);

void show_findings(std::vector<finding> const& rows, page& shown);

}  // namespace memreplay::writers
