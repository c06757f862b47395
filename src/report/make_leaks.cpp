// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The report of what grows from step to step.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>

#include "base/byte_text.hpp"
#include "report/header.hpp"
#include "report/live_sets.hpp"
#include "report/redaction.hpp"
#include "report/saturating.hpp"
#include "report/site_rows.hpp"
#include "report/sites.hpp"
#include "report/spans.hpp"

namespace memreplay {

using namespace reporting;

namespace {

constexpr std::size_t fewest_steps = 3;

using series = std::vector<std::int64_t>;

/// Bytes a step, by least squares over equally distant points.
double slope_of(series const& bytes, std::size_t first = 0) {
  auto const count = static_cast<double>(bytes.size() - first);
  double const middle = (count - 1) / 2;
  double numerator = 0;
  double denominator = 0;
  for (std::size_t at = first; at < bytes.size(); ++at) {
    double const x = static_cast<double>(at - first) - middle;
    numerator += x * static_cast<double>(bytes[at]);
    denominator += x * x;
  }
  return denominator > 0 ? numerator / denominator : 0;
}

std::int64_t growing_steps(series const& bytes) {
  std::int64_t growing = 0;
  for (std::size_t at = 1; at < bytes.size(); ++at) growing += bytes[at] > bytes[at - 1] ? 1 : 0;
  return growing;
}

/// It grows, and then is back where it began, by more than a trifle.
bool was_cleared(series const& bytes, double kept) {
  std::int64_t most = bytes.front();
  for (std::int64_t const now : bytes) {
    most = std::max(most, now);
    double const lost = static_cast<double>(most) - static_cast<double>(now);
    if (now <= bytes.front() && lost > kept / 8) return true;
  }
  return false;
}

/// Grows in two steps of three (in half of the parts that nobody marked, which may be shorter than
/// a step), keeps at least half of what it adds, and has not stopped: a cache that is full is no
/// leak, and neither is what is cleared now and then.
bool keeps_growing(series const& bytes, span_request::kind by) {
  auto const steps = static_cast<std::int64_t>(bytes.size()) - 1;
  std::int64_t const growing = growing_steps(bytes);
  bool const is_marked = by == span_request::kind::steps || by == span_request::kind::annotation;
  if (is_marked ? growing * 3 < steps * 2 : growing * 2 < steps) return false;
  double moved = 0;
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    double const change = static_cast<double>(bytes[at]) - static_cast<double>(bytes[at - 1]);
    moved += change < 0 ? -change : change;
  }
  double const kept = static_cast<double>(bytes.back()) - static_cast<double>(bytes.front());
  if (kept * 2 < moved || was_cleared(bytes, kept)) return false;
  double const overall = slope_of(bytes);
  return overall > 0 && slope_of(bytes, bytes.size() / 2) * 4 >= overall;
}

struct site_series {
  series bytes;
  std::int64_t first_tensors = 0, last_tensors = 0;
  stack_total largest;  ///< of the last moment; gives the call chain
};

using by_site = std::map<std::uint32_t, site_series>;

/// The live bytes of every site at the end of each span.
by_site follow_sites(site_table& sites, live_history const& history, span_list const& cut) {
  // Ranges may be nested, so several points can be of one moment.
  std::set<std::size_t> moments;
  for (span const& one : cut.spans) moments.insert(history.row_of(one.events.last));
  std::vector<live_set> const sets =
      read_live_sets(history, [&](std::size_t moment) { return moments.contains(moment); });
  by_site found;
  for (std::size_t point = 0; point < cut.spans.size(); ++point) {
    live_set const& live = sets[history.row_of(cut.spans[point].events.last)];
    for (site_total const& total : total_by_site(sites, live.by_stack)) {
      site_series& row = found[static_cast<std::uint32_t>(total.id)];
      row.bytes.resize(cut.spans.size());
      row.bytes[point] = total.bytes;
      if (point == 0) row.first_tensors = total.count;
      if (point + 1 == cut.spans.size()) {
        row.last_tensors = total.count;
        row.largest = total.largest;
      }
    }
  }
  return found;
}

/// Bytes at the end in pools of their own, by site: graphs never give those back.
std::unordered_map<std::uint32_t, std::int64_t> private_bytes(site_table& sites,
                                                              snapshot const& input,
                                                              std::int32_t device) {
  std::unordered_map<std::uint32_t, std::int64_t> bytes;
  for (segment const& row : input.segments) {
    if (row.device != device || input.pools[to_row(row.pool)] == pool_id{}) continue;
    for (std::int64_t index = 0; index < row.block_count; ++index) {
      block const& part = input.blocks[static_cast<std::size_t>(row.first_block + index)];
      if (part.state == block_state::inactive) continue;
      std::int64_t& sum = bytes[static_cast<std::uint32_t>(sites.site_of(part.stack))];
      sum = add_saturated(sum, to_bytes(part.requested_size));
    }
  }
  return bytes;
}

leak_row make_row(site_table& sites, site_id id, site_series const& found) {
  site const& where = sites[id];
  leak_row made;
  made.site = where.text;
  made.label = where.label;
  made.link = where.link;
  made.chain = sites.chain_of(found.largest.stack);
  made.slope_bytes = slope_of(found.bytes);
  made.growing_steps = growing_steps(found.bytes);
  made.first_bytes = found.bytes.front();
  made.last_bytes = found.bytes.back();
  made.growth_bytes = subtract_saturated(made.last_bytes, made.first_bytes);
  made.first_tensors = found.first_tensors;
  made.last_tensors = found.last_tensors;
  made.bytes = found.bytes;
  return made;
}

void order(std::vector<leak_row>& rows) {
  std::sort(rows.begin(), rows.end(), [](leak_row const& left, leak_row const& right) {
    return left.slope_bytes != right.slope_bytes ? left.slope_bytes > right.slope_bytes
                                                 : left.site < right.site;
  });
}

void add_never_freed(site_table& sites, device_replay const& replayed, std::int64_t limit,
                     device_leaks& made) {
  std::map<std::uint32_t, stack_total> live;
  for (live_change const& change : replayed.history.changes) {
    if (change.is_carried_in) continue;
    stack_total& total = live[to_row(change.stack)];
    total.stack = change.stack;
    total.bytes = add_saturated(total.bytes, change.bytes);
    total.count += change.count;
  }
  std::vector<stack_total> totals;
  for (auto const& [stack, total] : live) {
    if (total.count == 0 && total.bytes == 0) continue;
    totals.push_back(total);
    made.never_freed_bytes = add_saturated(made.never_freed_bytes, total.bytes);
    made.never_freed_tensors += total.count;
  }
  site_rows table = make_site_rows(sites, totals, made.never_freed_bytes, limit);
  made.never_freed = std::move(table.rows);
  made.never_freed_rest = table.rest;
}

void add_findings(device_leaks& made) {
  using base::byte_text;
  if (made.leaks.empty()) {
    made.findings.push_back(
        {"no_leak", fmt::format("No site keeps growing over the {} {}.", made.steps, made.cut.what),
         0});
    return;
  }
  leak_row const& worst = made.leaks.front();
  made.findings.push_back(
      {"leak",
       fmt::format("{} grows by {} a step: from {} to {} over {} {}, in {} of {} steps.",
                   worst.site, byte_text(static_cast<std::int64_t>(worst.slope_bytes)),
                   byte_text(worst.first_bytes), byte_text(worst.last_bytes), made.steps,
                   made.cut.what, worst.growing_steps, made.steps - 1),
       worst.growth_bytes});
}

void redact_leaks(device_leaks& made) {
  made.cut.what = redact_homes(made.cut.what);
  for (span& one : made.cut.spans) one.name = redact_homes(one.name);
  for (std::vector<leak_row>* rows : {&made.leaks, &made.in_private_pools}) {
    for (leak_row& row : *rows) {
      row.site = redact_homes(row.site);
      row.label = redact_homes(row.label);
      row.chain = redact_homes(row.chain);
      row.link.clear();
    }
  }
  redact(made.never_freed);
  redact(made.findings);
}

/// Equal points of successive steps: the ends of those that are whole.
span_list find_points(snapshot const& input, std::int32_t device, span_request const& asked) {
  span_list cut = find_repetitions(input, device, asked);
  std::erase_if(cut.spans, [](span const& one) { return !one.is_complete; });
  if (cut.spans.size() >= fewest_steps) return cut;
  throw error(error_code::bad_request,
              fmt::format("growth needs at least {} whole steps, and the trace of device {} has {} "
                          "{}",
                          fewest_steps, device, cut.spans.size(), cut.what),
              "--by time cuts it into ten windows");
}

}  // namespace

replay_plan plan_leaks(snapshot const& input, std::int32_t device, span_request const& asked,
                       replay_plan plan) {
  plan.peak_count = 0;
  plan.timeline_width = 0;
  for (span const& one : find_points(input, device, asked).spans)
    plan.moments.push_back(one.events.last);
  // The last moment of the history is the end of the trace.
  plan.moments.push_back(input.traces[static_cast<std::size_t>(device)].count - 1);
  return plan;
}

leaks_report make_leaks(snapshot const& input, replay_result const& replayed,
                        replay_plan const& plan, span_request const& asked,
                        report_options const& options, std::string const& file) {
  site_table sites(input, options.site, site_rule::user);
  leaks_report made;
  static_cast<report_header&>(made) =
      make_header(leaks_schema_version, input, replayed, plan, sites, file);
  for (device_replay const& device : replayed.devices) {
    device_leaks row;
    row.device = device.device;
    row.events = device.events;
    row.cut = find_points(input, device.device, asked);
    row.steps = static_cast<std::int64_t>(row.cut.spans.size());
    for (span const& one : row.cut.spans) {
      std::size_t const moment = device.history.row_of(one.events.last);
      row.live_bytes.push_back(device.history.moments[moment].bytes);
    }
    row.slope_bytes = slope_of(row.live_bytes);
    auto const in_pools = private_bytes(sites, input, device.device);
    for (auto const& [id, found] : follow_sites(sites, device.history, row.cut)) {
      if (!keeps_growing(found.bytes, row.cut.by)) continue;
      auto const pooled = in_pools.find(id);
      bool const is_private = pooled != in_pools.end() && pooled->second * 2 >= found.bytes.back();
      (is_private ? row.in_private_pools : row.leaks)
          .push_back(make_row(sites, static_cast<site_id>(id), found));
    }
    order(row.leaks);
    order(row.in_private_pools);
    add_never_freed(sites, device, options.top_contributors, row);
    add_findings(row);
    if (options.top_contributors > 0 &&
        row.leaks.size() > static_cast<std::size_t>(options.top_contributors)) {
      auto const shown = static_cast<std::size_t>(options.top_contributors);
      row.leaks_rest = static_cast<std::int64_t>(row.leaks.size() - shown);
      row.leaks.resize(shown);
    }
    if (options.site.redact) redact_leaks(row);
    made.devices.push_back(std::move(row));
  }
  if (options.site.redact) redact(static_cast<report_header&>(made));
  return made;
}

}  // namespace memreplay
