// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Holds the numbers of a report against limits and a baseline.
#include <memreplay/make_check.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "base/byte_text.hpp"
#include "report/check_sites.hpp"
#include "report/redaction.hpp"
#include "report/saturating.hpp"

namespace memreplay {

using namespace reporting;

namespace {

exactness exactly(std::int64_t bytes) { return {true, bytes, bytes, {}}; }

peak_report const* global_peak(device_report const& device) {
  auto const found = std::ranges::find_if(device.peaks, &peak_report::is_global);
  return found == device.peaks.end() ? nullptr : &*found;
}

baseline_device make_device(device_report const& device) {
  baseline_device made;
  made.device = device.device;
  made.carried_in_bytes = device.carried_in_bytes;
  made.end_bytes = device.measured.end_bytes;
  made.peak_bytes = device.measured.peak_bytes;
  made.peak = device.measured_exactness;
  made.max_memory_allocated = device.max_memory_allocated;
  made.reserved_peak_bytes = device.reserved.peak_bytes;
  if (peak_report const* const peak = global_peak(device)) made.sites = peak->sites;
  for (site_row& row : made.sites) {
    row.link.clear();
    row.chain.clear();
    row.share = 0.0;
  }
  return made;
}

std::int64_t allowed_over(std::int64_t baseline, memory_limit const& limit) {
  switch (limit.how) {
    case memory_limit::kind::cap_bytes: return limit.amount;
    case memory_limit::kind::growth_bytes: return add_saturated(baseline, limit.amount);
    case memory_limit::kind::percent: break;
  }
  // Rounded down: 5 % of 30 bytes allows one byte more.
  std::int64_t const base = std::max<std::int64_t>(baseline, 0);
  std::int64_t const whole = base / 1'000'000;
  std::int64_t const part = (base % 1'000'000) * limit.amount / 1'000'000;
  std::int64_t growth = 0;
  if (__builtin_mul_overflow(whole, limit.amount, &growth)) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return add_saturated(baseline, add_saturated(growth, part));
}

/// The reasons of both, each once.
std::string join_reasons(std::string const& left, std::string const& right) {
  if (left.empty() || left == right) return right;
  return right.empty() ? left : left + "; " + right;
}

/// The allowed value is an interval where the baseline is. Only what no value of the intervals
/// holds is exceeded.
check_result judge(exactness const& now, exactness const& allowed) {
  if (now.low > allowed.high) return check_result::exceeded;
  return now.high <= allowed.low ? check_result::holds : check_result::cannot_tell;
}

std::string bytes_text(exactness const& value) {
  std::string text = base::byte_range_text(value.low, value.high);
  if (!value.exact && !value.reason.empty()) text += " (" + value.reason + ")";
  return text;
}

std::string signed_text(exactness const& value) {
  if (value.low == value.high) {
    return (value.low < 0 ? "" : "+") + base::byte_text(value.low);
  }
  return fmt::format("{}{} to {}{}", value.low < 0 ? "" : "+", base::byte_text(value.low),
                     value.high < 0 ? "" : "+", base::byte_text(value.high));
}

std::string shown_name(check_row const& row, bool is_site) {
  return is_site ? fmt::format("site {}", row.name) : row.name;
}

std::string reason_of(std::int32_t device, check_row const& row, bool is_site) {
  std::string text =
      fmt::format("device {}: {} is {}", device, shown_name(row, is_site), bytes_text(*row.now));
  if (row.growth) {
    text += fmt::format(", {}", signed_text(*row.growth));
    if (row.growth_percent) text += fmt::format(" ({:+.2f} %)", *row.growth_percent);
    text += fmt::format(" over the baseline's {}", bytes_text(*row.baseline));
  }
  std::string const allowed = base::byte_range_text(row.allowed->low, row.allowed->high);
  text += row.result == check_result::exceeded ? "; more than the limit of "
                                               : "; nobody can tell whether it holds the limit of ";
  return text + (row.limit->is_cap() ? allowed : fmt::format("{}, {}", row.limit->text, allowed));
}

/// A number as it is now and, unless that is null, as it was.
struct number {
  std::string name;
  exactness now;
  std::int64_t now_bytes = 0;  ///< the best known value
  std::optional<exactness> baseline;
  std::int64_t baseline_bytes = 0;
};

class checker {
 public:
  checker(report const& model, memory_baseline const* baseline, check_options const& options)
      : model_(model), baseline_(baseline), options_(options) {
    static_cast<report_header&>(made_) = model;
    made_.schema = check_schema_version;
    made_.baseline_file = options.baseline_file;
    made_.limits = options.limits;
  }

  check_report make() {
    for (device_report const& device : model_.devices) check(device);
    if (baseline_ != nullptr) {
      for (baseline_device const& before : baseline_->devices) add_if_missing(before);
    }
    std::ranges::sort(made_.devices, {}, &check_device::device);
    for (auto const& [name, limit] : options_.limits.named) {
      if (is_measure(name) || used_names_.contains(name)) continue;
      throw error(error_code::bad_request,
                  fmt::format("no site '{}' at the peak{}", name,
                              baseline_ == nullptr ? "" : ", nor in the baseline"),
                  "name a site as `memreplay report --site user --top-contributors 0` shows it, or "
                  "a measure: peak, reserved, end, max_memory_allocated");
    }
    made_.result = made_.exceeded > 0      ? check_result::exceeded
                   : made_.cannot_tell > 0 ? check_result::cannot_tell
                                           : check_result::holds;
    return std::move(made_);
  }

 private:
  static bool is_measure(std::string const& name) {
    return std::ranges::find(checked_measures, name) != std::end(checked_measures);
  }

  baseline_device const* baseline_of(std::int32_t device) const {
    if (baseline_ == nullptr) return nullptr;
    auto const found = std::ranges::find(baseline_->devices, device, &baseline_device::device);
    if (found == baseline_->devices.end()) {
      throw error(error_code::bad_request, fmt::format("the baseline has no device {}", device),
                  "choose others with --device, or write a new one with --write-baseline");
    }
    return &*found;
  }

  void check(device_report const& device) {
    baseline_device const* const before = baseline_of(device.device);
    baseline_device const now = make_device(device);
    check_device made;
    made.device = device.device;
    made.defects = device.defects;
    add_measures(now, before, made);
    peak_report const* const peak = global_peak(device);
    add_sites(peak == nullptr ? std::vector<site_row>{} : peak->sites, before, made);
    if (before != nullptr)
      made.peak_growth_bytes = subtract_saturated(now.peak_bytes, before->peak_bytes);
    close_rest(now.peak_bytes, before, made);
    made_.devices.push_back(std::move(made));
  }

  void add_measures(baseline_device const& now, baseline_device const* before, check_device& made) {
    auto const add = [&](char const* name, exactness const& value, std::int64_t bytes,
                         exactness const& old_value, std::int64_t old_bytes) {
      number one{name, value, bytes, std::nullopt, old_bytes};
      if (before != nullptr) one.baseline = old_value;
      std::vector<memory_limit> const limits = limits_of({name}, options_.limits.every_measure);
      for (memory_limit const& limit : limits)
        made.measures.push_back(judged(made.device, one, limit, false));
      if (limits.empty()) made.measures.push_back(row_of(one));
    };
    baseline_device const none;
    baseline_device const& old = before == nullptr ? none : *before;
    add("peak", now.peak, now.peak_bytes, old.peak, old.peak_bytes);
    add("reserved", exactly(now.reserved_peak_bytes), now.reserved_peak_bytes,
        exactly(old.reserved_peak_bytes), old.reserved_peak_bytes);
    add("end", exactly(now.end_bytes), now.end_bytes, exactly(old.end_bytes), old.end_bytes);
    add("max_memory_allocated", now.max_memory_allocated, now.max_memory_allocated.low,
        old.max_memory_allocated, old.max_memory_allocated.low);
  }

  void add_sites(std::vector<site_row> const& now, baseline_device const* before,
                 check_device& made) {
    std::vector<site_growth_row> const all =
        match_baseline_sites(before == nullptr ? std::vector<site_row>{} : before->sites, now);
    for (site_growth_row const& site : all) {
      number one{site.site, exactly(site.bytes), site.bytes, std::nullopt, site.baseline_bytes};
      if (before != nullptr) one.baseline = exactly(site.baseline_bytes);
      for (memory_limit const& limit :
           limits_of({site.site, site.baseline_site}, options_.limits.every_site)) {
        check_row row = judged(made.device, one, limit, true);
        if (is_named(site) || row.result != check_result::holds)
          made.sites.push_back(std::move(row));
      }
      bool const is_shown = before != nullptr && site.growth_bytes != 0 &&
                            (options_.top == 0 || std::ssize(made.grown) < options_.top);
      if (is_shown) {
        made.grown.push_back(site);
      } else if (before != nullptr) {
        ++made.rest.sites;
      }
    }
  }

  [[nodiscard]] bool is_named(site_growth_row const& site) const {
    return std::ranges::any_of(options_.limits.named, [&](auto const& named) {
      return named.first == site.site || named.first == site.baseline_site;
    });
  }

  /// What is left of the peak, so that the table adds up to it whatever a baseline claims.
  static void close_rest(std::int64_t peak_bytes, baseline_device const* before,
                         check_device& made) {
    if (before == nullptr) return;
    made.rest.bytes = peak_bytes;
    made.rest.baseline_bytes = before->peak_bytes;
    made.rest.growth_bytes = made.peak_growth_bytes;
    for (site_growth_row const& row : made.grown) {
      made.rest.bytes = subtract_saturated(made.rest.bytes, row.bytes);
      made.rest.baseline_bytes = subtract_saturated(made.rest.baseline_bytes, row.baseline_bytes);
      made.rest.growth_bytes = subtract_saturated(made.rest.growth_bytes, row.growth_bytes);
    }
  }

  std::vector<memory_limit> limits_of(std::vector<std::string> const& names,
                                      std::optional<memory_limit> const& every) {
    std::vector<memory_limit> found;
    bool has_growth = false;
    for (auto const& [name, limit] : options_.limits.named) {
      if (std::ranges::find(names, name) == names.end()) continue;
      used_names_.insert(name);
      has_growth = has_growth || !limit.is_cap();
      found.push_back(limit);
    }
    if (every && !has_growth) found.insert(found.begin(), *every);
    return found;
  }

  static check_row row_of(number const& one) {
    check_row row;
    row.name = one.name;
    row.now = one.now;
    row.baseline = one.baseline;
    if (one.baseline) {
      exactness growth;
      growth.exact = one.now.exact && one.baseline->exact;
      growth.low = subtract_saturated(one.now.low, one.baseline->high);
      growth.high = subtract_saturated(one.now.high, one.baseline->low);
      growth.reason = join_reasons(one.baseline->reason, one.now.reason);
      row.growth = growth;
      if (one.baseline_bytes > 0) {
        row.growth_percent =
            percent(subtract_saturated(one.now_bytes, one.baseline_bytes), one.baseline_bytes);
      }
    }
    return row;
  }

  check_row judged(std::int32_t device, number const& one, memory_limit const& limit,
                   bool is_site) {
    check_row row = row_of(one);
    row.limit = limit;
    exactness allowed = exactly(limit.amount);
    if (!limit.is_cap()) {
      allowed.low = allowed_over(one.baseline->low, limit);
      allowed.high = allowed_over(one.baseline->high, limit);
      allowed.exact = one.baseline->exact;
      allowed.reason = one.baseline->reason;
    }
    row.allowed = allowed;
    row.result = judge(one.now, allowed);
    if (row.result == check_result::holds) {
      ++made_.held;
    } else {
      row.reason = reason_of(device, row, is_site);
      bool const is_exceeded = row.result == check_result::exceeded;
      ++(is_exceeded ? made_.exceeded : made_.cannot_tell);
      (is_exceeded ? made_.failures : made_.warnings).push_back(row.reason);
    }
    return row;
  }

  void add_if_missing(baseline_device const& before) {
    if (std::ranges::find(made_.devices_in_file, before.device) != made_.devices_in_file.end())
      return;
    check_row row;
    row.name = "device";
    row.baseline = before.peak;
    row.result = check_result::exceeded;
    row.reason = fmt::format("device {}: in the baseline, and not in the file", before.device);
    ++made_.exceeded;
    made_.failures.push_back(row.reason);
    check_device made;
    made.device = before.device;
    made.measures.push_back(std::move(row));
    made_.devices.push_back(std::move(made));
  }

  report const& model_;
  memory_baseline const* baseline_;
  check_options const& options_;
  check_report made_;
  std::set<std::string> used_names_;  ///< of limits that met their number
};

void check_comparable(memory_baseline const& now, memory_baseline const& baseline) {
  auto const require = [](char const* option, auto const& was, auto const& is) {
    if (was == is) return;
    throw error(
        error_code::bad_request,
        fmt::format("the baseline was written with {} {}, this check has {}", option, was, is),
        "use the same options for both");
  };
  auto const word = [](auto value) { return std::string(to_string(value)); };
  require("--measure", word(baseline.what), word(now.what));
  require("--sizes", word(baseline.sizes), word(now.sizes));
  require("--carried-in", word(baseline.older), word(now.older));
  require("--site", word(baseline.rule), word(now.rule));
  if (now.rule == site_rule::user) require("--frame-depth", baseline.frame_depth, now.frame_depth);
}

}  // namespace

memory_baseline make_baseline(report const& model, site_options const& options) {
  memory_baseline made;
  made.file = model.file;
  made.what = model.plan.what;
  made.sizes = model.plan.sizes;
  made.older = model.plan.older;
  made.rule = model.rule;
  made.frame_depth = options.frame_depth;
  for (device_report const& device : model.devices) made.devices.push_back(make_device(device));
  return made;
}

check_report make_check(report const& model, memory_baseline const* baseline,
                        check_options const& options) {
  if (baseline == nullptr) return checker(model, nullptr, options).make();
  check_comparable(make_baseline(model, options.site), *baseline);
  memory_baseline shown = *baseline;
  check_options named = options;
  if (options.site.redact) {
    for (baseline_device& device : shown.devices) redact(device.sites);
    named.baseline_file = redact_outside(path_parts(options.baseline_file));
  }
  return checker(model, &shown, named).make();
}

}  // namespace memreplay
