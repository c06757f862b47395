// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What lay where after an event: the file's segments with everything undone that came later.
//
// A trace tells of segments only what changed, so the way to a moment leads backwards from the end:
//
//     undo segment_alloc    the segment goes        undo segment_map      its range is cut out
//     undo segment_free     the segment comes back  undo segment_unmap    its range comes back, and
//                                                                         joins its neighbours
//
// Who was live comes from the kernels, and how large a block was from the search for block sizes;
// what is left of a segment between two blocks is a hole.
#include "replay/address_map.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "replay/allocator_model.hpp"
#include "replay/device_input.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t small_segment_bytes = std::uint64_t{2} << 20;

constexpr char const* no_segments_reason = "the file has no segments";
constexpr char const* contradiction_reason =
    "the trace and the segments disagree about what was held from the driver";
constexpr char const* unplaced_reason =
    "some live blocks lie in no known segment, or below another block";
constexpr char const* unknown_pool_reason =
    "the pool of a segment that is gone at the end is not in the file";
constexpr char const* gaps_reason = "the blocks of a segment do not fill it";

std::int64_t add_bytes(std::int64_t sum, std::uint64_t bytes) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(
      std::min(saturating_add(static_cast<std::uint64_t>(sum), bytes), most));
}

struct held_segment {
  std::uint64_t end = 0;
  stream_id stream{};
  pool_index pool{};
  stack_id stack = no_stack;
  bool is_small = false;
  bool is_expandable = false;
  bool is_pool_known = false;
  bool is_kind_known = false;  ///< `is_small`
};
using held_segments = std::map<std::uint64_t, held_segment>;  ///< by address, none overlap

std::vector<segment const*> segments_of(snapshot const& input, std::int32_t device) {
  std::vector<segment const*> rows;
  for (segment const& row : input.segments) {
    if (row.device == device) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](segment const* left, segment const* right) {
    return left->address < right->address;
  });
  return rows;
}

/// The segments of a device, at the end at first and then at ever earlier moments.
class segment_history {
 public:
  segment_history(snapshot const& input, std::int32_t device)
      : events_(input.events), range_(trace_of(input, device)), event_(range_.count - 1) {
    for (segment const* const row : segments_of(input, device)) {
      put(row->address, row->total_size,
          {0, row->stream, row->pool, row->stack, row->is_small, row->is_expandable, true, true},
          false);
    }
  }

  /// After `event`, which is not later than any moment asked before.
  void go_back_to(event_index event) {
    for (; event_ > event; --event_) undo(static_cast<std::size_t>(range_.first + event_));
  }

  [[nodiscard]] held_segments const& held() const noexcept { return held_; }
  /// What cannot have happened, on the way to this moment.
  [[nodiscard]] std::int64_t contradictions() const noexcept { return contradictions_; }

 private:
  void undo(std::size_t row) {
    std::uint64_t const address = events_.address[row];
    std::uint64_t const size = events_.size[row];
    switch (events_.what[row]) {
      case action::segment_alloc: take_whole(address, size); break;
      case action::segment_free: put(address, size, returned(row, size, false), false); break;
      case action::segment_map: take_range(address, size); break;
      case action::segment_unmap: put(address, size, returned(row, size, true), true); break;
      default: break;
    }
  }

  // A segment that the end state does not tell of.
  [[nodiscard]] held_segment returned(std::size_t row, std::uint64_t size,
                                      bool is_expandable) const {
    held_segment made;
    made.stream = events_.stream[row];
    made.is_pool_known = !events_.pool.empty();
    if (made.is_pool_known) made.pool = events_.pool[row];
    made.is_small = size <= small_segment_bytes;
    made.is_expandable = is_expandable;
    return made;
  }

  void put(std::uint64_t address, std::uint64_t size, held_segment made, bool may_join) {
    if (size == 0) return;
    made.end = saturating_add(address, size);
    auto next = held_.lower_bound(address);
    auto const before = next == held_.begin() ? held_.end() : std::prev(next);
    bool const is_free_above = next == held_.end() || next->first >= made.end;
    bool const is_free_below = before == held_.end() || before->second.end <= address;
    if (made.end - address != size || !is_free_above || !is_free_below) ++contradictions_;
    // Where two segments claim one address, the one that was there first is not worse.
    if (!is_free_above || !is_free_below) return;
    if (may_join && next != held_.end() && next->first == made.end && join(made, next->second)) {
      made.end = next->second.end;
      next = held_.erase(next);
    }
    if (may_join && before != held_.end() && before->second.end == address &&
        join(made, before->second)) {
      before->second = made;
    } else {
      held_.emplace_hint(next, address, made);
    }
  }

  // Mapped ranges of one stream and pool are one row in `segments`. What one of them does not know
  // of itself, the other one tells.
  static bool join(held_segment& made, held_segment const& other) {
    bool const is_other_pool = made.is_pool_known && other.is_pool_known && made.pool != other.pool;
    bool const is_other_kind =
        made.is_kind_known && other.is_kind_known && made.is_small != other.is_small;
    if (!other.is_expandable || made.stream != other.stream || is_other_pool || is_other_kind) {
      return false;
    }
    if (!made.is_pool_known) made.pool = other.pool;
    if (!made.is_kind_known) made.is_small = other.is_small;
    made.is_pool_known |= other.is_pool_known;
    made.is_kind_known |= other.is_kind_known;
    if (other.stack != no_stack) made.stack = other.stack;
    return true;
  }

  void take_whole(std::uint64_t address, std::uint64_t size) {
    auto const found = held_.find(address);
    if (found == held_.end() || found->second.is_expandable) {
      ++contradictions_;
      return;
    }
    if (found->second.end - address != size) ++contradictions_;
    held_.erase(found);
  }

  void take_range(std::uint64_t address, std::uint64_t size) {
    std::uint64_t const end = saturating_add(address, size);
    std::uint64_t missing = size;
    auto at = held_.upper_bound(address);
    if (at != held_.begin() && std::prev(at)->second.end > address) --at;
    while (at != held_.end() && at->first < end && at->second.is_expandable) {
      std::uint64_t const base = at->first;
      held_segment cut = at->second;
      std::uint64_t const from = std::max(address, base);
      std::uint64_t const to = std::min(end, cut.end);
      missing -= to - from;
      at = held_.erase(at);
      if (to < cut.end) at = held_.emplace_hint(at, to, cut);
      cut.end = from;
      if (base < from) held_.emplace_hint(at, base, cut);
    }
    if (missing != 0) ++contradictions_;
  }

  event_columns const& events_;
  trace_range range_;
  event_index event_;
  held_segments held_;
  std::int64_t contradictions_ = 0;
};

/// Sizes of live blocks, as far as the file tells them.
class live_blocks {
 public:
  live_blocks(snapshot const& input, std::int32_t device, block_sizes const& sizes)
      : events_(input.events), range_(trace_of(input, device)), sizes_(sizes) {
    for (segment const* const row : segments_of(input, device)) {
      for (std::int64_t at = row->first_block; at < row->first_block + row->block_count; ++at) {
        block const& held = input.blocks[static_cast<std::size_t>(at)];
        if (held.state != block_state::inactive) at_end_.push_back(&held);
      }
    }
    std::stable_sort(at_end_.begin(), at_end_.end(), is_lower);
  }

  [[nodiscard]] block make(kernels::live_lifetimes const& live, std::size_t row) const {
    block made;
    made.address = live.address[row];
    made.stack = live.stack[row];
    made.state = live.allocated_end[row] <= live.event ? block_state::active_pending_free
                                                       : block_state::active_allocated;
    event_index const teller = telling_event(live, row);
    if (teller != before_trace) {
      made.requested_size = events_.size[static_cast<std::size_t>(range_.first + teller)];
      auto const at = static_cast<std::size_t>(teller);
      made.size = at < sizes_.size.size() ? sizes_.size[at] : made.requested_size;
    } else if (block const* const known = find_at_end(made.address)) {
      made.requested_size = known->requested_size;
      made.size = known->size;
    }
    return made;
  }

 private:
  static bool is_lower(block const* left, block const* right) {
    return left->address < right->address;
  }

  // The alloc, or the first free of what is older than the trace; `before_trace` when only
  // `segments` speaks of the block.
  [[nodiscard]] event_index telling_event(kernels::live_lifetimes const& live,
                                          std::size_t row) const {
    for (event_index const event :
         {live.birth[row], live.allocated_end[row], live.active_end[row]}) {
      if (event >= 0 && event < range_.count) return event;
    }
    return before_trace;
  }

  [[nodiscard]] block const* find_at_end(std::uint64_t address) const {
    block wanted;
    wanted.address = address;
    auto const found = std::lower_bound(at_end_.begin(), at_end_.end(), &wanted, is_lower);
    return found != at_end_.end() && (*found)->address == address ? *found : nullptr;
  }

  event_columns const& events_;
  trace_range range_;
  block_sizes const& sizes_;
  std::vector<block const*> at_end_;  ///< in use, by address
};

void add_to_sums(segment& row, block const& piece) {
  if (piece.state == block_state::inactive) return;
  row.active_size = saturating_add(row.active_size, piece.size);
  row.requested_size = saturating_add(row.requested_size, piece.requested_size);
  if (piece.state == block_state::active_allocated) {
    row.allocated_size = saturating_add(row.allocated_size, piece.size);
  }
}

/// Fills segments with blocks, both in the order of their addresses.
class map_filler {
 public:
  explicit map_filler(address_map& out) : out_(out) {}

  void open(segment const& row) {
    out_.segments.push_back(row);
    segment& made = out_.segments.back();
    made.allocated_size = made.active_size = made.requested_size = 0;
    made.first_block = static_cast<std::int64_t>(out_.blocks.size());
    made.block_count = 0;
    cursor_ = row.address;
    end_ = saturating_add(row.address, row.total_size);
    made.total_size = end_ - row.address;
  }

  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  /// `limit`: where the next block starts.
  void add(block piece, std::uint64_t limit) {
    std::uint64_t const wanted = piece.size;
    std::uint64_t const room_end = std::min(end_, limit);
    if (piece.address < cursor_ || piece.address >= room_end) {
      leave_out(wanted);
      return;
    }
    piece.size = std::min(wanted, room_end - piece.address);
    leave_out(wanted - piece.size);
    if (piece.size == 0) return;
    fill_to(piece.address);
    push(piece);
  }

  void close() { fill_to(end_); }

  void leave_out(std::uint64_t bytes) {
    out_.unplaced_bytes = add_bytes(out_.unplaced_bytes, bytes);
  }

 private:
  void fill_to(std::uint64_t address) {
    if (address > cursor_) push({cursor_, address - cursor_, 0, block_state::inactive, no_stack});
  }

  void push(block const& piece) {
    out_.blocks.push_back(piece);
    segment& row = out_.segments.back();
    ++row.block_count;
    add_to_sums(row, piece);
    cursor_ = piece.address + piece.size;
  }

  address_map& out_;
  std::uint64_t cursor_ = 0;
  std::uint64_t end_ = 0;
};

/// Requests up to 1 MiB live in segments of their own, so one block tells the kind of its segment.
void learn_kind(address_map const& map, segment& row) {
  for (std::int64_t at = row.first_block; at < row.first_block + row.block_count; ++at) {
    block const& piece = map.blocks[static_cast<std::size_t>(at)];
    if (piece.state == block_state::inactive) continue;
    row.is_small = !is_large(piece.size);
    return;
  }
}

address_map make_map(snapshot const& input, std::int32_t device, segment_history const& segments,
                     live_blocks const& blocks, kernels::live_lifetimes const& live,
                     block_sizes const& sizes) {
  address_map made;
  made.event = live.event;
  map_filler filler(made);
  std::size_t const count = live.address.size();
  std::size_t next = 0;
  bool has_unknown_pool = false;
  for (auto const& [address, held] : segments.held()) {
    for (; next < count && live.address[next] < address; ++next) {
      filler.leave_out(blocks.make(live, next).size);
    }
    segment row;
    row.device = device;
    row.address = address;
    row.total_size = held.end - address;
    row.stream = held.stream;
    row.pool = held.pool;
    row.is_small = held.is_small;
    row.is_expandable = held.is_expandable;
    row.stack = held.stack;
    filler.open(row);
    for (; next < count && live.address[next] < held.end; ++next) {
      bool const has_next = next + 1 < count && live.address[next + 1] > live.address[next];
      filler.add(blocks.make(live, next), has_next ? live.address[next + 1] : held.end);
    }
    filler.close();
    if (!held.is_kind_known) learn_kind(made, made.segments.back());
    has_unknown_pool |= !held.is_pool_known && input.pools.size() > 1;
  }
  for (; next < count; ++next) filler.leave_out(blocks.make(live, next).size);

  if (!knows_end_state(input, trace_of(input, device))) {
    made.reason = no_segments_reason;
  } else if (segments.contradictions() != 0) {
    made.reason = contradiction_reason;
  } else if (made.unplaced_bytes != 0) {
    made.reason = unplaced_reason;
  } else if (has_unknown_pool) {
    made.reason = unknown_pool_reason;
  } else if (!sizes.exact) {
    made.reason = sizes.reason;
  } else {
    return made;
  }
  made.exact = false;
  return made;
}

/// Whether the blocks of a segment lie in it end to end.
bool is_filled(segment const& row, std::span<block const> blocks) {
  std::uint64_t cursor = row.address;
  std::uint64_t const end = saturating_add(row.address, row.total_size);
  for (block const& piece : blocks) {
    if (piece.address != cursor || piece.size > end - cursor) return false;
    cursor += piece.size;
  }
  return cursor == end && end - row.address == row.total_size;
}

void add_filled(segment const& row, std::span<block const> blocks, address_map& out) {
  segment made = row;
  made.allocated_size = made.active_size = made.requested_size = 0;
  made.first_block = static_cast<std::int64_t>(out.blocks.size());
  for (block const& piece : blocks) {
    add_to_sums(made, piece);
    out.blocks.push_back(piece);
    if (piece.state == block_state::inactive) out.blocks.back().requested_size = 0;  // stale
  }
  out.segments.push_back(made);
}

void add_repaired(segment const& row, std::span<block const> blocks, address_map& out) {
  std::vector<block> in_use;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(in_use),
               [](block const& piece) { return piece.state != block_state::inactive; });
  std::stable_sort(in_use.begin(), in_use.end(), [](block const& left, block const& right) {
    return left.address < right.address;
  });
  map_filler filler(out);
  filler.open(row);
  for (std::size_t at = 0; at < in_use.size(); ++at) {
    bool const has_next = at + 1 < in_use.size() && in_use[at + 1].address > in_use[at].address;
    filler.add(in_use[at], has_next ? in_use[at + 1].address : filler.end());
  }
  filler.close();
}

}  // namespace

std::vector<address_map> make_address_maps(snapshot const& input, std::int32_t device,
                                           std::span<kernels::live_lifetimes const> moments,
                                           block_sizes const& sizes) {
  std::vector<std::size_t> latest_first(moments.size());
  for (std::size_t at = 0; at < moments.size(); ++at) latest_first[at] = at;
  std::stable_sort(latest_first.begin(), latest_first.end(),
                   [&](std::size_t left, std::size_t right) {
                     return moments[left].event > moments[right].event;
                   });
  std::vector<address_map> made(moments.size());
  segment_history segments(input, device);
  live_blocks const blocks(input, device, sizes);
  for (std::size_t const at : latest_first) {
    segments.go_back_to(std::max(moments[at].event, before_trace));
    made[at] = make_map(input, device, segments, blocks, moments[at], sizes);
  }
  return made;
}

address_map make_address_map(snapshot const& input, std::int32_t device,
                             kernels::live_lifetimes const& live, block_sizes const& sizes) {
  return std::move(make_address_maps(input, device, {&live, 1}, sizes).front());
}

address_map end_map(snapshot const& input, std::int32_t device) {
  address_map made;
  trace_range const range = trace_of(input, device);
  made.event = range.count - 1;
  for (segment const* const row : segments_of(input, device)) {
    std::span<block const> const blocks(input.blocks.data() + row->first_block,
                                        static_cast<std::size_t>(row->block_count));
    if (is_filled(*row, blocks)) {
      add_filled(*row, blocks, made);
      continue;
    }
    add_repaired(*row, blocks, made);
    made.exact = false;
    made.reason = gaps_reason;
  }
  if (!knows_end_state(input, range)) {
    made.exact = false;
    made.reason = no_segments_reason;
  }
  return made;
}

}  // namespace memreplay
