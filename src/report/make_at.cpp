// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report of one moment, and of two moments of two snapshots.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>

#include "report/annotations.hpp"
#include "report/header.hpp"
#include "report/live_sets.hpp"
#include "report/moments.hpp"
#include "report/redaction.hpp"
#include "report/saturating.hpp"
#include "report/side_sites.hpp"
#include "report/site_matching.hpp"
#include "report/site_rows.hpp"
#include "report/trace_view.hpp"

namespace memreplay {

using namespace reporting;

namespace {

event_index moment_of(snapshot const& input, device_replay const& replayed,
                      moment_request const& asked) {
  if (asked.how != moment_request::kind::peak) return find_moment(input, replayed.device, asked);
  auto const count = static_cast<std::int64_t>(replayed.peaks.size());
  if (asked.number > count) {
    throw error(error_code::bad_request,
                fmt::format("device {} has no peak {}", replayed.device, asked.number),
                count == 0
                    ? std::string("its curve has none at all")
                    : fmt::format("it has {} distinct peak{}", count, count == 1 ? "" : "s"));
  }
  return replayed.peaks[static_cast<std::size_t>(asked.number - 1)].event;
}

/// The curves and the live set at the moment, wherever the replay has them.
struct found_moment {
  moment_values values;
  live_set live;
};

found_moment find_values(device_replay const& replayed, moment_request const& asked,
                         event_index event) {
  if (asked.how != moment_request::kind::peak) {
    return {replayed.history.moments[replayed.history.row_of(event)],
            live_set_at(replayed.history, event)};
  }
  peak const& at = replayed.peaks[static_cast<std::size_t>(asked.number - 1)];
  found_moment made{{at.event, at.bytes, at.allocated_bytes, at.active_bytes, at.reserved_bytes},
                    {at.bytes, 0, at.carried_in_bytes, 0, at.holders}};
  for (stack_total const& total : at.holders) made.live.count += total.count;
  return made;
}

void count_events(trace_view const& trace, bool has_completions, moment_report& made) {
  action const frees = has_completions ? action::free_completed : action::free_requested;
  for (event_index event = 0; event <= made.event; ++event) {
    if (trace.what(event) == action::alloc) ++made.alloc_count;
    if (trace.what(event) == frees) ++made.free_count;
  }
}

moment_report make_moment(snapshot const& input, annotation_table const& annotations,
                          site_table& sites, device_replay const& replayed,
                          moment_request const& asked, report_options const& options) {
  trace_view const trace(input, replayed.device);
  moment_report made;
  made.device = replayed.device;
  made.events = replayed.events;
  made.event = moment_of(input, replayed, asked);
  auto const [values, live] = find_values(replayed, asked, made.event);
  made.time_us = trace.time_us(made.event);
  made.seconds = trace.seconds(made.event);
  made.span_seconds = trace.span_seconds();
  if (made.time_us) made.within = annotations.within(replayed.device, *made.time_us);
  made.bytes = values.bytes;
  made.start_bytes = replayed.measured.start_bytes;
  made.delta_bytes = subtract_saturated(made.bytes, made.start_bytes);
  made.carried_in_bytes = live.carried_in_bytes;
  made.trace_bytes = subtract_saturated(made.bytes, live.carried_in_bytes);
  made.allocated_bytes = values.allocated_bytes;
  made.active_bytes = values.active_bytes;
  made.reserved_bytes = values.reserved_bytes;
  made.pending_bytes = excess(values.active_bytes, values.allocated_bytes);
  made.inactive_bytes = excess(values.reserved_bytes, values.active_bytes);
  made.fragmentation = percent(made.inactive_bytes, values.reserved_bytes);
  made.live_count = live.count;
  bool const has_completions = replayed.action_counts[static_cast<int>(action::free_completed)] > 0;
  count_events(trace, has_completions, made);
  site_rows table = make_site_rows(sites, live.by_stack, made.bytes, options.top_contributors);
  made.sites = std::move(table.rows);
  made.rest = table.rest;
  return made;
}

void redact_moment(moment_report& made) {
  made.within = redact_homes(made.within);
  redact(made.sites);
}

/// One snapshot with what its moments are made from.
struct one_side {
  compared_side const& from;
  annotation_table annotations;
  site_table sites;

  one_side(compared_side const& side, report_options const& options)
      : from(side), annotations(side.input), sites(side.input, options.site, site_rule::user) {}

  [[nodiscard]] report_header header(replay_plan const& plan) const {
    return make_header(at_schema_version, from.input, from.replayed, plan, sites, from.file);
  }
};

}  // namespace

replay_plan plan_at(snapshot const& input, std::int32_t device, moment_request const& asked,
                    replay_plan plan) {
  plan.peak_count = 0;
  if (asked.how == moment_request::kind::peak) {
    plan.peak_count = asked.number;
  } else {
    plan.moments = {find_moment(input, device, asked)};
  }
  return plan;
}

at_report make_at(snapshot const& input, replay_result const& replayed, replay_plan const& plan,
                  moment_request const& asked, report_options const& options,
                  std::string const& file) {
  one_side side({input, replayed, file}, options);
  at_report made;
  static_cast<report_header&>(made) = side.header(plan);
  made.asked = asked;
  for (device_replay const& device : replayed.devices) {
    made.devices.push_back(
        make_moment(input, side.annotations, side.sites, device, asked, options));
    if (options.site.redact) redact_moment(made.devices.back());
  }
  if (options.site.redact) redact(static_cast<report_header&>(made));
  return made;
}

at_comparison make_at_comparison(compared_side const& a, compared_side const& b,
                                 replay_plan const& plan, moment_request const& asked,
                                 site_match match, report_options const& options) {
  one_side side_a(a, options);
  one_side side_b(b, options);
  at_comparison made;
  made.asked = asked;
  made.match = match;
  made.a = side_a.header(plan);
  made.b = side_b.header(plan);
  device_pairs const pairs = pair_devices(a.replayed, b.replayed);
  made.notes = pairs.notes;
  for (auto const& [device_a, device_b] : pairs.pairs) {
    moment_comparison row;
    row.a = make_moment(a.input, side_a.annotations, side_a.sites, *device_a, asked, options);
    row.b = make_moment(b.input, side_b.annotations, side_b.sites, *device_b, asked, options);
    live_set const live_a = find_values(*device_a, asked, row.a.event).live;
    live_set const live_b = find_values(*device_b, asked, row.b.event).live;
    row.sites = plan.what == measure::reserved
                    ? deltas_without_sites(row.a.bytes, row.b.bytes)
                    : make_site_deltas(side_sites(side_a.sites, live_a.by_stack),
                                       side_sites(side_b.sites, live_b.by_stack), match,
                                       options.top_contributors);
    row.sites.carried_in_a = live_a.carried_in_bytes;
    row.sites.carried_in_b = live_b.carried_in_bytes;
    if (options.site.redact) {
      redact_moment(row.a);
      redact_moment(row.b);
      redact(row.sites);
    }
    made.devices.push_back(std::move(row));
  }
  if (options.site.redact) {
    redact(made.a);
    redact(made.b);
  }
  return made;
}

}  // namespace memreplay
