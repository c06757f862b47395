// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What is live at a moment, as a page for people; and how two moments differ.
#include <memreplay/write_report.hpp>

#include "base/byte_text.hpp"
#include "writers/page.hpp"
#include "writers/page_parts.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

std::string moment_text(moment_report const& device) {
  std::string text = event_text(device.event);
  if (device.seconds) text += ", " + seconds_text(*device.seconds);
  if (device.span_seconds) text += " of " + seconds_text(*device.span_seconds);
  return text;
}

void show_moment(at_report const& model, moment_report const& device, page& shown) {
  shown.heading(2, fmt::format("Device {}", device.device));
  shown.fact("Moment", moment_text(device));
  if (!device.within.empty()) shown.fact("Within", device.within);
  std::string live = byte_text(device.bytes);
  if (device.live_count > 0) live += " in " + count_text(device.live_count, "block");
  shown.fact(fmt::format("Live ({})", to_string(model.plan.what)), live);
  shown.fact("At the start", byte_text(device.start_bytes));
  shown.fact("Change since", base::signed_byte_text(device.delta_bytes));
  shown.fact("Carried in", fmt::format("{}, from the trace {}", byte_text(device.carried_in_bytes),
                                       byte_text(device.trace_bytes)));
  shown.fact("Reserved",
             fmt::format("{}, of which {} ({} %) inactive", byte_text(device.reserved_bytes),
                         byte_text(device.inactive_bytes), share_text(device.fragmentation)));
  if (device.pending_bytes > 0)
    shown.fact("Freed, awaiting a stream", byte_text(device.pending_bytes));
  shown.fact("Allocations, frees",
             fmt::format("{}, {}", count_text(device.alloc_count), count_text(device.free_count)));
  shown.heading(3, "Live, by site");
  show_sites(device.sites, device.rest, device.bytes, device.live_count, shown);
}

}  // namespace

std::string write_at(at_report const& model, text_format format) {
  page shown;
  shown.heading(1, fmt::format("{}: {}", at_signature, model.file));
  show_header(model, shown);
  for (moment_report const& device : model.devices) show_moment(model, device, shown);
  return render(shown, format);
}

std::string write_at_comparison(at_comparison const& model, text_format format) {
  page shown;
  shown.heading(1, fmt::format("{}: {} and {}", at_signature, model.a.file, model.b.file));
  show_sides(model.a, model.b, model.notes, shown);
  for (moment_comparison const& device : model.devices) {
    shown.heading(2, device.a.device == device.b.device
                         ? fmt::format("Device {}", device.a.device)
                         : fmt::format("Device {} and {}", device.a.device, device.b.device));
    shown.fact("Moment in A", moment_text(device.a));
    shown.fact("Moment in B", moment_text(device.b));
    page_table& table =
        shown.table({{""}, {"A", align::right}, {"B", align::right}, {"B - A", align::right}});
    add_bytes_row("Live", device.a.bytes, device.b.bytes, table);
    add_bytes_row("At the start", device.a.start_bytes, device.b.start_bytes, table);
    add_bytes_row("Carried in", device.a.carried_in_bytes, device.b.carried_in_bytes, table);
    add_bytes_row("Reserved", device.a.reserved_bytes, device.b.reserved_bytes, table);
    add_count_row("Live blocks", device.a.live_count, device.b.live_count, table);
    shown.heading(3, "Live, by site");
    show_deltas(device.sites, shown);
  }
  return render(shown, format);
}

}  // namespace memreplay
