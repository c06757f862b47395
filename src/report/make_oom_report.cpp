// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Joins a snapshot and its replay into the model of `memreplay oom`, top to bottom.
#include <memreplay/make_oom_report.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <memreplay/allocator_rules.hpp>
#include <memreplay/error.hpp>

#include "report/annotations.hpp"
#include "report/free_space.hpp"
#include "report/header.hpp"
#include "report/last_events.hpp"
#include "report/memory_map.hpp"
#include "report/oom_verdict.hpp"
#include "report/pinners.hpp"
#include "report/redaction.hpp"
#include "report/saturating.hpp"
#include "report/site_rows.hpp"
#include "report/sites.hpp"
#include "report/trace_view.hpp"

namespace memreplay {

using namespace reporting;

namespace {

constexpr char const* later_state_reason = "the state is that of the end of the file";

struct oom_context {
  snapshot const& input;
  failed_request const& asked;
  report_options const& options;
  allocator_rules rules;
  site_table sites;
  annotation_table annotations;
};

bool changes_memory(action what) {
  switch (what) {
    case action::alloc:
    case action::free_requested:
    case action::free_completed:
    case action::segment_alloc:
    case action::segment_free:
    case action::segment_map:
    case action::segment_unmap: return true;
    default: return false;
  }
}

struct oom_moment {
  event_index event = before_trace;  ///< after this one
  bool is_oom_event = false;
  bool needs_map = false;  ///< memory changed after it, so the end of the file does not show it
};

/// The last `oom` event of the device, or the event that was asked for, else the end.
oom_moment find_oom_moment(snapshot const& input, std::int32_t device,
                           failed_request const& asked) {
  trace_view const trace(input, device);
  oom_moment made;
  made.event = trace.count() - 1;
  if (asked.event) {
    if (*asked.event < 0 || *asked.event >= trace.count()) {
      throw error(error_code::bad_request,
                  fmt::format("device {} has no event {}", device, *asked.event),
                  trace.count() == 0 ? std::string("its trace is empty")
                                     : fmt::format("its events are 0 to {}", trace.count() - 1));
    }
    made.event = *asked.event;
    made.is_oom_event = trace.what(made.event) == action::oom;
  } else {
    for (event_index event = trace.count() - 1; event >= 0 && !made.is_oom_event; --event) {
      if (trace.what(event) != action::oom) continue;
      made.event = event;
      made.is_oom_event = true;
    }
  }
  for (event_index event = made.event + 1; event < trace.count() && !made.needs_map; ++event) {
    made.needs_map = changes_memory(trace.what(event));
  }
  return made;
}

/// Of the file's segments, where the replay made no map.
address_map map_of_end(snapshot const& input, std::int32_t device, oom_moment const& moment) {
  address_map made;
  made.event = moment.event;
  for (segment const& row : input.segments) {
    if (row.device == device) made.segments.push_back(row);
  }
  made.blocks = input.blocks;
  made.exact = !moment.needs_map;
  if (!made.exact) made.reason = later_state_reason;
  return made;
}

address_map map_of(snapshot const& input, device_replay const& replayed, oom_moment const& moment) {
  for (address_map const& map : replayed.maps) {
    if (map.event == moment.event) return map;
  }
  return map_of_end(input, replayed.device, moment);
}

failed_request_report describe_request(oom_context& context, std::int32_t device,
                                       trace_view const& trace, oom_moment const& moment) {
  snapshot const& input = context.input;
  failed_request_report made;
  std::uint64_t rounded = 0;
  if (context.asked.bytes) {
    made.origin = request_origin::given;
    rounded = context.rules.round_size(static_cast<std::uint64_t>(*context.asked.bytes));
  }
  if (moment.is_oom_event) {
    if (!context.asked.bytes) {
      made.origin = request_origin::oom_event;
      rounded = trace.size(moment.event);
    }
    made.stream = stream_of(input, trace.stream(moment.event));
    if (!input.events.pool.empty()) {
      auto const row = static_cast<std::size_t>(
          input.traces[static_cast<std::size_t>(device)].first + moment.event);
      std::size_t const index = to_row(input.events.pool[row]);
      if (index < input.pools.size()) {
        made.pool_first = input.pools[index].first;
        made.pool_second = input.pools[index].second;
      }
    }
    stack_id const stack = trace.stack(moment.event);
    if (context.sites.has_any_frame(stack)) {
      site const& where = context.sites[context.sites.site_of(stack)];
      made.site = where.text;
      made.label = where.label;
      made.file = where.file;
      made.line = where.line;
      made.link = where.link;
      made.chain = context.sites.chain_of(stack);
    }
  }
  if (context.asked.stream) made.stream = *context.asked.stream;
  if (made.origin == request_origin::unknown) return made;
  made.bytes = to_bytes(std::min(rounded, static_cast<std::uint64_t>(most_request_bytes)));
  made.is_small = !is_large(rounded);
  made.driver_bytes = to_bytes(driver_bytes(rounded, context.rules.expandable.value_or(false)));
  return made;
}

/// What the trace tells of the memory that this process had, up to the moment.
void follow_reserved(trace_view const& trace, oom_moment const& moment, std::int64_t start_bytes,
                     oom_memory& memory) {
  std::int64_t reserved = start_bytes;
  memory.available_earlier_bytes = reserved;
  for (event_index event = 0; event <= moment.event; ++event) {
    std::int64_t const size = to_bytes(trace.size(event));
    std::int64_t available = reserved;
    switch (trace.what(event)) {
      case action::segment_alloc:
      case action::segment_map: available = reserved = add_saturated(reserved, size); break;
      case action::segment_free:
      case action::segment_unmap: reserved = subtract_saturated(reserved, size); break;
      case action::oom:
        if (event < moment.event)
          available = add_saturated(reserved, to_bytes(trace.address(event)));
        break;
      default: break;
    }
    if (available <= memory.available_earlier_bytes) continue;
    memory.available_earlier_bytes = available;
    memory.available_earlier_event = event;
  }
  memory.reserved_bytes = std::max<std::int64_t>(reserved, 0);
}

void measure_map(snapshot const& input, address_map const& map, oom_memory& memory) {
  std::int64_t allocated = 0, requested = 0, pending = 0, inactive = 0, reserved = 0;
  for (segment const& owner : map.segments) {
    reserved = add_saturated(reserved, to_bytes(owner.total_size));
    if (!(pool_of(input, owner) == pool_id{})) {
      memory.private_pool_bytes =
          add_saturated(memory.private_pool_bytes, to_bytes(owner.total_size));
    }
    for (block const& part : blocks_of(map, owner)) {
      std::int64_t const bytes = to_bytes(part.size);
      std::int64_t& sum = part.state == block_state::inactive              ? inactive
                          : part.state == block_state::active_pending_free ? pending
                                                                           : allocated;
      sum = add_saturated(sum, bytes);
      if (part.state != block_state::inactive) {
        requested = add_saturated(requested, to_bytes(part.requested_size));
      }
    }
  }
  memory.segments = static_cast<std::int64_t>(map.segments.size());
  memory.reserved_bytes = reserved;
  memory.allocated_bytes = allocated;
  memory.requested_bytes = requested;
  memory.pending_bytes = pending;
  memory.inactive_bytes = inactive;
  memory.unplaced_bytes = map.unplaced_bytes;
  memory.exact = map.exact;
  memory.reason = map.reason;
}

void account_for_others(oom_device_report const& made, oom_memory& memory) {
  if (memory.capacity_bytes && memory.driver_free_bytes) {
    memory.outside_bytes = excess(*memory.capacity_bytes,
                                  add_saturated(memory.reserved_bytes, *memory.driver_free_bytes));
  }
  if (!memory.driver_free_bytes && !made.request.driver_bytes) return;
  // Where the driver's rest is not known it was less than it should have given.
  std::int64_t const rest =
      memory.driver_free_bytes ? *memory.driver_free_bytes : *made.request.driver_bytes;
  std::int64_t const taken =
      excess(memory.available_earlier_bytes, add_saturated(memory.reserved_bytes, rest));
  if (taken > 0) memory.taken_since_bytes = taken;
}

oom_device_report make_device(oom_context& context, report_header const& header,
                              device_replay const& replayed) {
  snapshot const& input = context.input;
  trace_view const trace(input, replayed.device);
  oom_moment const moment = find_oom_moment(input, replayed.device, context.asked);
  address_map const map = map_of(input, replayed, moment);
  std::int64_t const top = context.options.top_contributors;

  oom_device_report made;
  made.device = replayed.device;
  made.events = trace.count();
  for (event_index event = 0; event < trace.count(); ++event) {
    if (trace.what(event) == action::oom) ++made.oom_count;
  }
  made.event = moment.event;
  made.is_end = moment.event == trace.count() - 1;
  made.time_us = trace.time_us(moment.event);
  made.seconds = trace.seconds(moment.event);
  if (made.time_us) made.within = context.annotations.within(replayed.device, *made.time_us);
  made.request = describe_request(context, replayed.device, trace, moment);
  made.has_map = !map.segments.empty();

  follow_reserved(trace, moment, replayed.reserved.start_bytes, made.memory);
  if (made.has_map) {
    measure_map(input, map, made.memory);
  } else {
    made.memory.exact = map.exact && input.has_segments;
    made.memory.reason = "the file has no segments of this device";
  }
  if (moment.is_oom_event) made.memory.driver_free_bytes = to_bytes(trace.address(moment.event));
  made.memory.capacity_bytes = context.asked.capacity_bytes;
  account_for_others(made, made.memory);

  free_space space = find_free_space(input, map, made.request, context.rules);
  pinners pinned = find_pinners(context.sites, map, top);
  made.pinners = std::move(pinned.rows);
  made.pinners_rest = pinned.rest;
  made.pinned_bytes = pinned.pinned_bytes;
  made.empty_segments = pinned.empty_segments;
  made.empty_segment_bytes = pinned.empty_bytes;
  std::int64_t const in_use =
      add_saturated(made.memory.allocated_bytes.value_or(0), made.memory.pending_bytes.value_or(0));
  site_rows holders = make_site_rows(context.sites, total_in_use(map), in_use, top);
  made.holders = std::move(holders.rows);
  made.holders_rest = holders.rest;
  if (moment.event >= 0) {
    made.before = find_last_events(input, trace, moment.event, context.asked.seconds_before,
                                   context.sites, top);
  }
  made.largest_hole_bytes = space.largest_usable_bytes;
  made.verdict = find_verdict(made, space);
  made.advice = find_advice(header, made, space, context.rules);
  made.free_space = std::move(space.rows);
  made.free_by_reason = std::move(space.by_reason);
  made.defects = replayed.defects;
  return made;
}

void check(failed_request const& asked) {
  if (asked.bytes && (*asked.bytes <= 0 || *asked.bytes > most_request_bytes)) {
    throw error(error_code::bad_request, fmt::format("a request of {} bytes is none", *asked.bytes),
                "--request takes the bytes that were asked for, such as 2GiB");
  }
  if (asked.capacity_bytes && *asked.capacity_bytes <= 0) {
    throw error(error_code::bad_request, "a device without memory cannot run out of it",
                "--capacity takes the device's bytes, such as 80GiB");
  }
}

void redact_all(oom_report& model) {
  redact(static_cast<report_header&>(model));
  for (oom_device_report& device : model.devices) {
    device.within = redact_homes(device.within);
    failed_request_report& request = device.request;
    for (std::string* const text : {&request.site, &request.label, &request.file, &request.chain}) {
      *text = redact_homes(*text);
    }
    request.link.clear();
    device.verdict.text = redact_homes(device.verdict.text);
    for (oom_advice& row : device.advice) {
      row.what = redact_homes(row.what);
      row.why = redact_homes(row.why);
    }
    for (pinner_row& row : device.pinners) {
      row.site = redact_homes(row.site);
      row.label = redact_homes(row.label);
      row.file = redact_homes(row.file);
      row.link.clear();
    }
    redact(device.holders);
    if (device.before) redact(device.before->grown);
    redact(device.defects);
  }
}

}  // namespace

replay_plan plan_oom(snapshot const& input, std::int32_t device, failed_request const& asked,
                     replay_plan plan) {
  oom_moment const moment = find_oom_moment(input, device, asked);
  if (moment.needs_map) plan.maps = {moment.event};
  return plan;
}

oom_report make_oom_report(snapshot const& input, replay_result const& replayed,
                           replay_plan const& plan, failed_request const& asked,
                           report_options const& options, std::string const& file) {
  check(asked);
  if (input.events.size_rows() == 0 && input.segments.empty()) {
    throw error(error_code::bad_request, "the file holds neither events nor segments",
                "record with torch.cuda.memory._record_memory_history() and dump when it fails");
  }
  oom_context context{input,
                      asked,
                      options,
                      read_allocator_rules(input.settings),
                      site_table(input, options.site, site_rule::user),
                      annotation_table(input)};
  oom_report made;
  static_cast<report_header&>(made) =
      make_header(oom_schema_version, input, replayed, plan, context.sites, file);
  for (device_replay const& device : replayed.devices) {
    made.devices.push_back(make_device(context, made, device));
  }
  if (options.site.redact) redact_all(made);
  return made;
}

}  // namespace memreplay
