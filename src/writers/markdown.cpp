// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The peak report as GitHub-flavoured markdown.
#include <memreplay/write_report.hpp>

#include <cctype>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "writers/exactness_text.hpp"
#include "writers/markdown_text.hpp"
#include "writers/plain_text.hpp"
#include "writers/sparkline.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

char const* size_name(size_basis sizes) {
  return sizes == size_basis::requested ? "requested sizes" : "block sizes";
}

peak_report const* global_peak(device_report const& device) {
  for (peak_report const& peak : device.peaks) {
    if (peak.is_global) return &peak;
  }
  return nullptr;
}

/// Begins a sentence.
std::string moment_text(event_index event, std::optional<double> const& seconds) {
  std::string text =
      event_text(event) + (seconds ? " (" + seconds_text(*seconds) + ")" : std::string{});
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string site_rule_text(report const& model) {
  if (!model.rule_note.empty()) return markdown_text(model.rule_note);
  if (model.rule == site_rule::project)
    return "innermost frame under " + markdown_text(model.project_root);
  return "innermost frame that is not machinery (user rule)";
}

void write_file_lines(report const& model, std::string& out) {
  append(out, "{}: {}\n\n", markdown_signature, markdown_text(model.file));
  append(out, "- **File**: {}, {}{}\n", markdown_text(model.container),
         byte_text(static_cast<std::int64_t>(model.file_bytes)),
         model.is_salvaged ? ", **cut off: read up to the cut**" : "");
  append(out, "- **Devices in the file**: {}\n", device_list_text(model.devices_in_file));
  append(out, "- **Measure**: {}, {}, carried-in memory {}; replayed on {}\n",
         to_string(model.plan.what), size_name(model.plan.sizes),
         model.plan.older == carried_in::include ? "included" : "ignored",
         markdown_text(model.backend));
  append(out, "- **Sites**: {}\n", site_rule_text(model));
}

void write_max_memory_line(report const& model, device_report const& device, std::string& out) {
  bool const is_same_curve = model.plan.what == measure::allocated &&
                             model.plan.sizes == size_basis::block &&
                             model.plan.older == carried_in::include;
  append(out, "- **torch.cuda.max_memory_allocated** over this trace: {}{}; {}\n",
         exactness_text(device.max_memory_allocated),
         exact_digits_text(device.max_memory_allocated),
         is_same_curve ? "it is the peak above"
                       : "it counts allocated blocks in the allocator's rounded sizes, carried-in "
                         "memory included");
}

void write_device_lines(report const& model, device_report const& device, std::string& out) {
  append(out, "- **Device {}**: {}{}\n", device.device, count_text(device.events, "event"),
         device.span_seconds ? " over " + seconds_text(*device.span_seconds) : std::string{});
  append(out, "- **Peak**: **{}**{} {}", exactness_text(device.measured_exactness),
         exact_digits_text(device.measured_exactness), event_text(device.measured.peak_event));
  if (peak_report const* const peak = global_peak(device)) {
    append(out, ": {} from the trace + {} carried in", byte_text(peak->trace_bytes),
           byte_text(peak->carried_in_bytes));
  }
  append(out, " (start {}, end {})\n", byte_text(device.measured.start_bytes),
         byte_text(device.measured.end_bytes));
  write_max_memory_line(model, device, out);
  append(out, "- **Reserved**: {} at the peak", byte_text(device.reserved_at_peak_bytes));
  if (peak_report const* const peak = global_peak(device)) {
    append(out, ", of which {} ({} %) inactive", byte_text(peak->inactive_bytes),
           share_text(peak->fragmentation));
  }
  append(out, "; at most {}, at the end {}\n", byte_text(device.reserved.peak_bytes),
         byte_text(device.reserved.end_bytes));
  if (device.segments.count > 0) {
    append(out, "- **Fragmentation at the end**: {} % ({} inactive of {} in {})\n",
           share_text(device.segments.fragmentation), byte_text(device.segments.inactive_bytes),
           byte_text(device.segments.total_bytes), count_text(device.segments.count, "segment"));
  }
  if (device.oom_count > 0) {
    append(out, "- **Out of memory**: {}\n", count_text(device.oom_count, "event"));
  }
  if (device.ring_truncated)
    append(out, "- **Ring buffer**: truncated; {}\n", markdown_text(device.ring_reason));
}

void write_curve(device_report const& device, std::string& out) {
  if (device.timeline.empty()) return;
  sparkline const drawn = draw_sparkline(device.timeline, device.peaks);
  append(out, "\n```text\n{}  {} to {}\n", drawn.curve, byte_text(drawn.floor_bytes),
         byte_text(drawn.top_bytes));
  if (!drawn.marks.empty()) append(out, "{}\n", drawn.marks);
  out += "```\n";
}

void write_audit_rows(audit const& rows, std::string& out) {
  for (audit_row const& row : rows) {
    append(out, "| {} | {} | {} | {} | {} | {} |\n", to_string(row.level), markdown_text(row.kind),
           count_text(row.count), row.bytes == 0 ? std::string{} : byte_text(row.bytes),
           markdown_text(row.message), markdown_text(row.advice));
  }
}

void write_audit(report const& model, device_report const& device, std::string& out) {
  if (model.defects.empty() && device.defects.empty()) return;
  out +=
      "\n## Audit\n\n| level | what | count | bytes | meaning | advice "
      "|\n|---|---|---:|---:|---|---|\n";
  write_audit_rows(model.defects, out);
  write_audit_rows(device.defects, out);
}

std::string site_cell(site_row const& row) {
  std::string cell = markdown_link(row.site, row.link);
  bool const is_new = !row.label.empty() && row.site.find(row.label) == std::string::npos;
  if (is_new) cell += ' ' + markdown_text(row.label);
  return cell;
}

void write_sites(peak_report const& peak, std::string& out) {
  if (peak.sites.empty()) return;
  out +=
      "\n| # | bytes | % of peak | tensors | site | call chain |\n|---:|---:|---:|---:|---|---|\n";
  int number = 0;
  for (site_row const& row : peak.sites) {
    append(out, "| {} | {} | {} | {} | {} | {} |\n", ++number, byte_text(row.bytes),
           share_text(row.share), count_text(row.tensors), site_cell(row),
           markdown_text(row.chain));
  }
  if (peak.rest.sites > 0) {
    append(out, "| | {} | {} | {} | *{}* | |\n", byte_text(peak.rest.bytes),
           share_text(peak.rest.share), count_text(peak.rest.tensors),
           count_text(peak.rest.sites, "more site"));
  }
}

void write_peak(peak_report const& peak, std::size_t number, std::string& out) {
  append(out, "\n## Peak {}: {}{}\n\n", number, byte_text(peak.bytes),
         peak.is_global ? " (**global peak**)" : "");
  append(out, "{}", moment_text(peak.event, peak.seconds));
  if (!peak.within.empty()) append(out, ", within {}", markdown_text(peak.within));
  append(out, ". {} from the trace, {} carried in. Allocated {}, active {}",
         byte_text(peak.trace_bytes), byte_text(peak.carried_in_bytes),
         byte_text(peak.allocated_bytes), byte_text(peak.active_bytes));
  if (peak.pending_bytes > 0) append(out, " ({} pending free)", byte_text(peak.pending_bytes));
  append(out, ", reserved {} ({} % inactive).\n", byte_text(peak.reserved_bytes),
         share_text(peak.fragmentation));
  write_sites(peak, out);
}

void write_ooms(device_report const& device, std::string& out) {
  if (device.ooms.empty()) return;
  out +=
      "\n## Out of memory\n\n| event | requested | driver had free | site | within "
      "|\n|---:|---:|---:|---|---|\n";
  for (oom_row const& row : device.ooms) {
    append(out, "| {} | {} | {} | {} | {} |\n", count_text(row.event),
           byte_text(row.requested_bytes), byte_text(row.device_free_bytes),
           markdown_text(row.site), markdown_text(row.within));
  }
}

void write_findings(device_report const& device, std::string& out) {
  if (device.findings.empty()) return;
  out += "\n## Findings\n\n";
  int number = 0;
  for (finding const& row : device.findings)
    append(out, "{}. {}\n", ++number, markdown_text(row.text));
}

void write_device(report const& model, device_report const& device, std::string const& image,
                  std::string& out) {
  write_device_lines(model, device, out);
  write_curve(device, out);
  out += image;
  if (device.peaks.empty())
    out += "\nNo peak: this device has no allocation in the trace and none carried in.\n";
  std::size_t number = 0;
  for (peak_report const& peak : device.peaks) write_peak(peak, ++number, out);
  write_ooms(device, out);
  write_audit(model, device, out);
  write_findings(device, out);
}

}  // namespace

std::string write_markdown(report const& model, std::string const& picture) {
  std::string out;
  write_file_lines(model, out);
  bool const has_many = model.devices.size() > 1;
  std::string const image = picture.empty()
                                ? std::string{}
                                : '\n' + markdown_image("GPU memory over time", picture) + '\n';
  if (has_many) out += image;
  for (device_report const& device : model.devices) {
    if (has_many) append(out, "\n# Device {}\n\n", device.device);
    write_device(model, device, has_many ? std::string{} : image, out);
  }
  return out;
}

}  // namespace memreplay
