// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Who keeps nearly empty segments from being returned, and who holds the memory at all.
#include "report/pinners.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/memory_map.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

struct segment_use {
  std::int64_t free_bytes = 0, live_bytes = 0;
  std::map<site_id, std::int64_t> by_site;
};

struct pinner {
  pinner_row row;
  site_id id{};
  std::set<site_id> others;
};

bool comes_before(site_table const& sites, site_id left, site_id right) {
  site const& a = sites[left];
  site const& b = sites[right];
  return std::tie(a.text, a.file, a.line, left) < std::tie(b.text, b.file, b.line, right);
}

segment_use look_into(site_table& sites, address_map const& map, segment const& owner) {
  segment_use use;
  for (block const& part : blocks_of(map, owner)) {
    std::int64_t const bytes = to_bytes(part.size);
    if (part.state == block_state::inactive) {
      use.free_bytes = add_saturated(use.free_bytes, bytes);
    } else {
      use.live_bytes = add_saturated(use.live_bytes, bytes);
      std::int64_t& held = use.by_site[sites.site_of(part.stack)];
      held = add_saturated(held, bytes);
    }
  }
  return use;
}

site_id largest_of(site_table const& sites, segment_use const& use) {
  auto largest = use.by_site.begin();
  for (auto one = use.by_site.begin(); one != use.by_site.end(); ++one) {
    bool const is_larger = one->second != largest->second
                               ? one->second > largest->second
                               : one != largest && comes_before(sites, one->first, largest->first);
    if (is_larger) largest = one;
  }
  return largest->first;
}

void charge(segment_use const& use, site_id id, pinner& who) {
  who.id = id;
  ++who.row.segments;
  who.row.stranded_bytes = add_saturated(who.row.stranded_bytes, use.free_bytes);
  who.row.live_bytes = add_saturated(who.row.live_bytes, use.by_site.at(id));
  for (auto const& [other, bytes] : use.by_site) {
    if (other != id) who.others.insert(other);
  }
}

}  // namespace

pinners find_pinners(site_table& sites, address_map const& map, std::int64_t limit) {
  pinners made;
  std::map<site_id, pinner> by_site;
  for (segment const& owner : map.segments) {
    segment_use const use = look_into(sites, map, owner);
    if (use.by_site.empty()) {
      ++made.empty_segments;
      made.empty_bytes = add_saturated(made.empty_bytes, use.free_bytes);
      continue;
    }
    if (use.free_bytes < use.live_bytes) continue;
    site_id const id = largest_of(sites, use);
    charge(use, id, by_site[id]);
    made.pinned_bytes = add_saturated(made.pinned_bytes, use.free_bytes);
  }

  std::vector<pinner> rows;
  for (auto& [id, who] : by_site) {
    site const& where = sites[id];
    who.row.site = where.text;
    who.row.label = where.label;
    who.row.file = where.file;
    who.row.line = where.line;
    who.row.link = where.link;
    who.row.other_sites = static_cast<std::int64_t>(who.others.size());
    rows.push_back(std::move(who));
  }
  std::sort(rows.begin(), rows.end(), [&sites](pinner const& left, pinner const& right) {
    if (left.row.stranded_bytes != right.row.stranded_bytes) {
      return left.row.stranded_bytes > right.row.stranded_bytes;
    }
    return comes_before(sites, left.id, right.id);
  });
  for (pinner& one : rows) {
    if (limit == 0 || std::cmp_less(made.rows.size(), limit)) {
      made.rows.push_back(std::move(one.row));
      continue;
    }
    ++made.rest.sites;
    made.rest.segments += one.row.segments;
    made.rest.stranded_bytes = add_saturated(made.rest.stranded_bytes, one.row.stranded_bytes);
  }
  return made;
}

std::vector<stack_total> total_in_use(address_map const& map) {
  std::map<stack_id, stack_total> by_stack;
  for (segment const& owner : map.segments) {
    for (block const& part : blocks_of(map, owner)) {
      if (part.state == block_state::inactive) continue;
      stack_total& total = by_stack[part.stack];
      total.stack = part.stack;
      total.bytes = add_saturated(total.bytes, to_bytes(part.size));
      ++total.count;
    }
  }
  std::vector<stack_total> totals;
  for (auto const& [stack, total] : by_stack) totals.push_back(total);
  std::stable_sort(
      totals.begin(), totals.end(),
      [](stack_total const& left, stack_total const& right) { return left.bytes > right.bytes; });
  return totals;
}

}  // namespace memreplay::reporting
