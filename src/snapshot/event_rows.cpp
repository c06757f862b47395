// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Events: the rows of the traces, straight into the columns.
#include "snapshot/row_sink.hpp"

namespace memreplay::reading {

using pickle::value;
using pickle::value_kind;

std::uint64_t row_sink::add_event(std::span<value const> items, shape const& form) {
  event_columns& events = into_.events;
  action what = action::other;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t device_free = 0;
  stream_id stream{};
  stack_id stack = no_stack;
  std::int64_t time_us = 0;
  pool_index pool{};
  string_id metadata{};
  string_id compile_context{};
  bool has_stream = false;
  bool has_time = false;

  for (std::size_t at = 0; at < form.width; ++at) {
    value const& content = items[2 * at + 1];
    switch (form.keys[at]) {
      case key::action: what = action_of(content); break;
      case key::addr: address = unsigned_of(content).value_or(0); break;
      case key::size: size = size_of(content); break;
      case key::stream:
        stream = stream_of(content);
        has_stream = true;
        break;
      case key::time_us:
        time_us = signed_of(content);
        has_time = content.kind != value_kind::none;
        // Other writers record nanoseconds; microseconds since 1970 have 16 digits until the year
        // 5138.
        if (time_us > 100'000'000'000'000'000) time_us /= 1000;
        break;
      case key::frames: stack = stack_of(content); break;
      case key::device_free: device_free = unsigned_of(content).value_or(0); break;
      case key::pool_id:
      case key::segment_pool_id: pool = pool_of(content); break;
      case key::user_metadata:
        if (content.bits != last_metadata_handle_ || content.kind != value_kind::text) {
          last_metadata_ = string_of(content);
          last_metadata_handle_ = content.bits;
        }
        metadata = last_metadata_;
        break;
      case key::compile_context: {
        // Spelled out on every event; "N/A" is the writer's word for none.
        if (text_of(content) != "N/A") compile_context = string_of(content);
        break;
      }
      case key::cpp_frames:
      case key::forward_frames:
      case key::internal_metadata:
      case key::category: break;
      default: count_unknown_key(items[2 * at]);
    }
  }
  if (!has_stream) stream = stream_of({.kind = value_kind::none});

  events.what.push_back(what);
  events.address.push_back(what == action::oom ? device_free : address);
  events.size.push_back(size);
  events.stream.push_back(stream);
  events.stack.push_back(stack);
  if (has_time) {
    events.time_us.resize(events.size_rows() - 1, 0);
    events.time_us.push_back(time_us);
  } else {
    ++odd_.events_without_time;
  }
  if (form.set.has_any(key_set(key::pool_id, key::segment_pool_id)))
    set_optional(events.pool, pool);
  if (form.set.has(key::user_metadata)) set_optional(events.user_metadata, metadata);
  if (form.set.has(key::compile_context)) set_optional(events.compile_context, compile_context);
  return to_payload(node_kind::event, events.size_rows() - 1);
}

std::uint64_t row_sink::add_frame(std::span<value const> items, shape const& form) {
  frame made;
  for (std::size_t at = 0; at < form.width; ++at) {
    value const& content = items[2 * at + 1];
    switch (form.keys[at]) {
      case key::name: made.function = string_of(content); break;
      case key::filename: made.file = string_of(content); break;
      case key::line: made.line = unsigned_of(content).value_or(0); break;
      default: count_unknown_key(items[2 * at]);
    }
  }
  return to_payload(node_kind::frame, to_row(interner_.frame(made)));
}

std::uint64_t row_sink::add_annotation(std::span<value const> items, shape const& form) {
  annotation made;
  for (std::size_t at = 0; at < form.width; ++at) {
    value const& content = items[2 * at + 1];
    switch (form.keys[at]) {
      case key::name: made.name = string_of(content); break;
      case key::stage: made.is_start = text_of(content) == "START"; break;
      case key::device: made.device = device_of(content); break;
      case key::time_us: made.time_us = signed_of(content); break;
      default: count_unknown_key(items[2 * at]);
    }
  }
  into_.annotations.push_back(made);
  return to_payload(node_kind::annotation, into_.annotations.size() - 1);
}

}  // namespace memreplay::reading
