// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The model of `check`: what a baseline keeps, which limits were asked, and what became of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memreplay/plan.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>

namespace memreplay {

inline constexpr char const* baseline_schema_version = "memreplay.baseline/1";
inline constexpr char const* check_schema_version = "memreplay.check/1";

/// What a later run of the same program is held against, of one device.
struct baseline_device {
  std::int32_t device = 0;
  std::int64_t carried_in_bytes = 0;
  std::int64_t end_bytes = 0;
  std::int64_t peak_bytes = 0;
  exactness peak;  ///< of `peak_bytes`
  exactness max_memory_allocated;
  std::int64_t reserved_peak_bytes = 0;
  std::vector<site_row> sites;  ///< all, at the global peak; without link, chain and share
};

/// The numbers to compare with, and the options that make them comparable.
struct memory_baseline {
  std::string file;  ///< the snapshot it was taken from
  measure what = measure::allocated;
  size_basis sizes = size_basis::requested;
  carried_in older = carried_in::include;
  site_rule rule = site_rule::user;
  std::int64_t frame_depth = 1;
  std::vector<baseline_device> devices;
};

struct memory_limit {
  enum class kind {
    percent,       ///< growth over the baseline, `amount` millionths of it
    growth_bytes,  ///< growth over the baseline
    cap_bytes,     ///< needs no baseline
  };
  kind how = kind::percent;
  std::int64_t amount = 0;
  std::string text;  ///< as the user wrote it

  [[nodiscard]] bool is_cap() const noexcept { return how == kind::cap_bytes; }
};

[[nodiscard]] constexpr char const* to_string(memory_limit::kind value) noexcept {
  switch (value) {
    case memory_limit::kind::percent: return "percent";
    case memory_limit::kind::growth_bytes: return "growth_bytes";
    case memory_limit::kind::cap_bytes: return "cap_bytes";
  }
  return "";
}

/// What a check shall hold.
struct check_limits {
  std::optional<memory_limit> every_measure;  ///< a growth
  std::optional<memory_limit> every_site;     ///< a growth
  /// By measure or by the text of a site. A growth takes the place of the two above for its name; a
  /// cap holds beside them.
  std::vector<std::pair<std::string, memory_limit>> named;
};

/// The measures that have limits of their own.
inline constexpr char const* checked_measures[] = {"peak", "reserved", "end",
                                                   "max_memory_allocated"};

enum class check_result {
  holds,
  exceeded,
  cannot_tell,  ///< the limit lies within the interval that the numbers are known to
  not_limited,
};

[[nodiscard]] constexpr char const* to_string(check_result value) noexcept {
  switch (value) {
    case check_result::holds: return "holds";
    case check_result::exceeded: return "exceeded";
    case check_result::cannot_tell: return "cannot_tell";
    case check_result::not_limited: return "not_limited";
  }
  return "";
}

/// One number, and one limit for it.
struct check_row {
  std::string name;                      ///< a measure, the text of a site, or `device`
  std::optional<exactness> baseline;     ///< unset without one
  std::optional<exactness> now;          ///< unset when the file lacks the device
  std::optional<exactness> growth;       ///< now - baseline
  std::optional<double> growth_percent;  ///< of the baseline, from the best known values
  std::optional<memory_limit> limit;
  std::optional<exactness> allowed;  ///< the greatest value that holds
  check_result result = check_result::not_limited;
  std::string reason;  ///< a sentence, where the limit is exceeded or nobody can tell
};

/// A site whose bytes at the peak are not those of the baseline.
struct site_growth_row {
  std::string site;           ///< as it is now; as it was, when it is gone
  std::string baseline_site;  ///< as it was; empty when it is new
  std::string label;
  std::string file;
  std::int64_t line = 0;
  std::string link;
  std::int64_t baseline_bytes = 0, bytes = 0, growth_bytes = 0;
  std::int64_t baseline_tensors = 0, tensors = 0;
};

/// What the table of sites leaves out, so that the growths sum to that of the peak.
struct growth_rest_row {
  std::int64_t sites = 0, baseline_bytes = 0, bytes = 0, growth_bytes = 0;
};

struct check_device {
  std::int32_t device = 0;
  std::vector<check_row> measures;     ///< every one, limited or not; more than once per limit
  std::vector<check_row> sites;        ///< named ones, and those that do not hold `every_site`
  std::int64_t peak_growth_bytes = 0;  ///< of the best known values
  std::vector<site_growth_row> grown;  ///< by size of the change; empty without baseline
  growth_rest_row rest;
  audit defects;
};

struct check_report : report_header {
  std::string baseline_file;  ///< as given, empty without
  check_limits limits;
  check_result result = check_result::holds;
  std::int64_t held = 0, exceeded = 0, cannot_tell = 0;  ///< limits, one per device and number
  std::vector<std::string> failures;                     ///< reasons, a sentence each
  std::vector<std::string> warnings;                     ///< the same of what nobody can tell
  std::vector<check_device> devices;
};

}  // namespace memreplay
