// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What failed and why, as a page for people.
#include <optional>
#include <string>

#include <fmt/format.h>

#include <memreplay/write_report.hpp>

#include "base/byte_text.hpp"
#include "writers/page.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

std::string optional_bytes(std::optional<std::int64_t> const& bytes) {
  return bytes ? byte_text(*bytes) : std::string("unknown");
}

std::string pool_text(std::int64_t first, std::int64_t second, bool is_small) {
  std::string const name =
      first == 0 && second == 0 ? std::string("default") : fmt::format("({}, {})", first, second);
  return name + (is_small ? ", small" : ", large");
}

void show_verdict(oom_device_report const& device, page& shown) {
  oom_verdict const& verdict = device.verdict;
  shown.heading(3, "Verdict");
  bool const is_none = verdict.cause == oom_cause::none;
  shown.fact("Cause",
             is_none ? std::string(to_string(verdict.cause))
                     : fmt::format("{} ({})", to_string(verdict.cause), to_string(verdict.sure)));
  std::string secondary;
  for (oom_cause const cause : verdict.secondary) {
    secondary += (secondary.empty() ? "" : ", ") + std::string(to_string(cause));
  }
  if (!secondary.empty()) shown.fact("Also", secondary);
  shown.paragraph(verdict.text);
}

void show_request(oom_device_report const& device, page& shown) {
  failed_request_report const& request = device.request;
  shown.heading(3, "The request");
  shown.fact("Known from", to_string(request.origin));
  if (request.bytes) {
    shown.fact("Size", fmt::format("{} (rounded)", byte_text(*request.bytes)));
    shown.fact("Needed of the driver", optional_bytes(request.driver_bytes));
    shown.fact("Stream", fmt::format("{}", request.stream));
    shown.fact("Pool", pool_text(request.pool_first, request.pool_second, request.is_small));
  }
  if (!request.site.empty()) {
    shown.fact("Site", request.label.empty() ? request.site
                                             : fmt::format("{} ({})", request.site, request.label));
    if (!request.chain.empty()) shown.fact("Call chain", request.chain);
  }
  std::string moment = event_text(device.event);
  if (device.seconds) moment += ", " + seconds_text(*device.seconds);
  if (device.is_end) moment += ", the end of the trace";
  shown.fact("Moment", moment);
  if (!device.within.empty()) shown.fact("Within", device.within);
  if (device.oom_count > 1) {
    bool const is_one = device.request.origin == request_origin::oom_event;
    shown.fact("Out-of-memory events",
               count_text(device.oom_count) + (is_one ? ", this is one of them" : ""));
  }
}

void show_memory(oom_device_report const& device, page& shown) {
  oom_memory const& memory = device.memory;
  shown.heading(3, "Memory at that moment");
  shown.fact("Allocated", optional_bytes(memory.allocated_bytes));
  shown.fact("Requested", optional_bytes(memory.requested_bytes));
  if (memory.pending_bytes.value_or(0) > 0) {
    shown.fact("Freed, awaiting a stream", optional_bytes(memory.pending_bytes));
  }
  shown.fact("Inactive", optional_bytes(memory.inactive_bytes));
  shown.fact("Reserved", device.has_map ? fmt::format("{} in {}", byte_text(memory.reserved_bytes),
                                                      count_text(memory.segments, "segment"))
                                        : std::string("unknown"));
  if (memory.private_pool_bytes > 0) {
    shown.fact("Of that private pools", byte_text(memory.private_pool_bytes));
  }
  shown.fact("Driver free", optional_bytes(memory.driver_free_bytes));
  if (memory.capacity_bytes) shown.fact("Capacity (given)", byte_text(*memory.capacity_bytes));
  if (memory.outside_bytes) shown.fact("Outside PyTorch", byte_text(*memory.outside_bytes));
  if (memory.taken_since_bytes) {
    shown.fact("Taken by others since", fmt::format("at least {} (this process had {} {})",
                                                    byte_text(*memory.taken_since_bytes),
                                                    byte_text(memory.available_earlier_bytes),
                                                    event_text(memory.available_earlier_event)));
  }
  if (memory.unplaced_bytes > 0) {
    shown.fact("In no known segment", byte_text(memory.unplaced_bytes));
  }
  if (!memory.exact) shown.fact("Not exact", memory.reason);
}

void show_free_space(oom_device_report const& device, page& shown) {
  shown.heading(3, "Free space, and why it does not serve");
  page_table& table = shown.table({{"free", align::right},
                                   {"reserved", align::right},
                                   {"holes", align::right},
                                   {"largest", align::right},
                                   {"stream", align::right},
                                   {"pool"},
                                   {"why not"}});
  for (free_space_row const& row : device.free_space) {
    table.add({byte_text(row.free_bytes), byte_text(row.reserved_bytes), count_text(row.holes),
               byte_text(row.largest_bytes), fmt::format("{}", row.stream),
               pool_text(row.pool_first, row.pool_second, row.is_small), row.why});
  }
}

void show_sites(std::vector<site_row> const& rows, rest_row const& rest, page& shown) {
  page_table& table = shown.table({{"bytes", align::right},
                                   {"%", align::right},
                                   {"tensors", align::right},
                                   {"site"},
                                   {"call chain"}});
  for (site_row const& row : rows) {
    table.add({byte_text(row.bytes), share_text(row.share), count_text(row.tensors),
               page_cell(row.site, row.link), row.chain});
  }
  if (rest.sites > 0) {
    table.add({byte_text(rest.bytes), share_text(rest.share), count_text(rest.tensors),
               count_text(rest.sites, "more site"), ""},
              row_kind::rest);
  }
}

void show_pinners(oom_device_report const& device, page& shown) {
  if (device.pinners.empty()) return;
  shown.heading(3, "Who pins nearly empty segments");
  page_table& table = shown.table({{"stranded", align::right},
                                   {"segments", align::right},
                                   {"live there", align::right},
                                   {"other sites", align::right},
                                   {"site"}});
  for (pinner_row const& row : device.pinners) {
    table.add({byte_text(row.stranded_bytes), count_text(row.segments), byte_text(row.live_bytes),
               count_text(row.other_sites), page_cell(row.site, row.link)});
  }
  pinner_rest_row const& rest = device.pinners_rest;
  if (rest.sites > 0) {
    table.add({byte_text(rest.stranded_bytes), count_text(rest.segments), "", "",
               count_text(rest.sites, "more site")},
              row_kind::rest);
  }
}

void show_before(last_events const& before, page& shown) {
  shown.heading(3, before.seconds ? fmt::format("The last {} before", seconds_text(*before.seconds))
                                  : std::string("The last events before"));
  shown.fact("Allocations",
             fmt::format("{}, {}", count_text(before.allocs), byte_text(before.alloc_bytes)));
  shown.fact("Frees",
             fmt::format("{}, {}", count_text(before.frees), byte_text(before.free_bytes)));
  shown.fact("Net change", byte_text(before.net_bytes));
  shown.fact("Taken from the driver", fmt::format("{} times, {}", count_text(before.segment_allocs),
                                                  byte_text(before.segment_alloc_bytes)));
  shown.fact("Returned to the driver", fmt::format("{} times, {}", count_text(before.segment_frees),
                                                   byte_text(before.segment_free_bytes)));
  if (before.burst_frees > 0) {
    shown.fact("Of that as last resort", fmt::format("{} times, {}", count_text(before.burst_frees),
                                                     byte_text(before.burst_bytes)));
  }
  if (before.grown.empty()) return;
  shown.paragraph("Allocated in this time and still live:");
  show_sites(before.grown, before.grown_rest, shown);
}

void show_advice(oom_device_report const& device, page& shown) {
  if (device.advice.empty()) return;
  shown.heading(3, "What would have helped");
  for (oom_advice const& row : device.advice) {
    shown.bullet(fmt::format("{}: {}{}", row.what, row.why,
                             row.bytes ? fmt::format(" ({})", byte_text(*row.bytes)) : ""));
  }
}

void show_audit(audit const& rows, page& shown) {
  if (rows.empty()) return;
  shown.heading(3, "Audit");
  for (audit_row const& row : rows) {
    shown.bullet(fmt::format("[{}] {} ({}): {} {}", to_string(row.level), row.kind,
                             count_text(row.count), row.message, row.advice));
  }
}

}  // namespace

std::string write_oom(oom_report const& model, text_format format) {
  page shown;
  shown.heading(1, fmt::format("{}: {}", oom_signature, model.file));
  for (oom_device_report const& device : model.devices) {
    shown.heading(2, fmt::format("Device {}", device.device));
    show_verdict(device, shown);
    show_request(device, shown);
    show_memory(device, shown);
    show_advice(device, shown);
    if (device.has_map) {
      show_free_space(device, shown);
      show_pinners(device, shown);
      shown.heading(3, "Who holds the memory");
      show_sites(device.holders, device.holders_rest, shown);
    }
    if (device.before) show_before(*device.before, shown);
    show_audit(device.defects, shown);
  }
  show_audit(model.defects, shown);
  return format == text_format::markdown ? page_markdown(shown) : page_text(shown);
}

}  // namespace memreplay
