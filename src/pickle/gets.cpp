// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Skipping runs of memo gets, 64 bytes at a time: which of them are opcodes is one bit each, and
// the way from one get to the next is arithmetic on those bits. Compiled for every vector unit that
// Highway knows; the machine's best one is chosen when the program runs.
#undef HWY_TARGET_INCLUDE
// NOLINTNEXTLINE(readability-identifier-naming): Highway's name
#define HWY_TARGET_INCLUDE "pickle/gets.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
//
#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "pickle/gets.hpp"
#include "pickle/load.hpp"
#include "pickle/opcode.hpp"

HWY_BEFORE_NAMESPACE();
namespace memreplay::pickle::HWY_NAMESPACE {

constexpr std::size_t window = 64;
constexpr std::ptrdiff_t long_get = 5;
constexpr std::ptrdiff_t short_get = 2;

/// Bits 0, step, 2 * step ...
constexpr std::uint64_t every(int step) {
  std::uint64_t bits = 0;
  for (int bit = 0; bit < 64; bit += step) bits |= std::uint64_t{1} << bit;
  return bits;
}

/// Bit k: whether byte k is `code`.
HWY_INLINE std::uint64_t find(std::uint8_t const* at, std::uint8_t code) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::CappedTag<std::uint8_t, window> const lanes;
  std::uint8_t bits[window / 8 + 8] = {};
  for (std::size_t first = 0; first < window; first += hn::Lanes(lanes)) {
    hn::StoreMaskBits(lanes, hn::Eq(hn::LoadU(lanes, at + first), hn::Set(lanes, code)),
                      bits + first / 8);
  }
  return load<std::uint64_t>(bits);
}

HWY_ATTR std::uint8_t const* skip_gets(std::uint8_t const* next, std::uint8_t const* last) {
  constexpr auto room = static_cast<std::ptrdiff_t>(window) + long_get;
  while (last - next >= room) {
    std::uint64_t const longs = find(next, opcode::long_binget);
    std::uint64_t const shorts = find(next, opcode::binget);
    int at = 0;
    for (int before = -1; at != before && at < 64;) {
      before = at;
      // As far as the opcodes stand at equal distances; beyond the window nothing is known.
      int const skipped = std::countr_zero(~(longs >> at) & every(long_get));
      at += skipped == 64 ? 65 : skipped;
      if (at >= 64) break;
      at += std::countr_zero(~(shorts >> at) & every(short_get));
    }
    next += at;
    if (at < 64) return next;
  }
  for (;;) {
    if (last - next >= long_get && *next == opcode::long_binget) {
      next += long_get;
    } else if (last - next >= short_get && *next == opcode::binget) {
      next += short_get;
    } else {
      return next;
    }
  }
}

}  // namespace memreplay::pickle::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace memreplay::pickle {

HWY_EXPORT(skip_gets);

std::uint8_t const* end_of_gets(std::uint8_t const* next, std::uint8_t const* last) noexcept {
  return HWY_DYNAMIC_DISPATCH(skip_gets)(next, last);
}

}  // namespace memreplay::pickle
#endif
