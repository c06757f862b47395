// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Two runs side by side, as a page for people.
#include <memreplay/write_report.hpp>

#include <algorithm>

#include "base/byte_text.hpp"
#include "writers/exactness_text.hpp"
#include "writers/page.hpp"
#include "writers/page_parts.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using base::signed_byte_text;
using namespace writers;

namespace {

page_table& two_sided_table(page& shown) {
  return shown.table({{""}, {"A", align::right}, {"B", align::right}, {"B - A", align::right}});
}

void show_settings(comparison const& model, page& shown) {
  shown.heading(2, "Allocator settings");
  page_table& table = shown.table({{"setting"}, {"A"}, {"B"}});
  table.when_empty("The settings are the same.");
  for (setting_difference const& row : model.settings)
    table.add({row.key, row.a.value_or("not set"), row.b.value_or("not set")});
}

void show_segments(segment_summary const& a, segment_summary const& b, page& shown) {
  shown.heading(3, "Segments at the end");
  page_table& table = two_sided_table(shown);
  add_count_row("Segments", a.count, b.count, table);
  add_bytes_row("Reserved (total)", a.total_bytes, b.total_bytes, table);
  add_bytes_row("Allocated", a.allocated_bytes, b.allocated_bytes, table);
  add_bytes_row("Active", a.active_bytes, b.active_bytes, table);
  add_bytes_row("Awaiting free", a.pending_bytes, b.pending_bytes, table);
  add_bytes_row("Inactive (reusable)", a.inactive_bytes, b.inactive_bytes, table);
  add_bytes_row("Private pools", a.private_pool_bytes, b.private_pool_bytes, table);
}

void show_traces(trace_summary const& a, trace_summary const& b, page& shown) {
  shown.heading(3, "Whole traces");
  page_table& table = two_sided_table(shown);
  add_count_row("Events", a.events, b.events, table);
  add_count_row("Allocations", a.alloc_count, b.alloc_count, table);
  add_bytes_row("Allocated in all", a.throughput_bytes, b.throughput_bytes, table);
  add_bytes_row("Carried in", a.measured.start_bytes, b.measured.start_bytes, table);
  add_bytes_row("Peak above the start", a.peak_delta, b.peak_delta, table);
  add_bytes_row("Peak", a.measured.peak_bytes, b.measured.peak_bytes, table);
  add_bytes_row("Reserved at the peak", a.reserved_at_peak_bytes, b.reserved_at_peak_bytes, table);
  add_bytes_row("Reserved at most", a.reserved_peak_bytes, b.reserved_peak_bytes, table);
  add_count_row("Unmatched frees", a.unmatched_frees, b.unmatched_frees, table);
  table.add({"max_memory_allocated", exactness_text(a.max_memory_allocated),
             exactness_text(b.max_memory_allocated), ""});
}

void show_spans(device_comparison const& device, page& shown) {
  if (device.spans.empty()) return;
  shown.heading(3, "By " + device.by);
  page_table& table = shown.table({{"step"},
                                   {"peak A", align::right},
                                   {"peak B", align::right},
                                   {"B - A", align::right},
                                   {"allocs A", align::right},
                                   {"allocs B", align::right},
                                   {"allocated A", align::right},
                                   {"allocated B", align::right}});
  for (span_pair const& pair : device.spans) {
    table.add({pair.name, byte_text(pair.a.absolute_peak), byte_text(pair.b.absolute_peak),
               signed_byte_text(pair.b.absolute_peak - pair.a.absolute_peak),
               count_text(pair.a.alloc_count), count_text(pair.b.alloc_count),
               byte_text(pair.a.throughput_bytes), byte_text(pair.b.throughput_bytes)});
  }
}

void show_device(device_comparison const& device, page& shown) {
  shown.heading(2, device.device_a == device.device_b
                       ? fmt::format("Device {}", device.device_a)
                       : fmt::format("Device {} and {}", device.device_a, device.device_b));
  show_findings(device.findings, shown);
  show_segments(device.a.segments, device.b.segments, shown);
  show_traces(device.a, device.b, shown);
  show_spans(device, shown);
  auto const inside = std::ranges::find(device.spans, device.looked_into, &span_pair::number);
  shown.heading(3, fmt::format("Live at the peaks{}, by site: {}",
                               inside == device.spans.end() ? "" : " of " + inside->name,
                               signed_byte_text(device.sites.delta_bytes)));
  shown.fact("Peak of A", event_text(device.event_a));
  shown.fact("Peak of B", event_text(device.event_b));
  show_deltas(device.sites, shown);
}

}  // namespace

std::string write_comparison(comparison const& model, text_format format) {
  page shown;
  shown.heading(1, fmt::format("{}: {} and {}", comparison_signature, model.a.file, model.b.file));
  show_sides(model.a, model.b, model.notes, shown);
  show_settings(model, shown);
  for (device_comparison const& device : model.devices) show_device(device, shown);
  return render(shown, format);
}

}  // namespace memreplay
