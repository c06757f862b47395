// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which site of one snapshot is which of another, though the code between them has moved.
#include "report/site_matching.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

using side = std::vector<side_site>;

struct two_sides {
  side a, b;
};

void add(std::optional<side_site>& sum, side_site const& part) {
  if (!sum) {
    sum = part;
    return;
  }
  sum->bytes = add_saturated(sum->bytes, part.bytes);
  sum->tensors = add_saturated(sum->tensors, part.tensors);
}

std::optional<side_site> join(side const& sites) {
  std::optional<side_site> sum;
  for (side_site const& one : sites) add(sum, one);
  return sum;
}

/// Sites that read alike are one: two folders may hold files of one name.
side by_text(side const& sites) {
  std::map<std::string, std::optional<side_site>> joined;
  for (side_site const& one : sites) add(joined[one.where.text], one);
  side made;
  for (auto& [text, one] : joined) made.push_back(*std::move(one));
  std::stable_sort(made.begin(), made.end(), [](side_site const& left, side_site const& right) {
    return left.where.line < right.where.line;
  });
  return made;
}

using by_name = std::map<std::string_view, side_site const*>;

by_name name_sites(side const& sites) {
  by_name named;
  for (side_site const& one : sites) named.emplace(one.where.text, &one);
  return named;
}

bool are_among(by_name const& some, by_name const& all) {
  return std::all_of(some.begin(), some.end(),
                     [&](auto const& entry) { return all.contains(entry.first); });
}

std::string moved_text(site const& a, site const& b) {
  bool const shows_line =
      a.line > 0 && b.line > 0 && a.line != b.line && a.text.ends_with(fmt::format(":{}", a.line));
  return shows_line ? fmt::format("{}->{}", a.text, b.line) : b.text;
}

/// The sites of one function.
void match_lines(std::string const& function, two_sides const& given,
                 std::vector<matched_sites>& out) {
  side const a = by_text(given.a);
  side const b = by_text(given.b);
  by_name const names_a = name_sites(a);
  by_name const names_b = name_sites(b);
  if (are_among(names_a, names_b) || are_among(names_b, names_a)) {
    for (side_site const& one : a) {
      auto const other = names_b.find(one.where.text);
      out.push_back(
          {one.where.text, one,
           other == names_b.end() ? std::nullopt : std::optional<side_site>(*other->second)});
    }
    for (side_site const& one : b) {
      if (!names_a.contains(one.where.text)) out.push_back({one.where.text, {}, one});
    }
  } else if (a.size() == b.size()) {
    for (std::size_t row = 0; row < a.size(); ++row)
      out.push_back({moved_text(a[row].where, b[row].where), a[row], b[row]});
  } else {
    out.push_back({function, join(a), join(b)});
  }
}

site_delta_row make_row(matched_sites const& pair) {
  site_delta_row made;
  made.site = pair.text;
  site const& shown = pair.b ? pair.b->where : pair.a->where;
  made.label = shown.label;
  made.link = shown.link;
  if (pair.a) {
    made.bytes_a = pair.a->bytes;
    made.tensors_a = pair.a->tensors;
  }
  if (pair.b) {
    made.bytes_b = pair.b->bytes;
    made.tensors_b = pair.b->tensors;
  }
  made.delta_bytes = subtract_saturated(made.bytes_b, made.bytes_a);
  // Without tensors on one side there is no other size, only more or fewer of them.
  made.from_count_bytes = made.delta_bytes;
  if (made.tensors_a > 0 && made.tensors_b > 0) {
    double const mean = static_cast<double>(made.bytes_a) / static_cast<double>(made.tensors_a);
    double const from_count = mean * static_cast<double>(made.tensors_b - made.tensors_a);
    made.from_count_bytes =
        std::abs(from_count) < 9e18 ? std::llround(from_count) : made.delta_bytes;
  }
  made.from_size_bytes = subtract_saturated(made.delta_bytes, made.from_count_bytes);
  return made;
}

void count(site_delta_row const& row, site_deltas& sum) {
  sum.total_a = add_saturated(sum.total_a, row.bytes_a);
  sum.total_b = add_saturated(sum.total_b, row.bytes_b);
  one_sided* only = nullptr;
  if (row.tensors_b == 0 && row.bytes_b == 0) only = &sum.only_a;
  if (row.tensors_a == 0 && row.bytes_a == 0) only = &sum.only_b;
  if (only == nullptr) return;
  ++only->sites;
  only->bytes = add_saturated(only->bytes, row.bytes_a + row.bytes_b);
  only->tensors = add_saturated(only->tensors, row.tensors_a + row.tensors_b);
}

}  // namespace

std::vector<matched_sites> match_sites(std::vector<side_site> const& a,
                                       std::vector<side_site> const& b, site_match how) {
  auto const key = [how](side_site const& one) {
    return how == site_match::file ? one.where.file_key : one.where.function_key;
  };
  std::map<std::string, two_sides> groups;
  for (side_site const& one : a) groups[key(one)].a.push_back(one);
  for (side_site const& one : b) groups[key(one)].b.push_back(one);
  std::vector<matched_sites> made;
  for (auto const& [name, group] : groups) {
    if (how == site_match::site) {
      match_lines(name, group, made);
    } else {
      made.push_back({name, join(group.a), join(group.b)});
    }
  }
  return made;
}

site_deltas make_site_deltas(std::vector<side_site> const& a, std::vector<side_site> const& b,
                             site_match how, std::int64_t limit) {
  site_deltas made;
  for (matched_sites const& pair : match_sites(a, b, how)) {
    made.rows.push_back(make_row(pair));
    count(made.rows.back(), made);
  }
  made.delta_bytes = subtract_saturated(made.total_b, made.total_a);
  // What grew most stands first, what shrank most last; a short list keeps both ends.
  auto const size = [](site_delta_row const& row) {
    return row.delta_bytes < 0 ? subtract_saturated(0, row.delta_bytes) : row.delta_bytes;
  };
  std::sort(made.rows.begin(), made.rows.end(),
            [&](site_delta_row const& left, site_delta_row const& right) {
              return std::make_tuple(size(right), right.bytes_b, left.site) <
                     std::make_tuple(size(left), left.bytes_b, right.site);
            });
  std::size_t const shown =
      limit == 0 ? made.rows.size() : std::min(made.rows.size(), static_cast<std::size_t>(limit));
  for (std::size_t row = shown; row < made.rows.size(); ++row) {
    ++made.rest_sites;
    made.rest_a = add_saturated(made.rest_a, made.rows[row].bytes_a);
    made.rest_b = add_saturated(made.rest_b, made.rows[row].bytes_b);
  }
  made.rest_delta = subtract_saturated(made.rest_b, made.rest_a);
  made.rows.resize(shown);
  std::stable_sort(made.rows.begin(), made.rows.end(),
                   [](site_delta_row const& left, site_delta_row const& right) {
                     return left.delta_bytes > right.delta_bytes;
                   });
  return made;
}

}  // namespace memreplay::reporting
