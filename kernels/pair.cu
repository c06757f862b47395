// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `pair`: which events, and which block of the end state, belong to one lifetime.
//
//   event    0          1          2        3            4            end state
//   says   alloc B   request A  alloc C  complete A   complete B      block C
//
//   sorted by address, in list order within one address (a stable sort):
//
//   address  A  A  |  B  B  |  C  C
//   event    1  3  |  0  4  |  2  -
//   says     R  C  |  a  C  |  a  block
//   head     ^        ^        ^
//
//   lifetime A: carried in (its first row is a free), allocated until 1, active until 3
//   lifetime B: born at 0, allocated and active until 4
//   lifetime C: born at 2, never freed, confirmed by the end state
//
// A row heads a lifetime when it is an alloc, or when nothing lives at its address: it is the first
// of its address, or a free after a completion. That looks at one neighbour, so all rows decide at
// once; the rows of a lifetime then lie between two heads.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <algorithm>
#include <bit>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

enum class row_kind : std::uint64_t { alloc, request, completion, block };

/// Rows in the order of (address, list order). `tag` is an event's (or block's) number and its kind
/// in one word, so that the kind needs no second look at memory. Where both fit, address and tag
/// share a word.
struct sorted_rows {
  std::int64_t count;
  std::uint64_t const* address;
  std::uint64_t const* tag;
  int address_shift;
  std::uint64_t tag_mask;

  [[nodiscard]] MEMREPLAY_HD row_kind kind(std::int64_t row) const {
    return static_cast<row_kind>(tag[row] & 3);
  }
  [[nodiscard]] MEMREPLAY_HD std::int64_t number(std::int64_t row) const {
    return static_cast<std::int64_t>((tag[row] & tag_mask) >> 2);
  }
  [[nodiscard]] MEMREPLAY_HD bool opens_address(std::int64_t row) const {
    return row == 0 || (address[row] ^ address[row - 1]) >> address_shift != 0;
  }
};

struct survey_event {
  event_rows events;
  MEMREPLAY_HD void operator()(std::int64_t event, event_survey& sum) const {
    action const what = events.what[event];
    ++sum.counts[static_cast<int>(what)];
    if (!is_chained(what)) return;
    std::uint64_t const address = events.address[event];
    sum.addresses = join_bits{}(sum.addresses, {address, address});
  }
};

struct join_surveys {
  MEMREPLAY_HD event_survey operator()(event_survey left, event_survey const& right) const {
    for (int what = 0; what < action_count; ++what) left.counts[what] += right.counts[what];
    left.addresses = join_bits{}(left.addresses, right.addresses);
    return left;
  }
};

struct is_chained_event {
  action const* what;
  MEMREPLAY_HD bool operator()(std::int64_t event) const { return is_chained(what[event]); }
};

/// The two words of an event.
struct address_of_event {
  event_rows events;
  MEMREPLAY_HD std::uint64_t operator()(std::int64_t event) const { return events.address[event]; }
};

struct tag_of_event {
  event_rows events;
  MEMREPLAY_HD std::uint64_t operator()(std::int64_t event) const {
    return static_cast<std::uint64_t>(event) << 2 | static_cast<std::uint64_t>(events.what[event]);
  }
};

/// The two words of a block, which stands behind all events of its address.
struct address_of_block {
  block_rows blocks;
  MEMREPLAY_HD std::uint64_t operator()(std::int64_t block) const { return blocks.address[block]; }
};

struct tag_of_block {
  MEMREPLAY_HD std::uint64_t operator()(std::int64_t block) const {
    return static_cast<std::uint64_t>(block) << 2 | static_cast<std::uint64_t>(row_kind::block);
  }
};

/// Both in one word: the address bits that differ, above the tag.
template <class AddressT, class TagT>
struct joined_words {
  AddressT address;
  TagT tag;
  int drop_low;  ///< address bits on which all rows agree
  int address_shift;
  MEMREPLAY_HD std::uint64_t operator()(std::int64_t row) const {
    return address(row) >> drop_low << address_shift | tag(row);
  }
};

template <class WordT>
struct write_word {
  WordT word;
  std::uint64_t* out;
  MEMREPLAY_HD void operator()(std::int64_t row) const { out[row] = word(row); }
};

struct bits_of_block {
  block_rows blocks;
  MEMREPLAY_HD differing_bits operator()(std::int64_t block) const {
    return {blocks.address[block], blocks.address[block]};
  }
};

struct is_head {
  sorted_rows rows;
  MEMREPLAY_HD bool operator()(std::int64_t row) const {
    row_kind const kind = rows.kind(row);
    if (kind == row_kind::alloc || rows.opens_address(row)) return true;
    return kind != row_kind::block && rows.kind(row - 1) == row_kind::completion;
  }
};

/// A completion that releases a block of the trace without a request.
struct is_completion_of_alloc {
  sorted_rows rows;
  MEMREPLAY_HD bool operator()(std::int64_t row) const {
    return rows.kind(row) == row_kind::completion && !rows.opens_address(row) &&
           rows.kind(row - 1) == row_kind::alloc;
  }
};

/// What the trace as a whole left out.
struct trace_habits {
  bool no_completions;  ///< no free_completed at all: a request ends `active` too
  bool no_requests;     ///< recorded without free_requested: a lone completion lost nothing
};

/// What the rows of one lifetime say.
struct story {
  row_kind head;
  std::int64_t head_number;
  event_index birth = before_trace;
  event_index allocated_end = never;
  event_index active_end = never;
  bool is_completed = false;    ///< ended by a free
  bool is_pending = false;      ///< requested, and then nothing more
  bool is_reallocated = false;  ///< ended by an alloc at its address
  bool is_last = false;         ///< of its address
  std::int64_t block = -1;      ///< of the end state, at its address, if it is the last there
  std::int64_t double_requests = 0;
  std::int64_t first_row = 0;
  std::int64_t end_row = 0;
};

struct story_reader {
  sorted_rows rows;
  std::int64_t count;         ///< of heads
  std::int64_t const* heads;  ///< rows
  trace_habits habits;

  /// A row of a lifetime that is read soon. Rows in address order reach into the trace at random:
  /// most of this step's time on a host would be waiting for memory.
  [[nodiscard]] MEMREPLAY_HD std::int64_t number_soon(std::int64_t lifetime, int offset) const {
    constexpr std::int64_t ahead = 24;
    std::int64_t const row =
        heads[lifetime + ahead < count ? lifetime + ahead : count - 1] + offset;
    return rows.number(row < rows.count ? row : rows.count - 1);
  }

  [[nodiscard]] MEMREPLAY_HD story operator()(std::int64_t lifetime) const {
    story told;
    told.first_row = heads[lifetime];
    told.end_row = lifetime + 1 < count ? heads[lifetime + 1] : rows.count;
    told.head = rows.kind(told.first_row);
    told.head_number = rows.number(told.first_row);
    told.is_last = told.end_row == rows.count || rows.opens_address(told.end_row);
    if (told.head == row_kind::block) return told;
    if (told.head == row_kind::alloc) {
      told.birth = told.head_number;
    } else if (told.head == row_kind::request) {
      told.allocated_end = told.head_number;
      told.is_pending = true;
    } else {
      told.allocated_end = habits.no_requests ? told.head_number : before_trace;
      told.active_end = told.head_number;
      told.is_completed = true;
    }
    for (std::int64_t row = told.first_row + 1; row < told.end_row; ++row) {
      row_kind const kind = rows.kind(row);
      event_index const number = rows.number(row);
      if (kind == row_kind::block) {
        if (told.block < 0) told.block = number;
      } else if (kind == row_kind::completion) {
        if (!told.is_pending) told.allocated_end = number;
        told.active_end = number;
        told.is_completed = true;
        told.is_pending = false;
      } else if (told.is_pending) {
        ++told.double_requests;
      } else {
        told.allocated_end = number;
        told.is_pending = true;
      }
    }
    if (told.is_pending && habits.no_completions) {
      told.active_end = told.allocated_end;
      told.is_completed = true;
      told.is_pending = false;
    }
    if (!told.is_completed && !told.is_last) {
      // The next head can only be an alloc: its address was still in use.
      event_index const next_birth = rows.number(told.end_row);
      if (!told.is_pending) told.allocated_end = next_birth;
      told.active_end = next_birth;
      told.is_pending = false;
      told.is_reallocated = true;
    }
    return told;
  }
};

/// Writes a lifetime, and adds what it says about the trace and the end state to a sum.
struct write_lifetime {
  story_reader read;
  event_rows events;
  block_rows blocks;
  pair_options options;
  event_index* birth;
  event_index* allocated_end;
  event_index* active_end;
  std::uint64_t* size;
  stack_id* stack;
  std::uint64_t* address;  ///< may be null

  MEMREPLAY_HD void operator()(std::int64_t lifetime, replay_counts& sum) const {
    prefetch(events.size, read.number_soon(lifetime, 0));
    prefetch(events.stack, read.number_soon(lifetime, 0));
    if (options.compare_sizes) prefetch(events.size, read.number_soon(lifetime, 1));
    story const told = read(lifetime);
    bool const is_block = told.head == row_kind::block;
    stack_id held_by = is_block ? blocks.stack[told.head_number] : events.stack[told.head_number];
    if (told.birth == before_trace && held_by == no_stack) held_by = before_trace_stack;
    std::uint64_t const held =
        is_block ? blocks.size[told.head_number] : events.size[told.head_number];
    birth[lifetime] = told.birth;
    allocated_end[lifetime] =
        is_block && blocks.is_pending[told.head_number] != 0 ? before_trace : told.allocated_end;
    active_end[lifetime] = told.active_end;
    size[lifetime] = held;
    stack[lifetime] = held_by;
    if (address != nullptr) {
      address[lifetime] =
          is_block ? blocks.address[told.head_number] : events.address[told.head_number];
    }
    tally(told, held, sum);
  }

 private:
  MEMREPLAY_HD void tally(story const& told, std::uint64_t held, replay_counts& sum) const {
    add_bytes const add;
    auto const bytes = static_cast<std::int64_t>(held);
    if (told.head == row_kind::block) {
      if (blocks.is_pending[told.head_number] != 0) {
        ++sum.pending_carried_in;
        sum.pending_carried_in_bytes = add(sum.pending_carried_in_bytes, bytes);
      } else {
        ++sum.never_freed;
        sum.never_freed_bytes = add(sum.never_freed_bytes, bytes);
      }
      return;
    }
    if (told.head == row_kind::alloc) {
      ++sum.lifetimes;
    } else {
      ++sum.unmatched_frees;
      sum.unmatched_free_bytes = add(sum.unmatched_free_bytes, bytes);
    }
    if (told.head == row_kind::completion) {
      ++sum.unmatched_completed_only;
      sum.unmatched_completed_only_bytes = add(sum.unmatched_completed_only_bytes, bytes);
    }
    sum.double_allocs += told.is_reallocated ? 1 : 0;
    sum.double_free_requests += told.double_requests;
    if (options.compare_sizes) {
      for (std::int64_t row = told.first_row + 1; row < told.end_row; ++row) {
        if (read.rows.kind(row) == row_kind::block) break;
        sum.size_mismatches += events.size[read.rows.number(row)] != held ? 1 : 0;
      }
    }
    if (told.is_last) tally_end(told, held, sum);
  }

  /// The last lifetime of an address against the end state.
  MEMREPLAY_HD void tally_end(story const& told, std::uint64_t held, replay_counts& sum) const {
    add_bytes const add;
    sum.pending_at_end += told.is_pending ? 1 : 0;
    if (told.block < 0) {
      if (!told.is_completed && options.has_segments) {
        ++sum.live_not_in_segments;
        sum.live_not_in_segments_bytes =
            add(sum.live_not_in_segments_bytes, static_cast<std::int64_t>(held));
      }
      return;
    }
    std::uint64_t const block_size = blocks.size[told.block];
    if (told.is_completed) {
      // Where no completion was recorded, a requested block may well be pending still.
      if (read.habits.no_completions && blocks.is_pending[told.block] != 0) return;
      ++sum.freed_but_in_segments;
      sum.freed_but_in_segments_bytes =
          add(sum.freed_but_in_segments_bytes, static_cast<std::int64_t>(block_size));
    } else if (options.compare_sizes && block_size != held) {
      ++sum.end_size_mismatches;
    }
  }
};

struct add_counts {
  [[nodiscard]] MEMREPLAY_HD replay_counts operator()(replay_counts left,
                                                      replay_counts const& right) const {
    add_bytes const sum;
    left.lifetimes += right.lifetimes;
    left.unmatched_frees += right.unmatched_frees;
    left.unmatched_free_bytes = sum(left.unmatched_free_bytes, right.unmatched_free_bytes);
    left.unmatched_completed_only += right.unmatched_completed_only;
    left.unmatched_completed_only_bytes =
        sum(left.unmatched_completed_only_bytes, right.unmatched_completed_only_bytes);
    left.never_freed += right.never_freed;
    left.never_freed_bytes = sum(left.never_freed_bytes, right.never_freed_bytes);
    left.pending_carried_in += right.pending_carried_in;
    left.pending_carried_in_bytes =
        sum(left.pending_carried_in_bytes, right.pending_carried_in_bytes);
    left.double_allocs += right.double_allocs;
    left.double_free_requests += right.double_free_requests;
    left.size_mismatches += right.size_mismatches;
    left.pending_at_end += right.pending_at_end;
    left.live_not_in_segments += right.live_not_in_segments;
    left.live_not_in_segments_bytes =
        sum(left.live_not_in_segments_bytes, right.live_not_in_segments_bytes);
    left.freed_but_in_segments += right.freed_but_in_segments;
    left.freed_but_in_segments_bytes =
        sum(left.freed_but_in_segments_bytes, right.freed_but_in_segments_bytes);
    left.end_size_mismatches += right.end_size_mismatches;
    return left;
  }
};

}  // namespace

event_survey survey(execution const& exec, event_rows const& events) {
  return sum_rows(exec, events.count, survey_event{events}, event_survey{}, join_surveys{});
}

lifetimes pair(execution const& exec, event_rows const& events, event_survey const& seen,
               block_rows const& blocks, pair_options options, replay_counts& counts) {
  std::int64_t const event_count = seen.count(action::alloc) + seen.count(action::free_requested) +
                                   seen.count(action::free_completed);
  std::int64_t const row_count = event_count + blocks.count;
  std::uint64_t const bits = bits_that_differ(join_bits{}(
      seen.addresses,
      reduce_rows(exec, blocks.count, bits_of_block{blocks}, differing_bits{}, join_bits{})));
  int const drop_low = bits == 0 ? 0 : std::countr_zero(bits);
  int const address_bits = static_cast<int>(std::bit_width(bits >> drop_low));
  auto const greatest_number = static_cast<std::uint64_t>(std::max(events.count, blocks.count));
  int const tag_bits = static_cast<int>(std::bit_width(greatest_number)) + 2;

  auto const write_words = [&](auto of_event, auto of_block, std::uint64_t* out) {
    write_selected(exec, events.count, is_chained_event{events.what}, of_event, out);
    for_each_row(exec, blocks.count, write_word<decltype(of_block)>{of_block, out + event_count});
  };
  address_of_event const event_address{events};
  address_of_block const block_address{blocks};
  tag_of_event const event_tag{events};
  tag_of_block const block_tag{};
  buffer<std::uint64_t> word(exec, row_count);
  buffer<std::uint64_t> address(exec, 0);
  sorted_rows rows{row_count, nullptr, nullptr, 0, ~std::uint64_t{0}};
  if (address_bits + tag_bits <= 64) {
    write_words(
        joined_words<address_of_event, tag_of_event>{event_address, event_tag, drop_low, tag_bits},
        joined_words<address_of_block, tag_of_block>{block_address, block_tag, drop_low, tag_bits},
        word.data());
    sort_keys(exec, bits >> drop_low << tag_bits, word);
    rows.address = rows.tag = word.data();
    rows.address_shift = tag_bits;
    rows.tag_mask = (std::uint64_t{1} << tag_bits) - 1;
  } else {
    address = buffer<std::uint64_t>(exec, row_count);
    write_words(event_address, block_address, address.data());
    write_words(event_tag, block_tag, word.data());
    sort_pairs(exec, address, word);
    rows.address = address.data();
    rows.tag = word.data();
  }

  trace_habits const habits{seen.count(action::free_completed) == 0,
                            seen.count(action::free_requested) == 0 &&
                                count_rows(exec, row_count, is_completion_of_alloc{rows}) > 0};

  auto const heads = selected_rows(exec, row_count, is_head{rows});
  story_reader const read{rows, heads.count(), heads.data(), habits};
  lifetimes found(exec, heads.count(), options.wants_addresses);
  replay_counts const told = sum_rows(
      exec, heads.count(),
      write_lifetime{read, events, blocks, options, found.birth.data(), found.allocated_end.data(),
                     found.active_end.data(), found.size.data(), found.stack.data(),
                     options.wants_addresses ? found.address.data() : nullptr},
      replay_counts{}, add_counts{});
  counts = add_counts{}(counts, told);
  return found;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
