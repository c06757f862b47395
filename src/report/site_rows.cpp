// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Rolls totals by stack up into a table by site.
#include "report/site_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <unordered_map>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

bool is_larger(stack_total const& left, stack_total const& right) {
  return left.bytes != right.bytes ? left.bytes > right.bytes
                                   : to_row(left.stack) < to_row(right.stack);
}

}  // namespace

std::vector<site_total> total_by_site(site_table& sites, std::vector<stack_total> const& totals) {
  std::vector<site_total> rows;
  std::unordered_map<std::uint32_t, std::size_t> row_by_site;
  for (stack_total const& total : totals) {
    site_id const id = sites.site_of(total.stack);
    auto const [known, is_new] =
        row_by_site.try_emplace(static_cast<std::uint32_t>(id), rows.size());
    if (is_new) rows.push_back({id, 0, 0, total});
    site_total& row = rows[known->second];
    row.bytes = add_saturated(row.bytes, total.bytes);
    row.count = add_saturated(row.count, total.count);
    if (is_larger(total, row.largest)) row.largest = total;
  }
  return rows;
}

site_rows make_site_rows(site_table& sites, std::vector<stack_total> const& totals,
                         std::int64_t whole_bytes, std::int64_t limit) {
  std::vector<site_total> by_site = total_by_site(sites, totals);
  std::sort(by_site.begin(), by_site.end(),
            [&sites](site_total const& left, site_total const& right) {
              site const& a = sites[left.id];
              site const& b = sites[right.id];
              return std::tie(right.bytes, a.text, a.file, a.line, left.id) <
                     std::tie(left.bytes, b.text, b.file, b.line, right.id);
            });

  site_rows made;
  std::size_t const shown =
      limit == 0 ? by_site.size() : std::min(by_site.size(), static_cast<std::size_t>(limit));
  for (std::size_t index = 0; index < shown; ++index) {
    site_total const& total = by_site[index];
    site const& where = sites[total.id];
    made.rows.push_back({where.text, where.label, where.file, where.line, where.link,
                         sites.chain_of(total.largest.stack), total.bytes, total.count,
                         percent(total.bytes, whole_bytes)});
  }
  for (std::size_t index = shown; index < by_site.size(); ++index) {
    ++made.rest.sites;
    made.rest.bytes = add_saturated(made.rest.bytes, by_site[index].bytes);
    made.rest.tensors = add_saturated(made.rest.tensors, by_site[index].count);
  }
  if (by_site.empty()) made.rest.bytes = whole_bytes;
  made.rest.share = percent(made.rest.bytes, whole_bytes);
  return made;
}

}  // namespace memreplay::reporting
