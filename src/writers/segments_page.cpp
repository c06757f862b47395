// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The layout of `segments` for people.
#include <memreplay/write_report.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "writers/page.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

/// One letter a slot: a dot for nothing, then the higher the fuller.
std::string bar_text(std::array<int, bar_slots> const& bar) {
  constexpr char const* levels[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                    "\u2585", "\u2586", "\u2587", "\u2588"};
  std::string text;
  for (int const percent : bar) {
    // The full block is for full slots only: a hole shall show.
    text += percent <= 0 ? "\u00B7" : levels[std::min(percent * 7 / 100, 7)];
  }
  return text;
}

std::string pool_text(segment_pool const& of) {
  return of.is_private() ? fmt::format("({}, {})", of.pool_first, of.pool_second) : "default";
}

std::string kind_text(segment_pool const& of) { return of.is_small ? "small" : "large"; }

std::string owners_text(segment_row const& row) {
  std::string text;
  for (site_row const& owner : row.owners) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", owner.site, byte_text(owner.bytes));
  }
  rest_row const& rest = row.owners_rest;
  if (rest.sites > 0) {
    text += fmt::format(", {} {}", count_text(rest.sites, "more site"), byte_text(rest.bytes));
  }
  return text;
}

std::string moment_text(moment_request const& asked, device_segments const& device) {
  std::string text;
  if (asked.how == moment_request::kind::end) {
    text = device.event < 0 ? "the end" : "the end, " + event_text(device.event);
  } else {
    text = event_text(device.event);
  }
  if (device.seconds) text += ", " + seconds_text(*device.seconds);
  if (!device.within.empty()) text += ", within " + device.within;
  return text;
}

void write_totals(device_segments const& device, page& out) {
  segment_summary const& sum = device.totals;
  out.fact("Segments", count_text(sum.count));
  out.fact("Reserved", byte_text(sum.total_bytes));
  out.fact("Allocated", byte_text(sum.allocated_bytes));
  if (sum.pending_bytes > 0) out.fact("Awaiting free", byte_text(sum.pending_bytes));
  out.fact("Free in segments",
           fmt::format("{} ({} %)", byte_text(sum.inactive_bytes), share_text(sum.fragmentation)));
  out.fact("Largest hole", byte_text(sum.largest_inactive_bytes));
  if (sum.private_pool_bytes > 0) out.fact("Private pools", byte_text(sum.private_pool_bytes));
  if (device.unplaced_bytes > 0) out.fact("Live without place", byte_text(device.unplaced_bytes));
  if (!device.is_exact) out.fact("Not exact", device.reason);
}

void write_pools(device_segments const& device, page& out) {
  if (device.pools.empty()) return;
  out.heading(3, "By stream and pool");
  page_table& table = out.table({{"stream"},
                                 {"pool"},
                                 {"kind"},
                                 {"segments", align::right},
                                 {"reserved", align::right},
                                 {"allocated", align::right},
                                 {"awaiting", align::right},
                                 {"free", align::right},
                                 {"holes", align::right},
                                 {"largest hole", align::right},
                                 {"fill %", align::right}});
  for (segment_pool_row const& row : device.pools) {
    segment_fill const& fill = row.fill;
    table.add({fmt::format("{}", row.of.stream), pool_text(row.of), kind_text(row.of),
               count_text(row.segments), byte_text(fill.bytes), byte_text(fill.allocated_bytes),
               byte_text(fill.pending_bytes), byte_text(fill.free_bytes), count_text(fill.holes),
               byte_text(fill.largest_hole_bytes), share_text(fill.fill)});
  }
}

void write_rows(device_segments const& device, page& out) {
  out.heading(3, "Segments by address");
  page_table& table = out.table({{"address"},
                                 {"size", align::right},
                                 {"stream"},
                                 {"pool"},
                                 {"kind"},
                                 {"free", align::right},
                                 {"holes", align::right},
                                 {"largest hole", align::right},
                                 {"fill %", align::right},
                                 {"what is in use"},
                                 {"owners"}});
  table.when_empty("No segment is known at this moment.");
  for (segment_row const& row : device.rows) {
    segment_fill const& fill = row.fill;
    table.add(
        {fmt::format("{:#x}", row.address), byte_text(fill.bytes), fmt::format("{}", row.of.stream),
         pool_text(row.of), kind_text(row.of) + (row.is_expandable ? ", expandable" : ""),
         byte_text(fill.free_bytes), count_text(fill.holes), byte_text(fill.largest_hole_bytes),
         share_text(fill.fill), bar_text(row.bar), owners_text(row)});
  }
  if (device.rest.segments == 0) return;
  segment_fill const& rest = device.rest.fill;
  table.add({count_text(device.rest.segments, "more segment"), byte_text(rest.bytes), "", "", "",
             byte_text(rest.free_bytes), count_text(rest.holes), byte_text(rest.largest_hole_bytes),
             share_text(rest.fill), "", ""},
            row_kind::rest);
}

void write_audit(audit const& rows, page& out) {
  if (rows.empty()) return;
  out.heading(2, "Audit of the file");
  for (audit_row const& row : rows) {
    out.bullet(fmt::format("[{}] {} ({}): {}", to_string(row.level), row.kind,
                           count_text(row.count), row.message));
  }
}

}  // namespace

std::string write_segments(segments_report const& model, text_format format) {
  page out;
  out.heading(1, fmt::format("{}: {}", segments_signature, model.file));
  if (!model.rule_note.empty()) out.fact("Note", model.rule_note);
  for (device_segments const& device : model.devices) {
    out.heading(2, fmt::format("Device {}", device.device));
    out.fact("Moment", moment_text(model.asked, device));
    write_totals(device, out);
    write_pools(device, out);
    write_rows(device, out);
  }
  write_audit(model.defects, out);
  return format == text_format::markdown ? page_markdown(out) : page_text(out);
}

}  // namespace memreplay
