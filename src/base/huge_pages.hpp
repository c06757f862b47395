// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Large arrays on huge pages: the first touch of fresh memory costs more than most walks over it,
// and much less a byte where pages are large.
#pragma once

#include <cstddef>
#include <new>

#include <memreplay/column.hpp>

namespace memreplay {

/// An allocator for std::vector whose arrays lie where columns do.
template <class ValueT>
struct huge_page_allocator {
  using value_type = ValueT;

  huge_page_allocator() = default;
  template <class OtherT>
  huge_page_allocator(huge_page_allocator<OtherT> const&) noexcept {}

  [[nodiscard]] ValueT* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(ValueT))
      throw std::bad_array_new_length();
    return static_cast<ValueT*>(detail::resize_block(nullptr, 0, count * sizeof(ValueT)));
  }
  void deallocate(ValueT* memory, std::size_t count) noexcept {
    detail::resize_block(memory, count * sizeof(ValueT), 0);
  }

  friend bool operator==(huge_page_allocator const&, huge_page_allocator const&) = default;
};

}  // namespace memreplay
