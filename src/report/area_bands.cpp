// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Splits the measured curve into stacked areas, one a site.
#include "report/area_bands.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

std::vector<event_index> moments_of(device_replay const& replayed) {
  std::vector<event_index> moments;
  if (replayed.ranges.empty()) return moments;
  moments.push_back(before_trace);
  for (range_replay const& range : replayed.ranges) moments.push_back(range.peak_event);
  moments.push_back(replayed.events - 1);
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

/// What each site holds after a moment, what is carried in apart.
struct held_bytes {
  std::vector<std::int64_t> by_site;
  std::int64_t carried_in = 0;

  void add(site_table& sites, live_change const& change) {
    if (change.is_carried_in) {
      carried_in = add_saturated(carried_in, change.bytes);
      return;
    }
    auto const site = static_cast<std::size_t>(sites.site_of(change.stack));
    if (site >= by_site.size()) by_site.resize(site + 1);
    by_site[site] = add_saturated(by_site[site], change.bytes);
  }
};

/// Goes through the history and calls `visit(column, moment, held)` for each of the moments.
template <class VisitT>
void walk(live_history const& history, std::vector<event_index> const& moments, site_table& sites,
          VisitT visit) {
  held_bytes held;
  auto change = history.changes.begin();
  for (std::size_t column = 0; column < moments.size(); ++column) {
    std::size_t const row = history.row_of(moments[column]);
    for (; change != history.changes.end() && change->moment <= static_cast<std::int64_t>(row);
         ++change) {
      held.add(sites, *change);
    }
    visit(column, history.moments[row], held);
  }
}

std::vector<std::size_t> largest_sites(std::vector<std::int64_t> const& areas,
                                       site_table const& sites, std::int64_t most) {
  std::vector<std::size_t> order;
  for (std::size_t site = 0; site < areas.size(); ++site) {
    if (areas[site] > 0) order.push_back(site);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    if (areas[left] != areas[right]) return areas[left] > areas[right];
    std::string const& a = sites[static_cast<site_id>(left)].text;
    std::string const& b = sites[static_cast<site_id>(right)].text;
    return a != b ? a < b : left < right;
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  return order;
}

}  // namespace

area_bands make_area_bands(device_replay const& replayed, trace_clock const& clock,
                           site_table& sites, stack_collector& stacks, std::int64_t most_sites) {
  area_bands made;
  made.event = moments_of(replayed);
  if (clock.has_times()) {
    for (event_index const event : made.event) made.seconds.push_back(clock.seconds_at(event));
  }
  std::vector<std::int64_t> areas;
  walk(replayed.history, made.event, sites, [&](std::size_t, auto const&, held_bytes const& held) {
    areas.resize(std::max(areas.size(), held.by_site.size()));
    for (std::size_t site = 0; site < held.by_site.size(); ++site)
      areas[site] = add_saturated(areas[site], held.by_site[site]);
  });
  std::vector<std::size_t> const shown = largest_sites(areas, sites, most_sites);
  for (std::size_t const site : shown)
    made.sites.push_back(stacks.row_of(static_cast<site_id>(site)));

  std::size_t const columns = made.event.size();
  made.bytes.resize((shown.size() + 2) * columns);
  walk(replayed.history, made.event, sites,
       [&](std::size_t column, moment_values const& values, held_bytes const& held) {
         std::int64_t others = subtract_saturated(values.bytes, held.carried_in);
         for (std::size_t row = 0; row < shown.size(); ++row) {
           std::int64_t const bytes =
               shown[row] < held.by_site.size() ? held.by_site[shown[row]] : 0;
           made.bytes[row * columns + column] = bytes;
           others = subtract_saturated(others, bytes);
         }
         made.bytes[shown.size() * columns + column] = others;
         made.bytes[(shown.size() + 1) * columns + column] = held.carried_in;
       });
  return made;
}

}  // namespace memreplay::reporting
