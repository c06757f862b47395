// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Matching the sites of a baseline with those of a report.
#include "report/check_sites.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

/// The text as a baseline gives it back: JSON holds no bytes that are not UTF-8.
std::string as_kept(std::string const& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

using rows_by_text = std::map<std::string, site_row>;

/// Redacted sites may share a text, and are one then.
rows_by_text by_text(std::vector<site_row> const& rows) {
  rows_by_text made;
  for (site_row const& row : rows) {
    auto const [known, is_new] = made.try_emplace(as_kept(row.site), row);
    if (is_new) continue;
    known->second.bytes = add_saturated(known->second.bytes, row.bytes);
    known->second.tensors = add_saturated(known->second.tensors, row.tensors);
  }
  return made;
}

/// `a.py:3 -> b.py:7` without its numbers.
std::string without_lines(std::string const& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (text[at] == ':') {
      end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
    }
    bool const is_line = end > at + 1 && (end == text.size() || text.compare(end, 4, " -> ") == 0);
    if (is_line) {
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

/// Rows of one function by line; without a function nobody knows where a line moved.
std::map<std::pair<std::string, std::string>, std::vector<site_row>> by_function(
    rows_by_text const& rows) {
  std::map<std::pair<std::string, std::string>, std::vector<site_row>> made;
  for (auto const& [text, row] : rows) {
    if (row.label.empty() || row.line == 0) continue;
    made[{without_lines(text.substr(1, text.size() - 2)), as_kept(row.label)}].push_back(row);
  }
  for (auto& [key, group] : made) {
    std::ranges::sort(group, [](site_row const& left, site_row const& right) {
      return std::tie(left.line, left.site) < std::tie(right.line, right.site);
    });
  }
  return made;
}

site_growth_row pair_of(site_row const* before, site_row const* after) {
  site_row const& shown = after != nullptr ? *after : *before;
  site_growth_row made;
  made.site = shown.site;
  made.label = shown.label;
  made.file = shown.file;
  made.line = shown.line;
  made.link = shown.link;
  if (before != nullptr) {
    made.baseline_site = before->site;
    made.baseline_bytes = before->bytes;
    made.baseline_tensors = before->tensors;
  }
  if (after != nullptr) {
    made.bytes = after->bytes;
    made.tensors = after->tensors;
  }
  made.growth_bytes = subtract_saturated(made.bytes, made.baseline_bytes);
  return made;
}

std::int64_t size_of(std::int64_t change) {
  return change < 0 ? subtract_saturated(0, change) : change;
}

bool is_before(site_growth_row const& left, site_growth_row const& right) {
  std::int64_t const left_size = size_of(left.growth_bytes);
  std::int64_t const right_size = size_of(right.growth_bytes);
  return std::tie(right_size, right.growth_bytes, left.site, left.baseline_site) <
         std::tie(left_size, left.growth_bytes, right.site, right.baseline_site);
}

}  // namespace

std::vector<site_growth_row> match_baseline_sites(std::vector<site_row> const& baseline,
                                                  std::vector<site_row> const& now) {
  std::vector<site_growth_row> made;
  rows_by_text before = by_text(baseline);
  rows_by_text after = by_text(now);
  for (auto row = before.begin(); row != before.end();) {
    auto const same = after.find(row->first);
    if (same == after.end()) {
      ++row;
      continue;
    }
    made.push_back(pair_of(&row->second, &same->second));
    after.erase(same);
    row = before.erase(row);
  }

  auto const functions = by_function(after);
  for (auto const& [function, moved] : by_function(before)) {
    auto const same = functions.find(function);
    // Another number of lines: some came or went, and nobody knows which.
    if (same == functions.end() || same->second.size() != moved.size()) continue;
    for (std::size_t index = 0; index < moved.size(); ++index) {
      made.push_back(pair_of(&moved[index], &same->second[index]));
      before.erase(as_kept(moved[index].site));
      after.erase(as_kept(same->second[index].site));
    }
  }
  for (auto const& [text, row] : before) made.push_back(pair_of(&row, nullptr));
  for (auto const& [text, row] : after) made.push_back(pair_of(nullptr, &row));
  std::ranges::sort(made, is_before);
  return made;
}

}  // namespace memreplay::reporting
