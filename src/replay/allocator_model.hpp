// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The caching allocator's memory layout, as far as it decides the size of a block.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memreplay/allocator_rules.hpp>

#include "base/huge_pages.hpp"

namespace memreplay {

/// A set of numbers below a fixed size that knows the greatest one below a given number: a tree of
/// bitmaps, 64 children a node.
class ordered_bits {
 public:
  explicit ordered_bits(std::size_t size = 0);
  void set(std::size_t bit) noexcept;
  void clear(std::size_t bit) noexcept;
  /// The greatest set bit <= `bit`, or `none`.
  [[nodiscard]] std::size_t at_or_below(std::size_t bit) const noexcept;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

 private:
  /// levels_[0] are the bits; a bit of the level above says that a word has any.
  std::vector<std::vector<std::uint64_t>> levels_;
};

/// The cudaMalloc segments held at one moment of the trace. Every base that ever occurs is a slot,
/// given at the start; a slot holds at most one segment at a time.
class segment_set {
 public:
  static constexpr std::size_t none = ordered_bits::none;
  struct slot {
    std::uint64_t base = 0;
    std::uint64_t end = 0;
    bool is_held = false;
    /// Its segment_alloc is in the trace: no block of it can be older.
    bool is_born_in_trace = false;
    bool is_doubtful = false;  ///< the trace contradicts itself here; stays set
  };

  /// `bases` in any order, with repetitions.
  explicit segment_set(std::vector<std::uint64_t> bases);
  /// Returns false when the base holds a segment already (it is replaced).
  bool hold(std::uint64_t base, std::uint64_t bytes, bool born_in_trace) noexcept;
  /// Returns false when the base holds no segment.
  bool release(std::uint64_t base) noexcept;
  /// Lets go of all segments; doubts stay.
  void release_all() noexcept;
  /// Row of the held segment that contains `address`, or `none`.
  [[nodiscard]] std::size_t find(std::uint64_t address) const noexcept;
  [[nodiscard]] slot const& operator[](std::size_t row) const noexcept { return slots_[row]; }
  void doubt(std::size_t row) noexcept { slots_[row].is_doubtful = true; }
  void doubt_all() noexcept;
  void trust_all() noexcept;

 private:
  [[nodiscard]] std::size_t slot_at_or_below(std::uint64_t address) const noexcept;
  std::vector<slot> slots_;  ///< by base
  /// Equal ranges of addresses, from the first base on, and the first slot of each: a range holds
  /// one or two slots in most cases.
  std::vector<std::size_t> first_in_range_;
  int range_shift_ = 0;
  ordered_bits held_;
};

/// Disjoint address ranges, fixed after construction.
class address_ranges {
 public:
  /// Pairs of first and one-past-last address, in any order, may overlap.
  explicit address_ranges(std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges);
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

/// Random odd multipliers for hash tables whose keys come from the file: a file cannot aim at one
/// bucket.
struct hash_seed {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};
[[nodiscard]] hash_seed make_hash_seed();

/// Open addressing from 64-bit keys to 64-bit values other than 0, one cache line a probe in most
/// cases.
class flat_map {
 public:
  struct entry {
    std::uint64_t key = 0;
    std::uint64_t value = 0;  ///< 0 = empty
  };
  flat_map() : seed_(make_hash_seed()), entries_(1024), shift_(64 - 10) {}

  /// The entry of `key`, or the empty one where it would go.
  [[nodiscard]] entry& find(std::uint64_t key) noexcept {
    std::size_t const mask = entries_.size() - 1;
    std::size_t row = home(key);
    while (entries_[row].value != 0 && entries_[row].key != key) row = (row + 1) & mask;
    return entries_[row];
  }
  [[nodiscard]] std::uint64_t value_of(std::uint64_t key) const noexcept {
    std::size_t const mask = entries_.size() - 1;
    std::size_t row = home(key);
    while (entries_[row].value != 0 && entries_[row].key != key) row = (row + 1) & mask;
    return entries_[row].value;
  }
  void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&entries_[home(key)], 1); }
  /// Fills an empty entry that `find(key)` returned. Invalidates entries.
  void fill(entry& empty, std::uint64_t key, std::uint64_t value) {
    empty = {key, value};
    if (++count_ * 2 > entries_.size()) grow();
  }
  /// Empties a filled entry. Invalidates entries.
  void erase(entry& filled) noexcept {
    std::size_t const mask = entries_.size() - 1;
    std::size_t hole = static_cast<std::size_t>(&filled - entries_.data());
    std::size_t row = hole;
    --count_;
    for (;;) {
      row = (row + 1) & mask;
      if (entries_[row].value == 0) break;
      // An entry may fill the hole unless its home lies behind the hole.
      if (((row - home(entries_[row].key)) & mask) >= ((row - hole) & mask)) {
        entries_[hole] = entries_[row];
        hole = row;
      }
    }
    entries_[hole].value = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::span<entry const> entries() const noexcept { return entries_; }

 private:
  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
    std::uint64_t mixed = key * seed_.first;
    mixed ^= mixed >> 32;
    return static_cast<std::size_t>((mixed * seed_.second) >> shift_);
  }
  void grow();

  using table = std::vector<entry, huge_page_allocator<entry>>;

  hash_seed seed_;
  table entries_;  ///< a power of two
  int shift_;
  std::size_t count_ = 0;
};

/// A used block of a large pool at one moment of the trace.
struct used_block {
  std::uint64_t start = 0;
  std::uint64_t low = 0;     ///< rounded request: the least size it can have
  std::uint64_t known = 0;   ///< size that `segments` tells, 0 = not alive at the end
  std::uint64_t pinned = 0;  ///< size that a block cut right above it proves, 0 = none yet
  /// Row of the table of carried-in blocks; -1 = not one, as far as the walk has come.
  std::int64_t carried = -1;
};

/// Values other than 0 of pages of 1 MiB. The pages from `first` on lie in an array, whatever lies
/// beyond it in a hash table.
class page_map {
 public:
  page_map(std::uint64_t first, std::uint64_t count) : first_(first), near_(count) {}
  [[nodiscard]] std::uint64_t value_of(std::uint64_t page) const noexcept {
    return page - first_ < near_.size() ? near_[page - first_] : far_.value_of(page);
  }
  void set(std::uint64_t page, std::uint64_t value) {
    if (page - first_ < near_.size()) {
      near_[page - first_] = static_cast<std::uint32_t>(value);
    } else {
      far_.fill(far_.find(page), page, value);
    }
  }
  void erase(std::uint64_t page) noexcept {
    if (page - first_ < near_.size()) {
      near_[page - first_] = 0;
    } else {
      far_.erase(far_.find(page));
    }
  }

 private:
  std::uint64_t first_;
  std::vector<std::uint32_t, huge_page_allocator<std::uint32_t>> near_;
  flat_map far_;
};

/// The used blocks of all large pools, found by where they start and by where they end.
///
/// A block of a large pool is more than 1 MiB long, so a page of 1 MiB holds the start of at most
/// one of them, and the end of at most one rounded request. A table by page therefore answers both
/// "the next block within 1 MiB above" and "the block that ends within 1 MiB below" with two looks;
/// no tree is needed.
class large_layout {
 public:
  /// Most blocks lie in [first_address, last_address]; at most `most_blocks` are added. A table
  /// over that range is made when it has not many more pages than there are blocks.
  large_layout(std::uint64_t first_address, std::uint64_t last_address, std::uint64_t most_blocks);
  /// Null when its page already holds another start or end: such a layout is impossible, the block
  /// stays out.
  used_block* add(std::uint64_t start, std::uint64_t low);
  /// The block that starts at `address`, or null. Valid until the next add or remove.
  [[nodiscard]] used_block* find(std::uint64_t address) noexcept;
  void remove(used_block& block) noexcept;
  /// Lowest start in [from, from + reach], or the greatest address when there is none. One probe a
  /// MiB.
  [[nodiscard]] std::uint64_t next_start(std::uint64_t from,
                                         std::uint64_t reach = small_limit_bytes) noexcept;
  /// The block whose rounded request ends in [address - 1 MiB, address]: only it can end at
  /// `address`.
  [[nodiscard]] used_block* ending_at(std::uint64_t address) noexcept;
  [[nodiscard]] std::span<used_block const> blocks() const noexcept { return blocks_; }

 private:
  std::vector<used_block> blocks_;  ///< low == 0: free row
  std::vector<std::uint64_t> free_rows_;
  page_map by_start_;  ///< page of the start -> row + 1
  page_map by_end_;    ///< page of start + low -> row + 1
};

}  // namespace memreplay
