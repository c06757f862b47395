// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds the allocator's block sizes of a trace, which records requested bytes only.
//
// A small pool and an expandable segment cut a block to the rounded request: nothing is to be found
// there. In a large pool the size depends on the free range that the block was cut from, always at
// its low end:
//
//     segment   |AAAAAAA|bbbbbbbbbbbbbbbbbbbb|CCCCC|dddddddddd|      A, C used; b, d free
//
//     An alloc at the first byte of b has a range that ends where C starts; one at the first byte
//     of d has a range that ends with the segment. If more than 1 MiB of the range is left, that
//     stays free and the block is the rounded request; else the block is the whole range.
//
// Free neighbours are always merged, so a range ends where the next used block starts. Hence a size
// needs only the *starts* of the used blocks at that moment, and those are known for every moment
// of the trace even when its beginning was lost: a block is in `segments` at the end, or it is
// freed in the trace and that free names its address. Walking backwards from the end, each free
// adds a start and each alloc takes its own away; just then the next start above it is the end of
// its range. The same walk undoes the segments. So the sizes of all blocks born in the trace are
// exact; they are those which a forward replay from an empty allocator gives.
//
// A block that is older than the trace and freed in it was cut from a range that we never see. Its
// size is bounded by the split rule (request .. request + 1 MiB), by the next start above it and by
// the segment's end. It is found out when the trace cuts a block right above it, since a range
// begins where the block below it ends:
//
//     alloc at c      |xxxxx|ccc|       the block x ends at c, whatever it was cut from
//
// The same neighbourhood checks the walk: an alloc that is neither at a segment's base nor at the
// end of a used block contradicts it (lost events, rules that the settings do not tell). Such a
// segment is in doubt, and a second walk gives bounds instead of sizes there. Small pools and
// expandable segments are not followed, so a lost event is not noticed there.
#include "replay/block_sizes.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "replay/allocator_model.hpp"
#include "replay/free_pairing.hpp"

namespace memreplay {
namespace {

__extension__ using wide = __int128;  // sums of sizes that a hostile file may choose

constexpr std::uint64_t last_address = std::numeric_limits<std::uint64_t>::max();

std::int64_t to_bytes(wide value) {
  constexpr wide greatest = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp<wide>(value, -greatest, greatest));
}

// Until the curve pass, a free's row of `size` holds its tag; the rest of an unmatched free's tag
// is the size of the carried-in block.
constexpr std::uint64_t falls_bit = free_tag::falls_bit;
constexpr std::uint64_t unmatched_bit = free_tag::unmatched_bit;
constexpr std::uint64_t rest_mask = free_tag::rest_mask;

struct segment_event {
  std::uint64_t row = 0;
  bool is_born_in_trace = false;  // of a segment_free: the segment's alloc is in the trace
};

struct end_segment {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  bool is_born_in_trace = false;
};

std::string count_of(std::int64_t count, char const* one, char const* many) {
  return std::to_string(count) + (count == 1 ? one : many);
}

// From the first segment's base to the last one's, or to an expandable one's end.
std::pair<std::uint64_t, std::uint64_t> span_of(
    std::vector<std::uint64_t> const& bases,
    std::vector<std::pair<std::uint64_t, std::uint64_t>> const& expandable) {
  std::uint64_t first = last_address;
  std::uint64_t last = 0;
  for (std::uint64_t const base : bases) {
    first = std::min(first, base);
    last = std::max(last, base);
  }
  for (auto const& [begin, end] : expandable) {
    first = std::min(first, begin);
    last = std::max(last, end);
  }
  return {std::min(first, last), last};
}

enum class rounding { known, maybe_ascend, unknown };

class size_finder {
 public:
  size_finder(snapshot const& input, std::int32_t device) : input_(input), device_(device) {
    if (device >= 0 && static_cast<std::size_t>(device) < input.traces.size()) {
      trace_range const range = input.traces[static_cast<std::size_t>(device)];
      auto const first = static_cast<std::size_t>(range.first);
      rows_ = static_cast<std::uint64_t>(range.count);
      what_ = input.events.what.data() + first;
      address_ = input.events.address.data() + first;
      bytes_ = input.events.size.data() + first;
    }
  }

  block_sizes find() {
    rules_ = read_allocator_rules(input_.settings);
    choose_rounding();
    result_.size.assign(rows_, 0);
    scan_actions();
    pair();
    judge_file();
    walk_back();
    if (is_in_doubt_ && rounding_ == rounding::maybe_ascend) try_ascend();
    if (is_in_doubt_) {
      is_second_walk_ = true;
      keeps_any_rest_ = keeps_any_rest_after_;
      walk_back();
    }
    follow_curve();
    report();
    return std::move(result_);
  }

 private:
  // The active blocks at the end, of this device or of all.
  template <class FunctionT>
  void for_each_end_block(FunctionT&& function, bool of_all_devices = false) const {
    for (segment const& one : input_.segments) {
      if (one.device != device_ && !of_all_devices) continue;
      for (std::int64_t row = 0; row < one.block_count; ++row) {
        block const& held = input_.blocks[static_cast<std::size_t>(one.first_block + row)];
        if (held.state != block_state::inactive) function(one, held);
      }
    }
  }

  // Ascend adds 32 bytes before rounding and its files do not say so; the live blocks show it.
  void choose_rounding() {
    allocator_rules ascend = rules_;
    ascend.added_bytes = 32;
    std::int64_t misfits = 0;
    std::int64_t ascend_misfits = 0;
    auto const fits = [](allocator_rules const& rules, block const& held) {
      std::uint64_t const rounded = rules.round_size(held.requested_size);
      return is_large(rounded) ? held.size >= rounded : held.size == rounded;
    };
    for_each_end_block(
        [&](segment const&, block const& held) {
          if (held.requested_size == 0) return;
          misfits += fits(rules_, held) ? 0 : 1;
          ascend_misfits += fits(ascend, held) ? 0 : 1;
        },
        true);
    bool const has_new_keys = !input_.settings.empty() || !input_.events.time_us.empty();
    if (misfits != 0) {
      if (ascend_misfits == 0) {
        rules_ = ascend;
      } else {
        rounding_ = rounding::unknown;
      }
    } else if (ascend_misfits == 0 && !has_new_keys &&
               std::find(input_.streams.begin(), input_.streams.end(), 0u) ==
                   input_.streams.end()) {
      rounding_ = rounding::maybe_ascend;  // no block tells, and no stream is CUDA's default one
    }
  }

  // The greatest size that rounding alone can give.
  std::uint64_t round_high(std::uint64_t requested, std::uint64_t rounded) const {
    if (rounding_ == rounding::known) [[likely]] {
      return rounded;
    }
    if (rounding_ == rounding::unknown) return std::bit_ceil(rounded);
    allocator_rules ascend = rules_;
    ascend.added_bytes = 32;
    return ascend.round_size(requested);
  }

  // No live block told the rounding, but the addresses contradict the usual one: do they fit the
  // other?
  void try_ascend() {
    forget_doubts();
    rules_.added_bytes = 32;
    rounding_ = rounding::known;
    walk_back();
    if (!is_in_doubt_) return;
    forget_doubts();
    rules_.added_bytes = 0;
    rounding_ = rounding::maybe_ascend;
    walk_back();
  }

  void forget_doubts() {
    is_in_doubt_ = false;
    contradictions_ = 0;
    end_misfits_ = 0;
    outside_ = 0;
    keeps_any_rest_after_ = false;
    segments_.trust_all();
  }

  void scan_actions() {
    for (std::uint64_t row = 0; row < rows_; ++row) {
      action const what = what_[row];
      if (what <= action::alloc) continue;
      if (what == action::free_requested) {
        has_requests_ = true;
      } else if (what == action::free_completed) {
        has_completions_ = true;
      } else if (what == action::segment_alloc || what == action::segment_free) {
        segment_events_.push_back({row, false});
        net_reserved_ += what == action::segment_alloc ? wide{bytes_[row]} : -wide{bytes_[row]};
      } else if (what == action::segment_map || what == action::segment_unmap) {
        expandable_.emplace_back(address_[row], saturating_add(address_[row], bytes_[row]));
        net_reserved_ += what == action::segment_map ? wide{bytes_[row]} : -wide{bytes_[row]};
      }
    }
  }

  void pair() {
    pairing_.emplace(trace_rows{rows_, what_, address_, bytes_}, has_requests_, has_completions_);
    for_each_end_block(
        [&](segment const&, block const& held) { pairing_->add_end_block(held.address); });
    pairing_->run(result_.size);
  }

  // What can be relied upon: the end state, the reserved bytes at the start, that every free is
  // recorded.
  void judge_file() {
    bool has_end_segments = false;
    bool is_after_2_0 =
        !input_.settings.empty() || !input_.events.time_us.empty() || input_.pools.size() > 1;
    wide reserved = 0;
    for (segment const& one : input_.segments) {
      if (one.device != device_) continue;
      has_end_segments = true;
      reserved += wide{one.total_size};
      is_after_2_0 = is_after_2_0 || one.is_expandable || one.stack != no_stack;
      if (one.is_expandable) {
        expandable_.emplace_back(one.address, saturating_add(one.address, one.total_size));
      }
    }

    for (flat_map::entry const& entry : pairing_->addresses()) {
      if (address_state{entry.value}.is_open()) ++open_at_end_;
    }
    knows_end_ = input_.has_segments && (has_end_segments || open_at_end_ == 0);
    for_each_end_block([&](segment const&, block const& held) {
      if (pairing_->at(held.address).is_untouched()) ++never_freed_;
    });
    reserved_at_start_ = reserved - net_reserved_;
    is_complete_ =
        knows_end_ && pairing_->carried.empty() && never_freed_ == 0 && reserved_at_start_ == 0;
    // PyTorch 2.0 recorded the frees of those blocks only that were allocated while it recorded.
    may_hide_frees_ = !is_after_2_0 && !is_complete_ && rows_ != 0;

    std::vector<std::uint64_t> bases;
    bases.reserve(segment_events_.size());
    for (segment_event const& one : segment_events_) bases.push_back(address_[one.row]);
    for (segment const& one : input_.segments) {
      if (one.device == device_ && !one.is_expandable) bases.push_back(one.address);
    }
    address_span_ = span_of(bases, expandable_);
    segments_ = segment_set(std::move(bases));
    ranges_ = address_ranges(std::exchange(expandable_, {}));

    // Forward through the segments, to know which of them were born in the trace.
    for (segment_event& one : segment_events_) {
      std::uint64_t const base = address_[one.row];
      if (what_[one.row] == action::segment_alloc) {
        segments_.hold(base, bytes_[one.row], true);
      } else {
        std::size_t const row = segments_.find(base);
        one.is_born_in_trace = row != segment_set::none && segments_[row].base == base;
        segments_.release(base);
      }
    }
    if (knows_end_) {
      for (segment const& one : input_.segments) {
        if (one.device != device_ || one.is_expandable) continue;
        std::size_t const row = segments_.find(one.address);
        bool const is_born = row != segment_set::none && segments_[row].base == one.address;
        end_segments_.push_back({one.address, one.total_size, is_born});
      }
    } else {
      for (segment_event const& one : segment_events_) {
        std::size_t const row = segments_.find(address_[one.row]);
        if (row == segment_set::none || segments_[row].base != address_[one.row]) continue;
        end_segments_.push_back(
            {segments_[row].base, segments_[row].end - segments_[row].base, true});
      }
    }
  }

  // --- the walk backwards ---

  bool is_trusted(segment_set::slot const& held) const {
    return held.is_born_in_trace || (knows_end_ && !may_hide_frees_);
  }

  void contradict(std::size_t row) {
    if (is_second_walk_) return;
    ++contradictions_;
    is_in_doubt_ = true;
    if (row != segment_set::none) segments_.doubt(row);
  }

  void settle(std::uint64_t row, std::uint64_t size, std::uint64_t high) {
    result_.size[row] = size;
    greatest_size_ = std::max(greatest_size_, size);
    if (high > size) uncertain_.fill(uncertain_.find(row), row, high - size);
  }

  void start_from_end() {
    layout_ = large_layout(address_span_.first, address_span_.second, rows_ + input_.blocks.size());
    uncertain_ = flat_map();
    segments_.release_all();
    for (end_segment const& one : end_segments_) {
      segments_.hold(one.base, one.bytes, one.is_born_in_trace);
    }

    // Open in the trace's view: it is what the walk undoes.
    for (flat_map::entry const& entry : pairing_->addresses()) {
      address_state const last{entry.value};
      if (!last.is_open()) continue;
      if (knows_end_ && !last.has(address_state::at_end_flag)) {
        contradict(segments_.find(entry.key));
      }
      std::uint64_t const low = rules_.round_size(bytes_[last.row()]);
      if (is_large(low)) add_block(entry.key, low, -1);
    }
    // Then what `segments` knows of them, and the blocks that the trace never touched.
    for_each_end_block([&](segment const& in, block const& held) {
      address_state const last = pairing_->at(held.address);
      std::uint64_t const low = rules_.round_size(held.requested_size);
      if (last.is_open()) {
        if (bytes_[last.row()] != held.requested_size) {
          contradict(segments_.find(held.address));
          return;
        }
        bool const may_keep = is_large(low) && (!in.is_expandable || rules_.expandable == false);
        if (!may_keep && low != held.size && !is_second_walk_) ++end_misfits_;
        if (used_block* const known = layout_.find(held.address); known != nullptr) {
          known->known = held.size;
        }
        return;
      }
      bool const is_pending_older =
          last.now() == address_state::carried_pending && bytes_[last.row()] == held.requested_size;
      if (is_large(low) && (is_pending_older || last.is_untouched())) {
        used_block* const known = add_block(held.address, low, -1);
        if (known != nullptr) known->known = held.size;
      } else if (last.now() == address_state::closed && last.has(address_state::allocated_flag)) {
        contradict(segments_.find(held.address));  // freed in the trace, and here again
      }
    });
  }

  used_block* add_block(std::uint64_t address, std::uint64_t low, std::int64_t carried) {
    used_block* const added = layout_.add(address, low);
    if (added == nullptr) {
      contradict(segments_.find(address));
    } else {
      added->carried = carried;
    }
    return added;
  }

  void walk_back() {
    start_from_end();
    std::size_t carried = pairing_->carried.size();
    std::size_t closes = pairing_->closes.size();
    std::size_t segment_event = segment_events_.size();
    for (std::uint64_t row = rows_; row-- > 0;) {
      switch (what_[row]) {
        case action::alloc: {
          std::uint64_t const low = rules_.round_size(bytes_[row]);
          if (is_large(low)) {
            undo_large_alloc(row, low);
          } else {
            settle(row, low, round_high(bytes_[row], low));
          }
          if (closes != 0 && pairing_->closes[closes - 1].row == row) {
            std::uint64_t const older =
                rules_.round_size(bytes_[pairing_->closes[--closes].closed_row]);
            if (is_large(older)) add_block(address_[row], older, -1);
            contradict(segments_.find(address_[row]));
          }
          break;
        }
        case action::free_requested:
        case action::free_completed: {
          std::uint64_t const tag = result_.size[row];
          bool const is_unmatched = (tag & unmatched_bit) != 0;
          bool const ends = what_[row] == action::free_completed || !has_completions_;
          std::int64_t index = -1;
          if (is_unmatched) {
            index = static_cast<std::int64_t>(--carried);
            pairing_->carried[carried].size = rules_.round_size(bytes_[row]);
            pairing_->carried[carried].high =
                round_high(bytes_[row], pairing_->carried[carried].size);
          }
          std::uint64_t const low = rules_.round_size(bytes_[row]);
          if (!is_large(low)) break;
          if (ends) {
            add_block(address_[row], low, index);
          } else if (is_unmatched) {
            // The completion, later in the trace, has put the block there; a request without one
            // puts it there itself.
            used_block* const known = layout_.find(address_[row]);
            if (known == nullptr) {
              add_block(address_[row], low, index);
            } else {
              known->carried = index;
            }
          }
          break;
        }
        case action::segment_alloc:
          --segment_event;
          if (!segments_.release(address_[row])) contradict(segment_set::none);
          break;
        case action::segment_free:
          --segment_event;
          if (!segments_.hold(address_[row], bytes_[row],
                              segment_events_[segment_event].is_born_in_trace)) {
            contradict(segments_.find(address_[row]));
          }
          break;
        default: break;
      }
    }
    settle_carried_in();
  }

  void undo_large_alloc(std::uint64_t row, std::uint64_t low) {
    std::uint64_t const start = address_[row];
    std::uint64_t known = 0;
    std::uint64_t pinned = 0;
    used_block* const own = layout_.find(start);
    bool const is_there = own != nullptr;
    if (is_there) {
      known = own->known;
      pinned = own->pinned;
      layout_.remove(*own);
    }
    std::uint64_t const rounded_high = round_high(bytes_[row], low);
    std::size_t const in = segments_.find(start);
    if (in == segment_set::none) {
      if (known != 0) {
        settle(row, known, known);
      } else if (ranges_.contains(start)) {
        // The setting may have been switched while the process ran: then the split rule of that
        // moment is unknown.
        bool const may_keep = rules_.expandable == false;
        settle(row, low, may_keep ? low + small_limit_bytes : rounded_high);
      } else {
        if (!is_second_walk_) ++outside_;
        std::uint64_t const next = layout_.next_start(saturating_add(start, low));
        settle(row, low, std::max(rounded_high, std::min(low + small_limit_bytes, next - start)));
      }
      return;
    }
    segment_set::slot const& held = segments_[in];
    if (!is_there) contradict(in);
    std::uint64_t const need_end = saturating_add(start, low);
    bool const is_trusted_here = is_trusted(held);
    if (start != held.base) pin_block_below(start, in, is_trusted_here);
    if (need_end > held.end) {
      contradict(in);
      settle(row, std::max(low, known), std::max(low, known));
      return;
    }
    std::uint64_t const rest = held.end - need_end;
    bool const may_split = low < rules_.max_split_size && !keeps_any_rest_;
    std::uint64_t const reach = std::min(rest, may_split ? small_limit_bytes : far_reach_bytes);
    std::uint64_t const range_end = std::min(held.end, layout_.next_start(need_end, reach));
    std::uint64_t const range = range_end - start;
    std::uint64_t const size = rules_.large_block_size(low, range);
    bool const is_bounded = range_end != held.end || rest <= reach || may_split;
    if (known != 0) {
      if (known != size && is_trusted_here && is_bounded && !is_second_walk_) {
        // Not a lost event but another rule, and it may hold everywhere.
        ++end_misfits_;
        ++contradictions_;
        is_in_doubt_ = true;
        segments_.doubt_all();
        keeps_any_rest_after_ = keeps_any_rest_after_ || known > low + small_limit_bytes;
      }
      settle(row, known, known);
      return;
    }
    bool const is_expandable_mode = rules_.expandable == true;
    if (held.is_doubtful || !is_trusted_here || !is_bounded || is_expandable_mode) {
      if (pinned >= low) {
        settle(row, pinned, pinned);
      } else if (is_expandable_mode && range - low > small_limit_bytes && !held.is_doubtful &&
                 is_trusted_here) {
        settle(row, low, rounded_high);
      } else {
        std::uint64_t const high = may_split ? std::min(range, low + small_limit_bytes) : range;
        settle(row, low, std::max(rounded_high, high));
      }
      return;
    }
    if (pinned != 0 && pinned != size) contradict(in);
    settle(row, size, std::max(size, rounded_high));
  }

  // A block was cut at `start`, so the used block below it ends there.
  void pin_block_below(std::uint64_t start, std::size_t in, bool is_trusted_here) {
    used_block* const below = layout_.ending_at(start);
    if (below == nullptr || below->start < segments_[in].base) {
      if (is_trusted_here) contradict(in);
      return;
    }
    std::uint64_t const size = start - below->start;
    bool const is_known_otherwise = below->known != 0 && below->known != size;
    bool const is_pinned_otherwise = below->pinned != 0 && below->pinned != size;
    if (is_known_otherwise || is_pinned_otherwise) contradict(in);
    below->pinned = size;
  }

  // What is left at the first event is older than the trace.
  void settle_carried_in() {
    for (used_block const& one : layout_.blocks()) {
      if (one.low == 0 || one.carried < 0) continue;
      carried_block& settled = pairing_->carried[static_cast<std::size_t>(one.carried)];
      settled.size = one.low;
      if (one.known != 0) {
        settled.size = one.known;
        settled.high = one.known;
        continue;
      }
      std::size_t const in = segments_.find(one.start);
      if (in == segment_set::none) {
        bool const may_keep = !ranges_.contains(one.start) || rules_.expandable == false;
        if (may_keep) settled.high = std::max(settled.high, one.low + small_limit_bytes);
        continue;
      }
      if (segments_[in].is_born_in_trace) contradict(in);
      if (one.pinned >= one.low) {
        settled.size = one.pinned;
        settled.high = one.pinned;
        continue;
      }
      segment_set::slot const& held = segments_[in];
      std::uint64_t const need_end = saturating_add(one.start, one.low);
      if (need_end > held.end) {
        contradict(in);
        continue;
      }
      bool const may_split = one.low < rules_.max_split_size && !keeps_any_rest_;
      std::uint64_t const reach =
          std::min(held.end - need_end, may_split ? small_limit_bytes : far_reach_bytes);
      std::uint64_t const range_end = std::min(held.end, layout_.next_start(need_end, reach));
      std::uint64_t const range = range_end - one.start;
      settled.high =
          std::max(settled.high, may_split ? std::min(range, one.low + small_limit_bytes) : range);
    }
    for (carried_block& one : pairing_->carried) {
      one.high = std::max(one.high, one.size);
      greatest_size_ = std::max(greatest_size_, one.size);
      result_.size[one.row] =
          unmatched_bit | (one.falls ? falls_bit : 0) | std::min(one.size, rest_mask);
      if (one.high > one.size) {
        uncertain_.fill(uncertain_.find(one.row), one.row, one.high - one.size);
      }
    }
  }

  // --- forwards: the curve ---

  // Bytes at one moment, in the least case, and what the greatest case has more.
  template <class BytesT>
  struct curve_point {
    BytesT allocated = 0;
    BytesT allocated_extra = 0;
    BytesT active = 0;
    BytesT active_extra = 0;
  };

  curve_point<wide> bytes_at_start() const {
    curve_point<wide> start;
    for_each_end_block([&](segment const&, block const& held) {
      if (!pairing_->at(held.address).is_untouched()) return;
      if (held.state == block_state::active_allocated) start.allocated += wide{held.size};
      start.active += wide{held.size};
    });
    for (carried_block const& one : pairing_->carried) {
      start.active += wide{one.size};
      start.active_extra += wide{one.high} - wide{one.size};
      if (!one.falls) continue;
      start.allocated += wide{one.size};
      start.allocated_extra += wide{one.high} - wide{one.size};
    }
    return start;
  }

  struct curve_peaks {
    wide low = 0;
    wide high = 0;
    wide reserved = 0;
    wide end = 0;
    wide end_extra = 0;
  };

  // `BytesT` holds every sum; without `has_extra` all sizes are known.
  template <class BytesT, bool has_extra>
  curve_peaks follow_rows(curve_point<wide> const& start) {
    curve_point<BytesT> now{
        static_cast<BytesT>(start.allocated), static_cast<BytesT>(start.allocated_extra),
        static_cast<BytesT>(start.active), static_cast<BytesT>(start.active_extra)};
    BytesT low = now.allocated;
    BytesT high = now.allocated + now.allocated_extra;
    wide reserved = reserved_at_start_;
    wide reserved_peak = reserved;
    std::size_t closes = 0;
    // A lifetime begins or ends for one measure or both.
    auto const change = [&](std::uint64_t of, std::uint64_t size, bool is_birth, bool is_allocated,
                            bool is_active) {
      auto const bytes = static_cast<BytesT>(size);
      BytesT const more = is_birth ? bytes : -bytes;
      now.allocated += is_allocated ? more : 0;
      now.active += is_active ? more : 0;
      if constexpr (has_extra) {
        auto const extra = static_cast<BytesT>(uncertain_.value_of(of));
        BytesT const more_extra = is_birth ? extra : -extra;
        now.allocated_extra += is_allocated ? more_extra : 0;
        now.active_extra += is_active ? more_extra : 0;
      }
    };
    for (std::uint64_t row = 0; row < rows_; ++row) {
      action const what = what_[row];
      if (what > action::free_completed) [[unlikely]] {
        // Segments are whole blocks of their own: `reserved` needs their recorded bytes here too.
        if (what >= action::segment_alloc && what <= action::segment_unmap) {
          result_.size[row] = bytes_[row];
        }
        if (what == action::segment_alloc || what == action::segment_map) {
          reserved += wide{bytes_[row]};
          reserved_peak = std::max(reserved_peak, reserved);
        } else if (what == action::segment_free || what == action::segment_unmap) {
          reserved -= wide{bytes_[row]};
        } else if (what == action::snapshot) {
          // The allocator's own total of active blocks at that moment.
          wide const marker = wide{bytes_[row]};
          bool const is_inside =
              wide{now.active} <= marker && marker <= wide{now.active} + wide{now.active_extra};
          if (knows_end_ && !may_hide_frees_ && !is_inside) ++marker_misfits_;
        }
        continue;
      }
      if (closes < pairing_->closes.size() && pairing_->closes[closes].row == row) [[unlikely]] {
        closed_by_alloc const& one = pairing_->closes[closes++];
        change(one.closed_row, result_.size[one.closed_row], false, one.falls, true);
      }
      bool const is_alloc = what == action::alloc;
      std::uint64_t const tag = result_.size[row];
      bool const is_unmatched = !is_alloc && (tag & unmatched_bit) != 0;
      std::uint64_t const of = is_alloc || is_unmatched ? row : tag & rest_mask;
      std::uint64_t const size = is_unmatched ? tag & rest_mask : result_.size[of];
      result_.size[row] = size;
      change(of, size, is_alloc, is_alloc || (tag & falls_bit) != 0,
             what != action::free_requested || !has_completions_);
      low = std::max(low, now.allocated);
      if constexpr (has_extra) high = std::max(high, now.allocated + now.allocated_extra);
    }
    if constexpr (!has_extra) high = low + now.allocated_extra;
    return {wide{low}, wide{high}, reserved_peak, wide{now.allocated}, wide{now.allocated_extra}};
  }

  curve_peaks follow_rows() {
    curve_point<wide> const start = bytes_at_start();
    // 64 bits hold the sum of as many sizes as there are rows, unless a file lies.
    wide const greatest = std::max({start.allocated, start.active, wide{0}}) +
                          std::max({start.allocated_extra, start.active_extra, wide{0}}) +
                          wide{greatest_size_} * wide{rows_};
    bool const is_short = greatest < wide{std::numeric_limits<std::int64_t>::max()};
    if (uncertain_.size() != 0) return follow_rows<wide, true>(start);
    return is_short ? follow_rows<std::int64_t, false>(start) : follow_rows<wide, false>(start);
  }

  void follow_curve() {
    wide end_allocated = 0;
    for_each_end_block([&](segment const&, block const& held) {
      if (held.state == block_state::active_allocated) end_allocated += wide{held.size};
    });
    curve_peaks peaks = follow_rows();
    wide const low_slip = knows_end_ ? end_allocated - peaks.end : 0;
    wide const high_slip = knows_end_ ? low_slip - peaks.end_extra : 0;
    // The same curve hung up at its end. In a file without contradictions the two are one.
    end_slip_ = to_bytes(low_slip);
    if (low_slip != 0 || high_slip != 0) {
      wide const from_end_low = std::min(peaks.low + low_slip, peaks.low + high_slip);
      wide const from_end_high = std::max(peaks.high + low_slip, peaks.high + high_slip);
      peaks.low = std::min(peaks.low, from_end_low);
      peaks.high = std::max(peaks.high, from_end_high);
    }
    if (may_hide_frees_) peaks.high = std::max(peaks.high, peaks.reserved);
    result_.peak_allocated.low = to_bytes(std::max<wide>(peaks.low, 0));
    result_.peak_allocated.high = to_bytes(std::max<wide>(peaks.high, 0));
  }

  // --- words ---

  void report() {
    bool const has_doubts = contradictions_ != 0 || end_misfits_ != 0;
    bool const sizes_exact =
        uncertain_.size() == 0 && !has_doubts && rounding_ != rounding::unknown;
    result_.exact = sizes_exact;
    if (sizes_exact) {
      result_.reason = is_complete_ ? "allocator replayed from an empty start"
                       : knows_end_ ? "allocator replayed backwards from the end state"
                                    : "sizes follow from the rounding rule";
    } else if (rounding_ == rounding::unknown) {
      result_.reason = "block sizes estimated: the rounding rule of this allocator is unknown";
    } else if (contradictions_ != 0) {
      result_.reason = "block sizes estimated: the trace contradicts the allocator's rules";
    } else if (!knows_end_) {
      result_.reason = "block sizes estimated: no end state in the file";
    } else if (outside_ != 0) {
      result_.reason = "block sizes estimated: " +
                       count_of(outside_, " large block lies in", " large blocks lie in") +
                       " no segment of the file";
    } else if (may_hide_frees_) {
      result_.reason =
          "block sizes estimated: frees of memory older than the trace are not recorded";
    } else {
      auto const count = static_cast<std::int64_t>(uncertain_.size());
      result_.reason = "block sizes estimated: " + count_of(count, " block is", " blocks are") +
                       " older than the trace";
    }

    exactness& peak = result_.peak_allocated;
    bool const start_unknown = !knows_end_ && rows_ != 0;
    peak.exact = peak.low == peak.high && !start_unknown && !may_hide_frees_ && end_slip_ == 0 &&
                 !has_doubts && rounding_ != rounding::unknown;
    if (!peak.exact) {
      if (start_unknown) {
        peak.reason = "no end state in the file: memory older than the trace is unknown";
      } else if (end_slip_ != 0) {
        peak.reason = "trace and end state disagree";
      } else {
        peak.reason =
            sizes_exact ? "frees of memory older than the trace are not recorded" : result_.reason;
      }
    }

    auto const add = [this](char const* kind, severity level, std::int64_t times,
                            std::int64_t bytes, std::string message) {
      if (times == 0) return;
      result_.defects.push_back({kind, level, times, bytes, std::move(message), {}});
    };
    add("allocator_contradiction", severity::notice, contradictions_, 0,
        "Events that the allocator's rules do not allow (lost events, an unknown setting, or "
        "segments newer than the trace): block sizes near them are bounds.");
    add("block_size_mismatch", severity::notice, end_misfits_, 0,
        "Blocks whose size in segments is not the one that the trace leads to: other sizes may be "
        "off as well.");
    add("allocated_end_mismatch", severity::notice, end_slip_ != 0 ? 1 : 0, end_slip_,
        "The allocated bytes after the last event are not those of the segments: the peak is given "
        "for both.");
    add("snapshot_marker_mismatch", severity::notice, marker_misfits_, 0,
        "Snapshot events whose active total lies outside the bounds of the replayed curve.");
  }

  static constexpr std::uint64_t far_reach_bytes = 64 * small_limit_bytes;

  snapshot const& input_;
  std::int32_t device_;
  std::uint64_t rows_ = 0;
  action const* what_ = nullptr;
  std::uint64_t const* address_ = nullptr;
  std::uint64_t const* bytes_ = nullptr;

  allocator_rules rules_;
  rounding rounding_ = rounding::known;
  bool has_requests_ = false;
  bool has_completions_ = false;
  wide net_reserved_ = 0;
  wide reserved_at_start_ = 0;
  std::vector<segment_event> segment_events_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expandable_;

  std::optional<free_pairing> pairing_;
  std::int64_t open_at_end_ = 0;
  std::int64_t never_freed_ = 0;

  bool knows_end_ = false;
  bool is_complete_ = false;
  bool may_hide_frees_ = false;
  std::pair<std::uint64_t, std::uint64_t> address_span_;
  segment_set segments_{{}};
  address_ranges ranges_{{}};
  std::vector<end_segment> end_segments_;

  large_layout layout_{0, 0, 0};
  flat_map uncertain_;  // row -> high - size
  std::uint64_t greatest_size_ = 0;
  bool is_in_doubt_ = false;
  bool is_second_walk_ = false;
  bool keeps_any_rest_ = false;        // some pool does not split at all
  bool keeps_any_rest_after_ = false;  // found out in the first walk, for the second
  std::int64_t contradictions_ = 0;
  std::int64_t end_misfits_ = 0;
  std::int64_t outside_ = 0;  // large allocs in no segment of the file
  std::int64_t marker_misfits_ = 0;
  std::int64_t end_slip_ = 0;

  block_sizes result_;
};

}  // namespace

block_sizes find_block_sizes(snapshot const& input, std::int32_t device) {
  return size_finder(input, device).find();
}

}  // namespace memreplay
