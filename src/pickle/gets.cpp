// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Skipping runs of memo gets.
#include "pickle/gets.hpp"

#include "pickle/opcode.hpp"

namespace memreplay::pickle {

std::uint8_t const* end_of_gets(std::uint8_t const* next, std::uint8_t const* last) noexcept {
  using namespace opcode;
  // The loads of four equal opcodes do not wait for each other; a step of one would.
  for (;;) {
    while (last - next >= 20 && next[0] == long_binget && next[5] == long_binget &&
           next[10] == long_binget && next[15] == long_binget) {
      next += 20;
    }
    while (last - next >= 8 && next[0] == binget && next[2] == binget && next[4] == binget &&
           next[6] == binget) {
      next += 8;
    }
    if (last - next >= 5 && next[0] == long_binget) {
      next += 5;
    } else if (last - next >= 2 && next[0] == binget) {
      next += 2;
    } else {
      return next;
    }
  }
}

}  // namespace memreplay::pickle
