// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a container is, and the lists of rows.
#include "snapshot/row_sink.hpp"

#include <algorithm>
#include <utility>

#include <memreplay/error.hpp>

namespace memreplay::reading {

using pickle::value;
using pickle::value_kind;

namespace {

/// Real stacks have up to some hundred frames, a runaway recursion some ten thousand.
constexpr std::size_t stack_depth_limit = 16'384;

bool is_pair(std::span<value const> items) noexcept {
  return items[0].kind == value_kind::integer && items[1].kind == value_kind::integer;
}

}  // namespace

row_sink::row_sink(snapshot& into, told_rows on_rows)
    : into_(into), on_rows_(std::move(on_rows)), interner_(into), loose_(into.strings, into.pools) {
  into_.pools.assign(1, {});
  // Known from the start, so that its number does not depend on how rows are read.
  (void)interner_.stack({});
}

std::uint64_t row_sink::text(std::string_view content) { return to_row(interner_.string(content)); }

/// Lists may share their rows, and a hostile file shares a long list many times: rows that are
/// copied or gone through again must not outnumber by far what the file spells out.
void row_sink::spend(std::uint64_t rows) {
  spent_ += rows;
  if (spent_ > (std::uint64_t{1} << 20) + 4 * dicts_) {
    throw error(error_code::refused, "refused: the same lists are used over and over",
                "no writer of snapshots does that, so do not trust this file");
  }
}

// ---- dictionaries

node_kind row_sink::kind_of(key_set keys) noexcept {
  if (keys.has(key::action)) return node_kind::event;
  if (keys.has(key::filename)) return node_kind::frame;
  if (keys.has(key::stage)) return node_kind::annotation;
  if (keys.has_any(key_set(key::blocks, key::total_size, key::segment_type)))
    return node_kind::segment;
  if (keys.has(key::state) && keys.has(key::size)) return node_kind::block;
  if (keys.has(key::real_size)) return node_kind::history_entry;
  if (keys.has_any(key_set(key::segments, key::device_traces))) return node_kind::root;
  return node_kind::loose;
}

row_sink::shape const& row_sink::shape_of(std::span<value const> items, std::size_t step) {
  std::size_t const width = items.size() / step;
  auto const fits = [&](shape const& known) {
    if (known.width != width) return false;
    for (std::size_t at = 0; at < width; ++at) {
      if (known.handles[at] != items[step * at].bits || items[step * at].kind != value_kind::text)
        return false;
    }
    return true;
  };
  if (last_shape_ < shapes_.size() && fits(shapes_[last_shape_])) return shapes_[last_shape_];
  if (auto const known = std::ranges::find_if(shapes_, fits); known != shapes_.end()) {
    last_shape_ = static_cast<std::size_t>(known - shapes_.begin());
    return *known;
  }
  scratch_shape_ = make_shape(items, step);
  bool will_return = width <= shape_width && shapes_.size() < shape_limit;
  for (std::size_t at = 0; at < width && will_return; ++at) will_return = items[step * at].shared;
  return will_return ? shapes_.emplace_back(scratch_shape_) : scratch_shape_;
}

row_sink::shape row_sink::make_shape(std::span<value const> items, std::size_t step) {
  shape made;
  made.width = items.size() / step;
  std::size_t const width = std::min(made.width, shape_width);
  for (std::size_t at = 0; at < width; ++at) {
    value const& name = items[step * at];
    made.handles[at] = name.bits;
    made.keys[at] = name.kind == value_kind::text ? find_key(text_of(name)) : key::unknown;
    if (made.keys[at] != key::unknown) made.set.insert(made.keys[at]);
  }
  made.kind = kind_of(made.set);
  // A dictionary wider than any row of the format is nobody's row.
  if (made.width > shape_width) made.kind = node_kind::loose;
  return made;
}

std::uint64_t row_sink::dict_items(std::uint64_t current, std::span<value const> items,
                                   bool is_cut) {
  ++dicts_;
  if (current != 0) {
    node const open = to_node({.bits = current, .kind = value_kind::dict});
    if (open.kind == node_kind::loose) loose_.extend_dict(open.row, items);
    if (open.kind == node_kind::root) return take_root(items, make_shape(items, 2));
    return current;
  }
  shape const& form = shape_of(items, 2);
  // A row that the end of the file cut may lack any of its cells.
  if (is_cut && form.kind != node_kind::root) return to_payload(node_kind::ignored, 0);
  switch (form.kind) {
    case node_kind::event: return add_event(items, form);
    case node_kind::frame: return add_frame(items, form);
    case node_kind::block: return add_block(items, form);
    case node_kind::segment: return add_segment(items, form);
    case node_kind::annotation: return add_annotation(items, form);
    case node_kind::history_entry: return add_history_entry(items, form);
    case node_kind::root: return take_root(items, form);
    default: return to_payload(node_kind::loose, loose_.add_dict(items));
  }
}

bool row_sink::comes_in_rows(std::uint64_t dict) const {
  return to_node({.bits = dict, .kind = value_kind::dict}).kind == node_kind::event;
}

std::uint64_t row_sink::next_row() const {
  return to_payload(node_kind::event, into_.events.size_rows());
}

// ---- lists and tuples

/// A list of frames, unless some of it will be left out and counted.
bool row_sink::is_settled(std::span<value const> items) const {
  return items.size() <= stack_depth_limit && std::ranges::all_of(items, [](value const& item) {
           return to_node(item).kind == node_kind::frame;
         });
}

std::uint64_t row_sink::list_items(std::uint64_t current, std::span<value const> items) {
  node const open = to_node({.bits = current, .kind = value_kind::list});
  // Pools are lists after a round trip through JSON.
  if (open.kind == node_kind::empty && items.size() == 2 && is_pair(items)) {
    return to_payload(node_kind::pool,
                      to_row(pool_row({signed_of(items[0]), signed_of(items[1])})));
  }
  // A new list is what its first item makes it.
  node_kind const kind = open.kind != node_kind::empty ? open.kind : [&] {
    if (items[0].kind == value_kind::list) {
      node_kind const inner = to_node(items[0]).kind;
      return inner == node_kind::event_list || inner == node_kind::empty ? node_kind::trace_list
                                                                         : node_kind::loose;
    }
    switch (to_node(items[0]).kind) {
      case node_kind::event: return node_kind::event_list;
      case node_kind::frame: return node_kind::stack;
      case node_kind::block: return node_kind::block_list;
      case node_kind::segment: return node_kind::segment_list;
      case node_kind::annotation: return node_kind::annotation_list;
      case node_kind::history_entry: return node_kind::history;
      default: return node_kind::loose;
    }
  }();
  bool const is_new = open.kind == node_kind::empty;
  std::uint64_t row = open.row;
  switch (kind) {
    case node_kind::stack: {
      std::span<frame_id const> head;
      if (!is_new) head = into_.stacks[stack_id{static_cast<std::uint32_t>(row)}];
      return add_stack(head, items);
    }
    case node_kind::event_list:
    case node_kind::block_list:
    case node_kind::segment_list:
    case node_kind::annotation_list:
      if (is_new) {
        row = row_lists_.size();
        row_lists_.emplace_back();
      }
      return add_rows(kind,
                      kind == node_kind::event_list     ? node_kind::event
                      : kind == node_kind::block_list   ? node_kind::block
                      : kind == node_kind::segment_list ? node_kind::segment
                                                        : node_kind::annotation,
                      row, items);
    case node_kind::trace_list:
      if (is_new) {
        row = trace_lists_.size();
        trace_lists_.emplace_back();
      }
      return add_traces(row, items);
    // The newest entry stands first; the older ones describe memory that is gone.
    case node_kind::history: return is_new ? to_payload(kind, to_node(items[0]).row) : current;
    case node_kind::loose:
      if (is_new) return to_payload(kind, loose_.add_list(items));
      loose_.extend_list(row, items);
      return current;
    default: return current;
  }
}

std::uint64_t row_sink::tuple_items(std::span<value const> items) {
  if (items.size() == 2 && is_pair(items)) {
    pool_index const row = pool_row({signed_of(items[0]), signed_of(items[1])});
    return to_payload(node_kind::pool, to_row(row));
  }
  return to_payload(node_kind::loose, loose_.add_list(items));
}

std::uint64_t row_sink::add_stack(std::span<frame_id const> head, std::span<value const> items) {
  scratch_frames_.assign(head.begin(), head.end());
  std::size_t const room = stack_depth_limit - std::min(stack_depth_limit, head.size());
  if (items.size() > room) {
    odd_.left_out_frames += static_cast<std::int64_t>(items.size() - room);
    items = items.first(room);
  }
  for (value const& item : items) {
    node const member = to_node(item);
    if (member.kind == node_kind::frame) {
      scratch_frames_.push_back(frame_id{static_cast<std::uint32_t>(member.row)});
    } else {
      ++odd_.foreign_items;
    }
  }
  return to_payload(node_kind::stack, to_row(interner_.stack(scratch_frames_)));
}

std::uint64_t row_sink::add_rows(node_kind list_kind, node_kind row_kind, std::uint64_t row,
                                 std::span<value const> items) {
  row_list& list = row_lists_[row];
  for (value const& item : items) {
    node const member = to_node(item);
    if (member.kind == row_kind) {
      append_row(list, member.row);
    } else {
      ++odd_.foreign_items;
    }
  }
  return to_payload(list_kind, row);
}

void row_sink::append_row(row_list& list, std::uint64_t row) {
  if (list.scattered.empty()) {
    if (list.count == 0) list.first = row;
    if (row == list.first + list.count) {
      ++list.count;
      return;
    }
    for (std::uint64_t at = 0; at < list.count; ++at) list.scattered.push_back(list.first + at);
  }
  list.scattered.push_back(row);
  ++list.count;
}

std::uint64_t row_sink::add_traces(std::uint64_t row, std::span<value const> items) {
  for (value const& item : items) trace_lists_[row].push_back(to_node(item));
  return to_payload(node_kind::trace_list, row);
}

// ---- the end

std::uint64_t row_sink::take_root(std::span<value const> items, shape const& form) {
  for (std::size_t at = 0; at < std::min(form.width, shape_width); ++at) {
    value const& content = items[2 * at + 1];
    if (content.kind == value_kind::none) continue;  // as good as missing
    node const what = to_node(content);
    switch (form.keys[at]) {
      case key::segments: root_segments_ = what; break;
      case key::device_traces: root_traces_ = what; break;
      case key::allocator_settings: root_settings_ = what; break;
      case key::external_annotations: root_annotations_ = what; break;
      case key::host_segments: root_host_segments_ = what; break;
      case key::host_traces: root_host_traces_ = what; break;
      case key::trace_alloc_overflowed: root_overflowed_ = content; break;
      case key::trace_alloc_max_entries: root_max_entries_ = content; break;
      default: count_unknown_key(items[2 * at]);
    }
  }
  return to_payload(node_kind::root, 0);
}

void row_sink::finish(value const& root) {
  node const top = to_node(root);
  if (top.kind == node_kind::segment_list ||
      (root.kind == value_kind::list && top.kind == node_kind::empty)) {
    root_segments_ = top;
  } else if (top.kind != node_kind::root) {
    throw error(error_code::not_a_snapshot,
                "not a memory snapshot: neither a dictionary with `segments` or `device_traces`, "
                "nor a list of "
                "segments",
                "a snapshot is what torch.cuda.memory._dump_snapshot() writes");
  }

  into_.has_segments = root_segments_.has_value();
  into_.has_traces = root_traces_.has_value();
  if (root_segments_ && root_segments_->kind == node_kind::segment_list) {
    keep_only(into_.segments, row_lists_[root_segments_->row]);
    for (segment const& part : into_.segments) spend(static_cast<std::uint64_t>(part.block_count));
  } else {
    into_.segments.clear();
    into_.blocks.clear();
  }
  if (root_annotations_ && root_annotations_->kind == node_kind::annotation_list) {
    keep_only(into_.annotations, row_lists_[root_annotations_->row]);
  } else {
    into_.annotations.clear();
  }
  if (root_settings_ && root_settings_->kind == node_kind::loose) {
    take_settings(loose_[root_settings_->row], "", 0);
  }
  if (root_overflowed_)
    take_settings(loose_.to_json(*root_overflowed_), "trace_alloc_overflowed", 0);
  if (root_max_entries_)
    take_settings(loose_.to_json(*root_max_entries_), "trace_alloc_max_entries", 0);
  count_host_memory();
  odd_.left_out_values = loose_.dropped();

  if (root_traces_ && root_traces_->kind == node_kind::trace_list) {
    place_traces(trace_lists_[root_traces_->row]);
  }

  // Optional columns reach as far as the last row that had the key.
  std::size_t const rows = into_.events.size_rows();
  if (!into_.events.time_us.empty()) into_.events.time_us.resize(rows, 0);
  if (!into_.events.pool.empty()) into_.events.pool.resize(rows, pool_index{});
  if (!into_.events.user_metadata.empty()) into_.events.user_metadata.resize(rows, string_id{});
  if (!into_.events.compile_context.empty()) into_.events.compile_context.resize(rows, string_id{});
}

void row_sink::count_host_memory() {
  if (root_host_segments_ && root_host_segments_->kind == node_kind::segment_list)
    odd_.host_segments = static_cast<std::int64_t>(row_lists_[root_host_segments_->row].count);
  if (!root_host_traces_) return;
  std::vector<node> traces{*root_host_traces_};
  if (root_host_traces_->kind == node_kind::trace_list)
    traces = trace_lists_[root_host_traces_->row];
  for (node const& trace : traces) {
    if (trace.kind == node_kind::event_list)
      odd_.host_events += static_cast<std::int64_t>(row_lists_[trace.row].count);
  }
}

void row_sink::place_traces(std::vector<node> const& traces) {
  if (traces.size() > 65'536) throw error(error_code::refused, "more than 65536 devices");
  for (node const& trace : traces) {
    if (trace.kind != node_kind::event_list) {
      into_.traces.push_back({});
      continue;
    }
    row_list& list = row_lists_[trace.row];
    place_events(list);
    spend(list.count);
    into_.traces.push_back(
        {static_cast<std::int64_t>(list.first), static_cast<std::int64_t>(list.count)});
  }
}

void row_sink::place_events(row_list& list) {
  if (list.scattered.empty()) return;
  spend(list.count);
  event_columns& events = into_.events;
  std::uint64_t const first = events.size_rows();
  auto const copy = [&list](auto& values) {
    if (values.empty()) return;
    for (std::uint64_t const row : list.scattered) {
      values.push_back(row < values.size() ? values[static_cast<std::size_t>(row)]
                                           : typename std::remove_cvref_t<decltype(values[0])>{});
    }
  };
  auto const pad = [first](auto& values) {
    if (!values.empty()) values.resize(static_cast<std::size_t>(first), {});
  };
  pad(events.time_us);
  pad(events.pool);
  pad(events.user_metadata);
  pad(events.compile_context);
  copy(events.what);
  copy(events.address);
  copy(events.size);
  copy(events.stream);
  copy(events.stack);
  copy(events.time_us);
  copy(events.pool);
  copy(events.user_metadata);
  copy(events.compile_context);
  list = {.first = first, .count = events.size_rows() - first, .scattered = {}};
}

void row_sink::take_settings(json const& content, std::string const& prefix, int depth) {
  if (content.is_object() && depth < 4) {
    for (auto const& [name, inner] : content.items()) {
      take_settings(inner, prefix.empty() ? name : prefix + "." + name, depth + 1);
    }
    return;
  }
  into_.settings.push_back({prefix, content.dump(-1, ' ', false, json::error_handler_t::replace)});
}

}  // namespace memreplay::reading
