// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Events: the rows of the traces, straight into the columns.
#include <optional>

#include "snapshot/row_sink.hpp"

namespace memreplay::reading {

using pickle::value;
using pickle::value_kind;

namespace {

constexpr std::size_t rows_between_calls = std::size_t{1} << 16;

/// Other writers record nanoseconds; microseconds since 1970 have 16 digits until the year 5138.
std::int64_t to_microseconds(std::int64_t time) {
  return time > 100'000'000'000'000'000 ? time / 1000 : time;
}

/// One dictionary, seen as `pickle::dict_rows` is.
struct one_row {
  std::span<value const> items;  ///< key, value ...
  static constexpr std::size_t count = 1;
  [[nodiscard]] value const& at(std::size_t /*row*/, std::size_t key) const noexcept {
    return items[2 * key + 1];
  }
  [[nodiscard]] value const& key(std::size_t at) const noexcept { return items[2 * at]; }
};

}  // namespace

std::uint64_t row_sink::add_event(std::span<value const> items, shape const& form) {
  std::uint64_t const payload = next_row();
  add_events(one_row{items}, form);
  return payload;
}

void row_sink::take_rows(pickle::dict_rows const& rows) {
  dicts_ += rows.count;
  add_events(rows, shape_of(rows.keys, 1));
}

/// Column by column. New rows have the defaults of missing keys.
template <class RowsT>
void row_sink::add_events(RowsT const& rows, shape const& form) {
  event_columns& events = into_.events;
  std::size_t const first = events.size_rows();
  std::size_t const last = first + rows.count;
  events.what.resize(last, action::other);
  events.address.resize(last, 0);
  events.size.resize(last, 0);
  events.stream.resize(last, stream_id{});
  events.stack.resize(last, no_stack);
  // Optional columns come into being with their first cell that is not the default.
  auto const set_optional = [&](auto& cells, std::size_t row, auto content) {
    if (content == decltype(content){} && cells.empty()) return;
    cells.resize(first + row, {});
    cells.push_back(content);
  };
  auto const fill = [&](auto& cells, std::size_t key, auto const& cell_of) {
    for (std::size_t row = 0; row < rows.count; ++row)
      cells[first + row] = cell_of(rows.at(row, key));
  };
  std::optional<std::size_t> device_free, time;

  for (std::size_t at = 0; at < form.width; ++at) {
    switch (form.keys[at]) {
      case key::action:
        fill(events.what, at, [this](value const& cell) { return action_of(cell); });
        break;
      case key::addr:
        fill(events.address, at,
             [this](value const& cell) { return unsigned_of(cell).value_or(0); });
        break;
      case key::size:
        fill(events.size, at, [this](value const& cell) { return size_of(cell); });
        break;
      case key::stream:
        fill(events.stream, at, [this](value const& cell) { return stream_of(cell); });
        break;
      case key::frames:
        fill(events.stack, at, [this](value const& cell) { return stack_of(cell); });
        break;
      case key::time_us: time = at; break;
      case key::device_free: device_free = at; break;
      case key::pool_id:
      case key::segment_pool_id:
        for (std::size_t row = 0; row < rows.count; ++row)
          set_optional(events.pool, row, pool_of(rows.at(row, at)));
        break;
      case key::user_metadata:
        for (std::size_t row = 0; row < rows.count; ++row)
          set_optional(events.user_metadata, row, string_of(rows.at(row, at)));
        break;
      case key::compile_context:
        for (std::size_t row = 0; row < rows.count; ++row)
          set_optional(events.compile_context, row, compile_context_of(rows.at(row, at)));
        break;
      case key::cpp_frames:
      case key::forward_frames:
      case key::internal_metadata:
      case key::category: break;
      default:
        for (std::size_t row = 0; row < rows.count; ++row) count_unknown_key(rows.key(at));
    }
  }

  if (!form.set.has(key::stream)) {
    stream_id const unnamed = stream_of({.kind = value_kind::none});
    for (std::size_t row = first; row < last; ++row) events.stream[row] = unnamed;
  }
  // Where other actions have an address, this one has the driver's free bytes.
  for (std::size_t row = 0; row < rows.count; ++row) {
    std::uint64_t const free =
        device_free ? unsigned_of(rows.at(row, *device_free)).value_or(0) : 0;
    if (events.what[first + row] == action::oom) events.address[first + row] = free;
  }
  for (std::size_t row = 0; row < rows.count; ++row) {
    value const cell = time ? rows.at(row, *time) : value{};
    std::int64_t const microseconds = to_microseconds(signed_of(cell));
    if (cell.kind == value_kind::none) {
      ++odd_.events_without_time;
    } else {
      events.time_us.resize(first + row, 0);
      events.time_us.push_back(microseconds);
    }
  }
  if (on_rows_ && last - told_rows_ >= rows_between_calls) {
    on_rows_(events, last);
    told_rows_ = last;
  }
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
