// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Steps, and what grows from one to the next, as pages for people.
#include <memreplay/write_report.hpp>

#include "base/byte_text.hpp"
#include "writers/page.hpp"
#include "writers/page_parts.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using base::signed_byte_text;
using namespace writers;

namespace {

void show_cut(span_list const& cut, page& shown) {
  shown.fact(
      "Cut into",
      fmt::format("{} {}", count_text(static_cast<std::int64_t>(cut.spans.size())), cut.what));
  if (cut.outside > 0) shown.fact("Outside of the trace", count_text(cut.outside));
}

std::string name_of(span const& where) {
  return where.is_complete ? where.name : where.name + " (cut off)";
}

void show_span_table(device_steps const& device, page& shown) {
  page_table& table = shown.table({{"step"},
                                   {"ms", align::right},
                                   {"allocs", align::right},
                                   {"frees", align::right},
                                   {"allocated", align::right},
                                   {"start", align::right},
                                   {"peak", align::right},
                                   {"above start", align::right},
                                   {"at event", align::right},
                                   {"end", align::right}});
  table.when_empty("None of the steps has an event in the trace.");
  for (span_report const& row : device.spans) {
    table.add(
        {name_of(row.where),
         row.where.duration_ms ? fmt::format("{:.3f}", *row.where.duration_ms) : std::string{},
         count_text(row.alloc_count), count_text(row.free_count), byte_text(row.throughput_bytes),
         byte_text(row.start_bytes), byte_text(row.absolute_peak), signed_byte_text(row.peak_delta),
         count_text(row.peak_event), byte_text(row.end_bytes)});
  }
}

void show_span(span_report const& row, page& shown) {
  shown.heading(3, fmt::format("{}: live at its peak", name_of(row.where)));
  shown.fact("Peak",
             fmt::format("{} {}", byte_text(row.absolute_peak), event_text(row.peak_event)));
  shown.fact("Of that carried in", byte_text(row.carried_in_bytes));
  shown.fact("Reserved", byte_text(row.reserved_at_peak_bytes));
  if (row.unmatched_frees > 0) {
    shown.fact("Older memory freed", fmt::format("{} in {}", byte_text(row.unmatched_free_bytes),
                                                 count_text(row.unmatched_frees, "block")));
  }
  show_sites(row.sites, row.rest, row.absolute_peak, row.live_count, shown);
  if (row.annotations.empty()) return;
  page_table& table = shown.table({{"annotation"}, {"times", align::right}});
  for (annotation_row const& one : row.annotations) table.add({one.name, count_text(one.count)});
}

void show_leak_rows(std::vector<leak_row> const& rows, page& shown) {
  page_table& table = shown.table({{"a step", align::right},
                                   {"steps", align::right},
                                   {"first", align::right},
                                   {"last", align::right},
                                   {"tensors", align::right},
                                   {"site"},
                                   {"call chain"}});
  for (leak_row const& row : rows) {
    table.add({signed_byte_text(static_cast<std::int64_t>(row.slope_bytes)),
               count_text(row.growing_steps), byte_text(row.first_bytes), byte_text(row.last_bytes),
               fmt::format("{} to {}", count_text(row.first_tensors), count_text(row.last_tensors)),
               page_cell(row.site, row.link), row.chain});
  }
}

void show_leaks(device_leaks const& device, page& shown) {
  shown.heading(2, fmt::format("Device {}", device.device));
  show_cut(device.cut, shown);
  shown.fact("Live at the ends",
             fmt::format("{} to {}, {} a step", byte_text(device.live_bytes.front()),
                         byte_text(device.live_bytes.back()),
                         signed_byte_text(static_cast<std::int64_t>(device.slope_bytes))));
  show_findings(device.findings, shown);
  if (!device.leaks.empty()) {
    shown.heading(3, "Sites that keep growing");
    show_leak_rows(device.leaks, shown);
    if (device.leaks_rest > 0) shown.paragraph(count_text(device.leaks_rest, "more site"));
  }
  if (!device.in_private_pools.empty()) {
    shown.heading(3, "Growing in private pools (CUDA graphs), which give nothing back");
    show_leak_rows(device.in_private_pools, shown);
  }
  shown.heading(3, "Allocated in the trace and never freed in it");
  show_sites(device.never_freed, device.never_freed_rest, device.never_freed_bytes,
             device.never_freed_tensors, shown);
}

}  // namespace

std::string write_steps(steps_report const& model, text_format format) {
  page shown;
  shown.heading(1, fmt::format("{}: {}", steps_signature, model.file));
  show_header(model, shown);
  for (device_steps const& device : model.devices) {
    shown.heading(2, fmt::format("Device {}", device.device));
    show_cut(device.cut, shown);
    show_span_table(device, shown);
    for (span_report const& row : device.spans) {
      if (row.has_sites) show_span(row, shown);
    }
  }
  return render(shown, format);
}

std::string write_leaks(leaks_report const& model, text_format format) {
  page shown;
  shown.heading(1, fmt::format("{}: {}", leaks_signature, model.file));
  show_header(model, shown);
  for (device_leaks const& device : model.devices) show_leaks(device, shown);
  return render(shown, format);
}

}  // namespace memreplay
