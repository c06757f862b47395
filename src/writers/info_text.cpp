// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What is in a file, as text for a terminal.
#include <memreplay/write_report.hpp>

#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "writers/exactness_text.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

void write_heading(std::string_view title, std::string& out) {
  append(out, "\n--- {} ---\n", title);
}

void write_line(std::string_view name, std::string_view value, std::string& out) {
  append(out, "{:<24} {}\n", name, value);
}

void write_audit_rows(audit const& rows, std::string& out) {
  for (audit_row const& row : rows) {
    append(out, "[{}] {} ({}{}{}): {}{}{}\n", to_string(row.level), clean_line(row.kind),
           count_text(row.count), row.bytes == 0 ? "" : ", ",
           row.bytes == 0 ? std::string{} : byte_text(row.bytes), clean_line(row.message),
           row.advice.empty() ? "" : " ", clean_line(row.advice));
  }
}

void write_file(report const& model, std::string& out) {
  append(out, "{}: {}\n", info_signature, clean_line(model.file));
  std::string container = clean_line(model.container);
  if (model.pickle_protocol >= 0)
    container += fmt::format(" (pickle protocol {})", model.pickle_protocol);
  write_line("Container", container, out);
  write_line("Size", byte_text(static_cast<std::int64_t>(model.file_bytes)), out);
  if (model.snapshot_bytes != model.file_bytes) {
    write_line("Unpacked", byte_text(static_cast<std::int64_t>(model.snapshot_bytes)), out);
  }
  if (model.is_salvaged) write_line("Cut off", "yes, read up to the cut", out);
  write_line("Devices", device_list_text(model.devices_in_file), out);
  write_line("Backend", clean_line(model.backend), out);
  if (!model.rule_note.empty()) write_line("Note", clean_line(model.rule_note), out);

  if (model.settings.empty()) return;
  write_heading("Allocator settings", out);
  for (auto const& [key, value] : model.settings)
    write_line(clean_line(key), clean_line(value), out);
}

void write_trace(device_report const& device, std::string& out) {
  write_heading("Trace", out);
  write_line("Events", count_text(device.events), out);
  for (action_count_row const& row : device.actions)
    write_line("  " + row.action, count_text(row.count), out);
  if (device.span_seconds) write_line("Span", seconds_text(*device.span_seconds), out);
  std::string ring = device.ring_truncated ? "truncated" : "not truncated";
  if (!device.ring_reason.empty()) ring += "; " + clean_line(device.ring_reason);
  write_line("Ring buffer", ring, out);
  write_line("Unmatched frees", count_text(device.unmatched_frees), out);
  if (device.oom_count > 0) write_line("Out of memory", count_text(device.oom_count, "event"), out);
  for (oom_row const& row : device.ooms) {
    append(out, "  event {}: {} requested, driver had {} free{}{}{}{}\n", count_text(row.event),
           byte_text(row.requested_bytes), byte_text(row.device_free_bytes),
           row.site.empty() ? "" : ", ", clean_line(row.site),
           row.within.empty() ? "" : ", within ", clean_line(row.within));
  }
}

void write_curves(report const& model, device_report const& device, std::string& out) {
  write_heading(
      fmt::format("Memory ({})",
                  model.plan.sizes == size_basis::requested ? "requested sizes" : "block sizes"),
      out);
  append(out, "{:<24} {:>14} {:>14} {:>14}\n", "", "start", "peak", "end");
  auto const write_curve = [&out](char const* name, curve_summary const& curve) {
    append(out, "{:<24} {:>14} {:>14} {:>14}\n", name, byte_text(curve.start_bytes),
           byte_text(curve.peak_bytes), byte_text(curve.end_bytes));
  };
  write_curve("Allocated", device.allocated);
  write_curve("Active", device.active);
  write_curve("Reserved", device.reserved);
  write_line("Carried in", byte_text(device.carried_in_bytes), out);
  write_line(
      "max_memory_allocated",
      exactness_text(device.max_memory_allocated) + exact_digits_text(device.max_memory_allocated),
      out);
  if (!device.measured_exactness.exact) {
    write_line(fmt::format("Peak ({})", to_string(model.plan.what)),
               exactness_text(device.measured_exactness), out);
  }
}

void write_segments(device_report const& device, std::string& out) {
  segment_summary const& sum = device.segments;
  write_heading("Segments at the end", out);
  write_line("Segments", count_text(sum.count), out);
  write_line("Reserved (total)", byte_text(sum.total_bytes), out);
  write_line("Allocated", byte_text(sum.allocated_bytes), out);
  write_line("Active", byte_text(sum.active_bytes), out);
  write_line("Awaiting free", byte_text(sum.pending_bytes), out);
  write_line("Inactive (reusable)", byte_text(sum.inactive_bytes), out);
  write_line("Fragmentation", share_text(sum.fragmentation) + " %", out);
  write_line("Largest free block", byte_text(sum.largest_inactive_bytes), out);
  if (sum.private_pool_bytes > 0)
    write_line("Private pools", byte_text(sum.private_pool_bytes), out);
}

void write_fragmentation(device_report const& device, std::string& out) {
  if (device.fragmentation.size() < 2) return;  // the end alone stands above
  write_heading("Fragmentation over time (block sizes)", out);
  append(out, "{:>14} {:>14} {:>14} {:>14} {:>7} {:>14} {:>10}\n", "after event", "reserved",
         "active", "inactive", "%", "largest free", "free parts");
  bool is_exact = true;
  for (fragmentation_row const& row : device.fragmentation) {
    std::string const event = row.event < 0 ? "the beginning" : count_text(row.event);
    append(out, "{:>14} {:>14} {:>14} {:>14} {:>7} {:>14} {:>10}{}{}\n", event,
           byte_text(row.reserved_bytes), byte_text(row.active_bytes),
           byte_text(row.inactive_bytes), share_text(row.fragmentation),
           byte_text(row.largest_free_bytes), count_text(row.free_blocks), row.exact ? "" : " ~",
           row.is_peak ? "  peak" : "");
    is_exact &= row.exact;
  }
  if (!is_exact) append(out, "~ estimated\n");
}

void write_pools(device_report const& device, std::string& out) {
  if (device.pools.empty()) return;
  write_heading("Pools", out);
  append(out, "{:<24} {:>14} {:>14}\n", "pool", "reserved", "segments");
  for (pool_row const& row : device.pools) {
    append(out, "{:<24} {:>14} {:>14}\n", fmt::format("({}, {})", row.first, row.second),
           byte_text(row.bytes), count_text(row.segments));
  }
}

void write_streams(device_report const& device, std::string& out) {
  if (device.streams.empty()) return;
  write_heading("Streams", out);
  append(out, "{:<24} {:>14} {:>14} {:>14}\n", "stream", "events", "allocs", "allocated");
  for (stream_row const& row : device.streams) {
    append(out, "{:<24} {:>14} {:>14} {:>14}\n", row.stream, count_text(row.events),
           count_text(row.allocs), byte_text(row.alloc_bytes));
  }
}

void write_top_sites(device_report const& device, std::string& out) {
  if (device.top_allocators.empty()) return;
  write_heading("Top sites by bytes allocated in the trace", out);
  append(out, "{:>14} {:>7} {:>12}  {}\n", "bytes", "%", "allocs", "site");
  for (site_row const& row : device.top_allocators) {
    append(out, "{:>14} {:>7} {:>12}  {}\n", byte_text(row.bytes), share_text(row.share),
           count_text(row.tensors), clean_line(row.site));
  }
  rest_row const& rest = device.top_allocators_rest;
  if (rest.sites > 0) {
    append(out, "{:>14} {:>7} {:>12}  {}\n", byte_text(rest.bytes), share_text(rest.share),
           count_text(rest.tensors), count_text(rest.sites, "more site"));
  }
}

void write_steps(report const& model, std::string& out) {
  if (!model.steps.empty()) {
    write_heading("Profiler steps", out);
    for (step_row const& row : model.steps) {
      append(
          out, "ProfilerStep#{:<11} {}\n", row.step,
          row.duration_ms ? fmt::format("{:.3f} ms", *row.duration_ms) : std::string("incomplete"));
    }
  }
  if (model.annotations.empty()) return;
  write_heading("Annotations", out);
  for (annotation_row const& row : model.annotations) {
    append(out, "{:>12}  {}\n", count_text(row.count), clean_line(row.name));
  }
  annotation_rest_row const& rest = model.annotations_rest;
  if (rest.names > 0) {
    append(out, "{:>12}  {}\n", count_text(rest.count), count_text(rest.names, "more name"));
  }
}

void write_findings(device_report const& device, std::string& out) {
  if (device.findings.empty()) return;
  write_heading("Findings", out);
  for (finding const& row : device.findings) append(out, "- {}\n", clean_line(row.text));
}

void write_audit(std::string_view title, audit const& rows, std::string& out) {
  if (rows.empty()) return;
  write_heading(title, out);
  write_audit_rows(rows, out);
}

}  // namespace

std::string write_info_text(report const& model) {
  std::string out;
  write_file(model, out);
  for (device_report const& device : model.devices) {
    append(out, "\n=== Device {} ===\n", device.device);
    write_trace(device, out);
    write_curves(model, device, out);
    write_segments(device, out);
    write_fragmentation(device, out);
    write_pools(device, out);
    write_streams(device, out);
    write_top_sites(device, out);
    write_audit("Audit", device.defects, out);
    write_findings(device, out);
  }
  write_steps(model, out);
  write_audit("Audit of the file", model.defects, out);
  return out;
}

}  // namespace memreplay
