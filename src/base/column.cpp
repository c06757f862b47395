// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Memory of columns: from the heap while they are small, in huge pages when they are not.
#include <memreplay/column.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>

namespace memreplay::detail {
namespace {

void* resize_heap_block(void* block, std::size_t bytes) {
  if (bytes == 0) {
    std::free(block);
    return nullptr;
  }
  void* const resized = std::realloc(block, bytes);
  if (resized == nullptr) throw std::bad_alloc();
  return resized;
}

#ifdef __linux__

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// A column that grows touches each of its pages for the first time, and every first touch of a
/// small page costs more than filling it. From here on the rest of a huge page may stay unused.
constexpr std::size_t mapped_from = huge_page / 4;

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + huge_page - 1) / huge_page * huge_page;
}

std::byte* map(std::size_t bytes) {
  void* const region = ::mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(region);
  std::size_t const ahead =
      (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
  if (ahead > 0) ::munmap(first, ahead);
  if (ahead < huge_page) ::munmap(first + ahead + bytes, huge_page - ahead);
  ::madvise(first + ahead, bytes, MADV_HUGEPAGE);
  return first + ahead;
}

#endif

}  // namespace

#ifdef __linux__

void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes) {
  bool const was_mapped = old_bytes >= mapped_from;
  bool const is_mapped = new_bytes >= mapped_from;
  if (!was_mapped && !is_mapped) return resize_heap_block(block, new_bytes);
  std::size_t const old_size = rounded(old_bytes);
  std::size_t const new_size = rounded(new_bytes);
  if (was_mapped && is_mapped && new_size <= old_size) {
    if (new_size < old_size)
      ::munmap(static_cast<std::byte*>(block) + new_size, old_size - new_size);
    return block;
  }
  void* const resized = is_mapped
                            ? map(new_size)
                            : (new_bytes == 0 ? nullptr : resize_heap_block(nullptr, new_bytes));
  if (was_mapped && is_mapped) {
    // Whole huge pages change their place; nothing is copied.
    if (::mremap(block, old_size, old_size, MREMAP_MAYMOVE | MREMAP_FIXED, resized) == MAP_FAILED)
      throw std::bad_alloc();
    return resized;
  }
  std::size_t const kept = std::min(old_bytes, new_bytes);
  if (kept > 0) std::memcpy(resized, block, kept);
  if (was_mapped) {
    ::munmap(block, old_size);
  } else {
    std::free(block);
  }
  return resized;
}

#else

void* resize_block(void* block, std::size_t /*old_bytes*/, std::size_t new_bytes) {
  return resize_heap_block(block, new_bytes);
}

#endif

}  // namespace memreplay::detail
