// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Parts of pages that several reports share.
#include "writers/page_parts.hpp"

#include "base/byte_text.hpp"
#include "writers/plain_text.hpp"

namespace memreplay::writers {

using base::byte_text;
using base::signed_byte_text;

std::string render(page const& shown, text_format format) {
  return format == text_format::markdown ? page_markdown(shown) : page_text(shown);
}

void show_header(report_header const& model, page& shown) {
  shown.fact("Measure",
             fmt::format("{}, {} sizes, carried-in memory {}", to_string(model.plan.what),
                         to_string(model.plan.sizes),
                         model.plan.older == carried_in::include ? "included" : "ignored"));
  if (model.is_salvaged) shown.fact("Cut off", "yes, read up to the cut");
  if (!model.rule_note.empty()) shown.fact("Note", model.rule_note);
}

void show_sides(report_header const& a, report_header const& b,
                std::vector<std::string> const& notes, page& shown) {
  shown.fact("A", a.file);
  shown.fact("B", b.file);
  show_header(a, shown);
  if (b.is_salvaged) shown.fact("B is cut off", "yes, read up to the cut");
  for (std::string const& note : notes) shown.fact("Note", note);
}

namespace {

char const* nothing_listed(bool has_bytes, char const* nothing) {
  return has_bytes ? "Segments belong to no site; --measure allocated says who lives in them."
                   : nothing;
}

}  // namespace

void show_sites(std::vector<site_row> const& rows, rest_row const& rest, std::int64_t total_bytes,
                std::int64_t total_tensors, page& shown) {
  page_table& table = shown.table({{"bytes", align::right},
                                   {"%", align::right},
                                   {"tensors", align::right},
                                   {"site"},
                                   {"call chain"}});
  table.when_empty(nothing_listed(total_bytes != 0, "Nothing is live."));
  for (site_row const& row : rows) {
    table.add({byte_text(row.bytes), share_text(row.share), count_text(row.tensors),
               page_cell(row.site, row.link), row.chain});
  }
  if (rows.empty()) return;
  if (rest.sites > 0) {
    table.add({byte_text(rest.bytes), share_text(rest.share), count_text(rest.tensors),
               count_text(rest.sites, "more site"), ""},
              row_kind::rest);
  }
  table.add({byte_text(total_bytes), "100.0", count_text(total_tensors), "all", ""},
            row_kind::total);
}

void show_deltas(site_deltas const& sites, page& shown) {
  page_table& table = shown.table({{"B - A", align::right},
                                   {"A", align::right},
                                   {"B", align::right},
                                   {"tensors A", align::right},
                                   {"tensors B", align::right},
                                   {"by count", align::right},
                                   {"by size", align::right},
                                   {"site"}});
  table.when_empty(
      nothing_listed(sites.total_a != 0 || sites.total_b != 0, "Nothing is live on either side."));
  for (site_delta_row const& row : sites.rows) {
    table.add({signed_byte_text(row.delta_bytes), byte_text(row.bytes_a), byte_text(row.bytes_b),
               count_text(row.tensors_a), count_text(row.tensors_b),
               signed_byte_text(row.from_count_bytes), signed_byte_text(row.from_size_bytes),
               page_cell(row.site, row.link)});
  }
  if (sites.rows.empty()) return;
  if (sites.rest_sites > 0) {
    table.add({signed_byte_text(sites.rest_delta), byte_text(sites.rest_a), byte_text(sites.rest_b),
               "", "", "", "", count_text(sites.rest_sites, "more site")},
              row_kind::rest);
  }
  table.add({signed_byte_text(sites.delta_bytes), byte_text(sites.total_a),
             byte_text(sites.total_b), "", "", "", "", "all"},
            row_kind::total);
  shown.fact("Of that carried in", fmt::format("{} in A, {} in B", byte_text(sites.carried_in_a),
                                               byte_text(sites.carried_in_b)));
  shown.fact("Only in A", fmt::format("{} at {}", byte_text(sites.only_a.bytes),
                                      count_text(sites.only_a.sites, "site")));
  shown.fact("Only in B", fmt::format("{} at {}", byte_text(sites.only_b.bytes),
                                      count_text(sites.only_b.sites, "site")));
}

void add_bytes_row(std::string const& name, std::int64_t a, std::int64_t b, page_table& table) {
  // The difference of two numbers that stand beside it in the same row.
  std::int64_t difference = 0;
  bool const fits = !__builtin_sub_overflow(b, a, &difference);
  table.add({name, byte_text(a), byte_text(b), fits ? signed_byte_text(difference) : ""});
}

void add_count_row(std::string const& name, std::int64_t a, std::int64_t b, page_table& table) {
  std::int64_t difference = 0;
  bool const fits = !__builtin_sub_overflow(b, a, &difference);
  table.add({name, count_text(a), count_text(b), fits ? signed_count_text(difference) : ""});
}

void show_findings(std::vector<finding> const& rows, page& shown) {
  if (rows.empty()) return;
  shown.heading(3, "Findings");
  for (finding const& row : rows) shown.bullet(row.text);
}

}  // namespace memreplay::writers
