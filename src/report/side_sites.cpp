// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What two snapshots are compared by: the sites of a live set, and which device is whose.
#include "report/side_sites.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <memreplay/error.hpp>

#include "report/redaction.hpp"
#include "report/saturating.hpp"
#include "report/site_rows.hpp"

namespace memreplay::reporting {
namespace {

device_replay const* find_device(replay_result const& side, std::int32_t device) {
  auto const found = std::find_if(side.devices.begin(), side.devices.end(),
                                  [device](auto const& one) { return one.device == device; });
  return found == side.devices.end() ? nullptr : &*found;
}

std::string list_devices(replay_result const& side) {
  std::string list;
  for (device_replay const& one : side.devices)
    list += (list.empty() ? "" : ", ") + std::to_string(one.device);
  return list;
}

}  // namespace

std::vector<side_site> side_sites(site_table& sites, std::vector<stack_total> const& live) {
  std::vector<side_site> made;
  for (site_total const& total : total_by_site(sites, live))
    made.push_back({sites[total.id], total.bytes, total.count});
  return made;
}

device_pairs pair_devices(replay_result const& a, replay_result const& b) {
  device_pairs made;
  if (a.devices.size() == 1 && b.devices.size() == 1) {
    device_replay const& one = a.devices.front();
    device_replay const& other = b.devices.front();
    made.pairs.emplace_back(&one, &other);
    if (one.device != other.device) {
      made.notes.push_back(
          fmt::format("device {} of A is set against device {} of B", one.device, other.device));
    }
    return made;
  }
  for (device_replay const& one : a.devices) {
    if (device_replay const* const other = find_device(b, one.device)) {
      made.pairs.emplace_back(&one, other);
    } else {
      made.notes.push_back(fmt::format("only A has device {}", one.device));
    }
  }
  for (device_replay const& one : b.devices) {
    if (find_device(a, one.device) == nullptr)
      made.notes.push_back(fmt::format("only B has device {}", one.device));
  }
  if (!made.pairs.empty()) return made;
  throw error(error_code::bad_request, "the two files have no device in common",
              fmt::format("A has device {}, B has device {}; --device busiest sets the busiest of "
                          "each side by side",
                          list_devices(a), list_devices(b)));
}

site_deltas deltas_without_sites(std::int64_t bytes_a, std::int64_t bytes_b) {
  site_deltas made;
  made.total_a = made.rest_a = bytes_a;
  made.total_b = made.rest_b = bytes_b;
  made.delta_bytes = made.rest_delta = subtract_saturated(bytes_b, bytes_a);
  return made;
}

void redact(site_deltas& made) {
  for (site_delta_row& row : made.rows) {
    row.site = redact_homes(row.site);
    row.label = redact_homes(row.label);
    row.link.clear();
  }
}

}  // namespace memreplay::reporting
