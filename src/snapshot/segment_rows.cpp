// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Segments and blocks: the allocator's state when the file was written, and the defaults of older
// layouts.
#include "snapshot/row_sink.hpp"

namespace memreplay::reading {

using pickle::value;
using pickle::value_kind;

namespace {

/// Blocks of PyTorch 2.0 have no address; their segment gives it to them.
constexpr std::uint64_t unknown_address = ~std::uint64_t{0};

}  // namespace

std::uint64_t row_sink::add_block(std::span<value const> items, shape const& form) {
  block made;
  made.address = unknown_address;
  history_row newest;
  key_set present = form.set;
  for (std::size_t at = 0; at < form.width; ++at) {
    value const& content = items[2 * at + 1];
    if (content.kind == value_kind::none) {  // as good as missing
      present.erase(form.keys[at]);
      continue;
    }
    switch (form.keys[at]) {
      case key::address:
      case key::addr: made.address = unsigned_of(content).value_or(unknown_address); break;
      case key::size: made.size = size_of(content); break;
      case key::requested_size: made.requested_size = size_of(content); break;
      case key::state: {
        std::string_view const name = text_of(content);
        made.state = name == "active_allocated" ? block_state::active_allocated
                     : name == "active_pending_free" || name == "active_awaiting_free"
                         ? block_state::active_pending_free
                         : block_state::inactive;
        break;
      }
      case key::frames: made.stack = stack_of(content); break;
      case key::history:
        if (node const entries = to_node(content); entries.kind == node_kind::history) {
          newest = history_[static_cast<std::size_t>(entries.row)];
        }
        break;
      default: count_unknown_key(items[2 * at]);
    }
  }
  // The 2.0 layout keeps the request and the stack in the block's history.
  if (!present.has(key::requested_size)) {
    made.requested_size =
        present.has(key::history) && newest.real_size != 0 ? newest.real_size : made.size;
  }
  if (!present.has(key::frames)) made.stack = newest.stack;
  into_.blocks.push_back(made);
  return to_payload(node_kind::block, into_.blocks.size() - 1);
}

std::uint64_t row_sink::add_history_entry(std::span<value const> items, shape const& form) {
  history_row made;
  for (std::size_t at = 0; at < form.width; ++at) {
    value const& content = items[2 * at + 1];
    if (form.keys[at] == key::real_size) made.real_size = size_of(content);
    if (form.keys[at] == key::frames) made.stack = stack_of(content);
  }
  history_.push_back(made);
  return to_payload(node_kind::history_entry, history_.size() - 1);
}

std::uint64_t row_sink::add_segment(std::span<value const> items, shape const& form) {
  segment made;
  bool has_stream = false;
  key_set present = form.set;
  for (std::size_t at = 0; at < form.width; ++at) {
    value const& content = items[2 * at + 1];
    if (content.kind == value_kind::none) {
      present.erase(form.keys[at]);
      continue;
    }
    switch (form.keys[at]) {
      case key::device: made.device = device_of(content); break;
      case key::address: made.address = unsigned_of(content).value_or(0); break;
      case key::total_size: made.total_size = size_of(content); break;
      case key::allocated_size: made.allocated_size = size_of(content); break;
      case key::active_size: made.active_size = size_of(content); break;
      case key::requested_size: made.requested_size = size_of(content); break;
      case key::stream:
        made.stream = stream_of(content);
        has_stream = true;
        break;
      case key::segment_type: made.is_small = text_of(content) == "small"; break;
      case key::segment_pool_id:
      case key::pool_id: made.pool = pool_of(content); break;
      case key::is_expandable: made.is_expandable = unsigned_of(content).value_or(0) != 0; break;
      case key::frames: made.stack = stack_of(content); break;
      case key::blocks:
        if (node const list = to_node(content); list.kind == node_kind::block_list) {
          row_list& rows = row_lists_[static_cast<std::size_t>(list.row)];
          gather(into_.blocks, rows);
          made.first_block = static_cast<std::int64_t>(rows.first);
          made.block_count = static_cast<std::int64_t>(rows.count);
        }
        break;
      default: count_unknown_key(items[2 * at]);
    }
  }
  if (!has_stream) made.stream = stream_of({.kind = value_kind::none});

  spend(static_cast<std::uint64_t>(made.block_count));
  std::uint64_t next_address = made.address;
  std::uint64_t total = 0, allocated = 0, active = 0, requested = 0;
  for (std::int64_t row = 0; row < made.block_count; ++row) {
    block& part = into_.blocks[static_cast<std::size_t>(made.first_block + row)];
    if (part.address == unknown_address) part.address = next_address;
    next_address = part.address + part.size;
    total += part.size;
    if (part.state == block_state::active_allocated) allocated += part.size;
    if (part.state != block_state::inactive) {
      active += part.size;
      requested += part.requested_size;
    }
  }
  if (!present.has(key::total_size)) made.total_size = total;
  if (!present.has(key::allocated_size)) made.allocated_size = allocated;
  if (!present.has(key::active_size)) made.active_size = active;
  if (!present.has(key::requested_size)) made.requested_size = requested;
  into_.segments.push_back(made);
  return to_payload(node_kind::segment, into_.segments.size() - 1);
}

}  // namespace memreplay::reading
