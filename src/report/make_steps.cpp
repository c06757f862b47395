// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report of a trace step by step.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>

#include "report/annotations.hpp"
#include "report/header.hpp"
#include "report/live_sets.hpp"
#include "report/redaction.hpp"
#include "report/site_rows.hpp"
#include "report/sites.hpp"
#include "report/span_reports.hpp"
#include "report/spans.hpp"

namespace memreplay {

using namespace reporting;

namespace {

/// Rows of the spans that are shown with their live set.
std::set<std::size_t> choose_spans(span_list const& cut, device_replay const& replayed,
                                   steps_options const& asked) {
  std::set<std::size_t> chosen;
  for (std::size_t row = 0; row < cut.spans.size(); ++row) {
    if (asked.all_steps || cut.spans[row].number == asked.step) chosen.insert(row);
  }
  if (asked.step && chosen.empty()) {
    std::string const there_are =
        cut.spans.empty() ? "it has none with events"
                          : fmt::format("it has {}, {} to {}", cut.spans.size(),
                                        cut.spans.front().number, cut.spans.back().number);
    throw error(error_code::bad_request,
                fmt::format("device {} has no step {} among its {}", replayed.device, *asked.step,
                            cut.what),
                there_are);
  }
  if (!asked.all_steps && !asked.step && !cut.spans.empty()) {
    auto const highest = std::max_element(
        replayed.ranges.begin(), replayed.ranges.end(),
        [](auto const& left, auto const& right) { return left.peak_bytes < right.peak_bytes; });
    chosen.insert(static_cast<std::size_t>(highest - replayed.ranges.begin()));
  }
  return chosen;
}

/// The annotations that begin within each span. Steps themselves are left out.
void add_annotations(snapshot const& input, std::vector<span_report>& spans) {
  std::vector<annotation_range> ranges = pair_annotations(input);
  std::erase_if(ranges, [&](annotation_range const& range) {
    return !range.has_start ||
           input.strings[range.name].find("ProfilerStep#") != std::string_view::npos;
  });
  std::ranges::sort(ranges, {}, &annotation_range::start_us);
  for (span_report& one : spans) {
    if (!one.where.start_us || !one.where.end_us) continue;
    std::unordered_map<std::uint32_t, std::int64_t> counts;
    auto const first =
        std::ranges::lower_bound(ranges, *one.where.start_us, {}, &annotation_range::start_us);
    for (auto range = first; range != ranges.end() && range->start_us < *one.where.end_us; ++range)
      ++counts[to_row(range->name)];
    for (auto const& [name, count] : counts)
      one.annotations.push_back({std::string(input.strings[string_id{name}]), count});
    std::sort(one.annotations.begin(), one.annotations.end(),
              [](annotation_row const& left, annotation_row const& right) {
                return left.count != right.count ? left.count > right.count
                                                 : left.name < right.name;
              });
  }
}

void redact_steps(device_steps& made) {
  made.cut.what = redact_homes(made.cut.what);
  for (span& one : made.cut.spans) one.name = redact_homes(one.name);
  for (span_report& one : made.spans) {
    one.where.name = redact_homes(one.where.name);
    redact(one.sites);
    for (annotation_row& row : one.annotations) row.name = redact_homes(row.name);
  }
}

}  // namespace

replay_plan plan_steps(snapshot const& input, std::int32_t device, span_request const& asked,
                       replay_plan plan) {
  return plan_spans(find_spans(input, device, asked), std::move(plan));
}

steps_report make_steps(snapshot const& input, replay_result const& replayed,
                        replay_plan const& plan, steps_options const& asked,
                        report_options const& options, std::string const& file) {
  site_table sites(input, options.site, site_rule::user);
  steps_report made;
  static_cast<report_header&>(made) =
      make_header(steps_schema_version, input, replayed, plan, sites, file);
  for (device_replay const& device : replayed.devices) {
    device_steps row;
    row.device = device.device;
    row.events = device.events;
    row.cut = find_spans(input, device.device, asked.spans);
    std::set<std::size_t> const chosen = choose_spans(row.cut, device, asked);
    std::set<std::size_t> moments;
    for (std::size_t const one : chosen)
      moments.insert(device.history.row_of(device.ranges[one].peak_event));
    std::vector<live_set> const live = read_live_sets(
        device.history, [&](std::size_t moment) { return moments.contains(moment); });
    row.spans = make_span_reports(input, device, row.cut.spans, live);
    for (std::size_t const one : chosen) {
      span_report& shown = row.spans[one];
      std::size_t const moment = device.history.row_of(shown.peak_event);
      site_rows table = make_site_rows(sites, live[moment].by_stack, shown.absolute_peak,
                                       options.top_contributors);
      shown.sites = std::move(table.rows);
      shown.rest = table.rest;
      shown.has_sites = true;
    }
    add_annotations(input, row.spans);
    if (options.site.redact) redact_steps(row);
    made.devices.push_back(std::move(row));
  }
  if (options.site.redact) redact(static_cast<report_header&>(made));
  return made;
}

}  // namespace memreplay
