// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Large arrays on huge pages: the first touch of fresh memory costs more than most walks over it,
// and much less a byte where pages are large.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace memreplay {

/// An allocator for std::vector. Large arrays begin at a huge page and ask for more of them; small
/// ones, and systems without, are as usual.
template <class ValueT>
struct huge_page_allocator {
  using value_type = ValueT;

  huge_page_allocator() = default;
  template <class OtherT>
  huge_page_allocator(huge_page_allocator<OtherT> const&) noexcept {}

  [[nodiscard]] ValueT* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(ValueT))
      throw std::bad_array_new_length();
    std::size_t bytes = count * sizeof(ValueT);
    bool const is_large = bytes >= 2 * page_bytes;
    if (is_large) bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    void* const memory = is_large ? std::aligned_alloc(page_bytes, bytes) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (is_large) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<ValueT*>(memory);
  }
  void deallocate(ValueT* memory, std::size_t) noexcept { std::free(memory); }

  friend bool operator==(huge_page_allocator const&, huge_page_allocator const&) = default;

 private:
  static constexpr std::size_t page_bytes = std::size_t{1} << 21;
};

}  // namespace memreplay
