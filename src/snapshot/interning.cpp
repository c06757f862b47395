// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Interning by content.
#include "snapshot/interning.hpp"

#include <algorithm>
#include <utility>

#include <memreplay/error.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace memreplay::reading {
namespace {

/// The two highest rows are markers (`no_stack`, `before_trace_stack`).
void check_room(std::size_t rows, char const* what) {
  if (rows >= 0xffff'fff0) {
    throw error(error_code::refused, std::string("more than 4 billion different ") + what);
  }
}

}  // namespace

void row_index::insert(std::uint64_t hash, std::uint32_t row) {
  if ((used_ + 1) * 2 > slots_.size()) {
    column<entry> const old = std::exchange(slots_, {});
    slots_.resize(std::max<std::size_t>(old.size() * 2, 256), entry{});
    for (entry const& moved : old) {
      if (moved.row != absent) place(moved);
    }
  }
  place({hash, row});
  ++used_;
}

void row_index::place(entry item) {
  std::size_t const mask = slots_.size() - 1;
  std::size_t slot = item.hash & mask;
  while (slots_[slot].row != absent) slot = (slot + 1) & mask;
  slots_[slot] = item;
}

interner::interner(snapshot& into) : into_(into) { strings_.insert(XXH3_64bits("", 0), 0); }

string_id interner::string(std::string_view text) {
  std::uint64_t const hash = XXH3_64bits(text.data(), text.size());
  std::uint32_t const known =
      strings_.find(hash, [&](std::uint32_t row) { return into_.strings[string_id{row}] == text; });
  if (known != row_index::absent) return string_id{known};
  check_room(into_.strings.size(), "strings");
  string_id const added = into_.strings.add(text);
  strings_.insert(hash, to_row(added));
  return added;
}

frame_id interner::frame(memreplay::frame const& content) {
  std::uint64_t const words[2] = {
      std::uint64_t{to_row(content.function)} << 32 | to_row(content.file), content.line};
  std::uint64_t const hash = XXH3_64bits(words, sizeof words);
  std::uint32_t const known =
      frames_.find(hash, [&](std::uint32_t row) { return into_.frames[row] == content; });
  if (known != row_index::absent) return frame_id{known};
  check_room(into_.frames.size(), "frames");
  into_.frames.push_back(content);
  auto const added = static_cast<std::uint32_t>(into_.frames.size() - 1);
  frames_.insert(hash, added);
  return frame_id{added};
}

stack_id interner::stack(std::span<frame_id const> frames) {
  std::uint64_t const hash = XXH3_64bits(frames.data(), frames.size_bytes());
  std::uint32_t const known = stacks_.find(hash, [&](std::uint32_t row) {
    return std::ranges::equal(into_.stacks[stack_id{row}], frames);
  });
  if (known != row_index::absent) return stack_id{known};
  check_room(into_.stacks.size(), "stacks");
  stack_id const added = into_.stacks.add(frames);
  stacks_.insert(hash, to_row(added));
  return added;
}

}  // namespace memreplay::reading
