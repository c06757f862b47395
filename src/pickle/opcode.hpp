// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The opcodes that plain data needs, and the names of those that we refuse.
#pragma once

#include <cstdint>

namespace memreplay::pickle::opcode {

inline constexpr std::uint8_t mark = '(', stop = '.', pop = '0', pop_mark = '1', dup = '2',
                              float_text = 'F', int_text = 'I', binint = 'J', binint1 = 'K',
                              long_text = 'L', binint2 = 'M', none = 'N', string_text = 'S',
                              binstring = 'T', short_binstring = 'U', unicode_text = 'V',
                              binunicode = 'X', append = 'a', dict = 'd', empty_dict = '}',
                              appends = 'e', get_text = 'g', binget = 'h', long_binget = 'j',
                              list = 'l', empty_list = ']', put_text = 'p', binput = 'q',
                              long_binput = 'r', setitem = 's', tuple = 't', empty_tuple = ')',
                              setitems = 'u', binfloat = 'G', proto = 0x80, tuple1 = 0x85,
                              tuple2 = 0x86, tuple3 = 0x87, newtrue = 0x88, newfalse = 0x89,
                              long1 = 0x8a, long4 = 0x8b, short_binunicode = 0x8c,
                              binunicode8 = 0x8d, memoize = 0x94, frame = 0x95;

/// Name of an opcode that builds Python objects, runs code, or is no snapshot's business; null for
/// a byte that is no opcode at all.
[[nodiscard]] constexpr char const* refused_name(std::uint8_t code) noexcept {
  switch (code) {
    case 'c': return "GLOBAL";
    case 'R': return "REDUCE";
    case 'b': return "BUILD";
    case 'i': return "INST";
    case 'o': return "OBJ";
    case 'P': return "PERSID";
    case 'Q': return "BINPERSID";
    case 'B': return "BINBYTES";
    case 'C': return "SHORT_BINBYTES";
    case 0x81: return "NEWOBJ";
    case 0x82: return "EXT1";
    case 0x83: return "EXT2";
    case 0x84: return "EXT4";
    case 0x8e: return "BINBYTES8";
    case 0x8f: return "EMPTY_SET";
    case 0x90: return "ADDITEMS";
    case 0x91: return "FROZENSET";
    case 0x92: return "NEWOBJ_EX";
    case 0x93: return "STACK_GLOBAL";
    case 0x96: return "BYTEARRAY8";
    case 0x97: return "NEXT_BUFFER";
    case 0x98: return "READONLY_BUFFER";
    default: return nullptr;
  }
}

}  // namespace memreplay::pickle::opcode
