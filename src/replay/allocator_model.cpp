// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The caching allocator's memory layout, as far as it decides the size of a block.
#include "replay/allocator_model.hpp"

#include <chrono>

namespace memreplay {
namespace {

constexpr std::uint64_t last_address = std::numeric_limits<std::uint64_t>::max();
constexpr int page_bits = 20;
static_assert(std::uint64_t{1} << page_bits == small_limit_bytes);

}  // namespace

ordered_bits::ordered_bits(std::size_t size) {
  do {
    size = (size + 63) / 64;
    levels_.emplace_back(std::max<std::size_t>(size, 1));
  } while (size > 1);
}

void ordered_bits::set(std::size_t bit) noexcept {
  for (auto& level : levels_) {
    level[bit / 64] |= std::uint64_t{1} << (bit % 64);
    bit /= 64;
  }
}

void ordered_bits::clear(std::size_t bit) noexcept {
  for (auto& level : levels_) {
    level[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    if (level[bit / 64] != 0) return;
    bit /= 64;
  }
}

std::size_t ordered_bits::at_or_below(std::size_t bit) const noexcept {
  std::size_t height = 0;
  std::size_t position = bit;
  bool is_inclusive = true;
  for (;; ++height) {
    if (height == levels_.size()) return none;
    std::uint64_t const word = levels_[height][position / 64];
    // Bits below the position, and the position itself on the lowest level only.
    std::uint64_t const below = (std::uint64_t{1} << (position % 64)) - 1;
    std::uint64_t const candidates = word & (is_inclusive ? below << 1 | 1 : below);
    if (candidates != 0) {
      position = position / 64 * 64 + static_cast<std::size_t>(std::bit_width(candidates) - 1);
      break;
    }
    position /= 64;
    is_inclusive = false;
  }
  while (height-- > 0) {
    position =
        position * 64 + static_cast<std::size_t>(std::bit_width(levels_[height][position]) - 1);
  }
  return position;
}

segment_set::segment_set(std::vector<std::uint64_t> bases) {
  std::sort(bases.begin(), bases.end());
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  slots_.resize(bases.size());
  for (std::size_t row = 0; row < bases.size(); ++row) slots_[row].base = bases[row];
  held_ = ordered_bits(bases.size());
  if (bases.empty()) return;
  std::uint64_t const span = bases.back() - bases.front();
  range_shift_ = std::max(0, static_cast<int>(std::bit_width(span)) -
                                 static_cast<int>(std::bit_width(bases.size())) - 1);
  std::size_t const ranges = static_cast<std::size_t>(span >> range_shift_) + 1;
  first_in_range_.reserve(ranges + 1);
  std::size_t row = 0;
  for (std::size_t range = 0; range < ranges; ++range) {
    while (row < bases.size() && (bases[row] - bases.front()) >> range_shift_ < range) ++row;
    first_in_range_.push_back(row);
  }
  first_in_range_.push_back(bases.size());
}

std::size_t segment_set::slot_at_or_below(std::uint64_t address) const noexcept {
  if (slots_.empty() || slots_[0].base > address) return none;
  std::size_t const range = static_cast<std::size_t>(std::min(
      (address - slots_[0].base) >> range_shift_, std::uint64_t{first_in_range_.size() - 2}));
  // The slot before the first of the range may reach into it.
  std::size_t const in_range = first_in_range_[range];
  std::size_t first = in_range == 0 ? 0 : in_range - 1;
  std::size_t count = first_in_range_[range + 1] - first;
  while (count > 1) {  // branch-free: the compiler makes a conditional move of it
    std::size_t const half = count / 2;
    first = slots_[first + half].base <= address ? first + half : first;
    count -= half;
  }
  return first;
}

bool segment_set::hold(std::uint64_t base, std::uint64_t bytes, bool born_in_trace) noexcept {
  std::size_t const row = slot_at_or_below(base);
  if (row == none || slots_[row].base != base) return false;
  bool const was_held = std::exchange(slots_[row].is_held, true);
  slots_[row].end = saturating_add(base, bytes);
  slots_[row].is_born_in_trace = born_in_trace;
  held_.set(row);
  return !was_held;
}

bool segment_set::release(std::uint64_t base) noexcept {
  std::size_t const row = slot_at_or_below(base);
  if (row == none || slots_[row].base != base) return false;
  held_.clear(row);
  return std::exchange(slots_[row].is_held, false);
}

void segment_set::release_all() noexcept {
  for (slot& one : slots_) one.is_held = false;
  held_ = ordered_bits(slots_.size());
}

std::size_t segment_set::find(std::uint64_t address) const noexcept {
  std::size_t row = slot_at_or_below(address);
  if (row == none) return none;
  if (!slots_[row].is_held) row = held_.at_or_below(row);
  return row != none && address < slots_[row].end ? row : none;
}

void segment_set::doubt_all() noexcept {
  for (slot& one : slots_) one.is_doubtful = true;
}

void segment_set::trust_all() noexcept {
  for (slot& one : slots_) one.is_doubtful = false;
}

address_ranges::address_ranges(std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (auto const& [first, last] : ranges) {
    if (ranges_.empty() || ranges_.back().second < first) {
      ranges_.emplace_back(first, last);
    } else {
      ranges_.back().second = std::max(ranges_.back().second, last);
    }
  }
}

bool address_ranges::contains(std::uint64_t address) const noexcept {
  auto const above =
      std::upper_bound(ranges_.begin(), ranges_.end(), std::pair{address, last_address});
  return above != ranges_.begin() && address < std::prev(above)->second;
}

hash_seed make_hash_seed() {
  // Only speed depends on it, so it need not be good: where the stack lies, and the time.
  std::uint64_t mixed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  mixed ^= static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&mixed)) << 17;
  auto const step = [&mixed] {
    mixed += 0x9e37'79b9'7f4a'7c15;
    std::uint64_t value = mixed;
    value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
    value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
    return (value ^ value >> 31) | 1;
  };
  std::uint64_t const first = step();
  return {first, step()};
}

void flat_map::grow() {
  table const old = std::exchange(entries_, table(entries_.size() * 2));
  --shift_;
  for (entry const& one : old) {
    if (one.value != 0) find(one.key) = one;
  }
}

large_layout::large_layout(std::uint64_t first_address, std::uint64_t last_address,
                           std::uint64_t most_blocks)
    : by_start_(0, 0), by_end_(0, 0) {
  constexpr std::uint64_t always_fine = 1 << 16;
  std::uint64_t const first = first_address >> page_bits;
  // A last segment may go on for a while behind its base.
  std::uint64_t const count = (last_address >> page_bits) - first + always_fine / 8;
  bool const has_short_rows = most_blocks < std::numeric_limits<std::uint32_t>::max();
  if (!has_short_rows || count > std::max(always_fine, most_blocks)) return;
  by_start_ = page_map(first, count);
  by_end_ = page_map(first, count);
}

used_block* large_layout::add(std::uint64_t start, std::uint64_t low) {
  std::uint64_t const start_page = start >> page_bits;
  std::uint64_t const end_page = saturating_add(start, low) >> page_bits;
  if (by_start_.value_of(start_page) != 0 || by_end_.value_of(end_page) != 0) return nullptr;
  std::uint64_t row = blocks_.size();
  if (free_rows_.empty()) {
    blocks_.emplace_back();
  } else {
    row = free_rows_.back();
    free_rows_.pop_back();
  }
  by_start_.set(start_page, row + 1);
  by_end_.set(end_page, row + 1);
  blocks_[row] = used_block{};
  blocks_[row].start = start;
  blocks_[row].low = low;
  return &blocks_[row];
}

used_block* large_layout::find(std::uint64_t address) noexcept {
  std::uint64_t const row = by_start_.value_of(address >> page_bits);
  if (row == 0 || blocks_[row - 1].start != address) return nullptr;
  return &blocks_[row - 1];
}

void large_layout::remove(used_block& block) noexcept {
  by_start_.erase(block.start >> page_bits);
  by_end_.erase(saturating_add(block.start, block.low) >> page_bits);
  block.low = 0;
  free_rows_.push_back(static_cast<std::uint64_t>(&block - blocks_.data()));
}

std::uint64_t large_layout::next_start(std::uint64_t from, std::uint64_t reach) noexcept {
  std::uint64_t const last = saturating_add(from, reach);
  for (std::uint64_t page = from >> page_bits; page <= last >> page_bits; ++page) {
    std::uint64_t const row = by_start_.value_of(page);
    if (row == 0) continue;
    std::uint64_t const start = blocks_[row - 1].start;
    if (start >= from && start <= last) return start;
  }
  return last_address;
}

used_block* large_layout::ending_at(std::uint64_t address) noexcept {
  std::uint64_t const first = address >= small_limit_bytes ? address - small_limit_bytes : 0;
  for (std::uint64_t page = address >> page_bits;; --page) {
    std::uint64_t const row = by_end_.value_of(page);
    if (row != 0) {
      used_block& block = blocks_[row - 1];
      std::uint64_t const end = saturating_add(block.start, block.low);
      if (end >= first && end <= address) return &block;
    }
    if (page == first >> page_bits) return nullptr;
  }
}

}  // namespace memreplay
