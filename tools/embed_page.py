#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Turns the bundled page into C++: embed_page.py PAGE.html OUT.cpp."""
import pathlib
import sys

beginning = """// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Made by tools/embed_page.py when memreplay is built.
#include "writers/page_template.hpp"

namespace memreplay::writers {

std::string_view page_template() noexcept {
  static constexpr char page[] =
"""
end = """      ;
  return {page, sizeof(page) - 1};
}

}  // namespace memreplay::writers
"""
bytes_a_line = 80


def quoted(part):
    """Octal escapes are three digits, so nothing behind them can be taken for a part of them."""
    plain = lambda byte: 0x20 <= byte < 0x7F and byte not in b'"\\?'
    return '"' + "".join(chr(byte) if plain(byte) else f"\\{byte:03o}" for byte in part) + '"'


def main():
    page = pathlib.Path(sys.argv[1]).read_bytes()
    starts = range(0, len(page), bytes_a_line)
    lines = [f"      {quoted(page[at:at + bytes_a_line])}\n" for at in starts]
    pathlib.Path(sys.argv[2]).write_text(beginning + "".join(lines) + end, encoding="ascii")


if __name__ == "__main__":
    main()
