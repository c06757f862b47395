// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finding and decoding the base64 member of a page's file list.
#include "input/html.hpp"

#include <nettle/base64.h>

#include <algorithm>
#include <string>
#include <vector>

#include <memreplay/error.hpp>

namespace memreplay::input {
namespace {

/// The text of the next `"base64": "..."` from `at` on; moves `at` behind it. Empty view data when
/// there is none; reaches to the end of the page when the page ends inside.
std::string_view next_member(std::string_view page, std::size_t& at) {
  constexpr std::string_view name = "base64";
  while ((at = page.find(name, at)) != std::string_view::npos) {
    at += name.size();
    std::size_t const colon = page.find_first_not_of("\"' \t\r\n", at);
    if (colon == std::string_view::npos || page[colon] != ':') continue;
    std::size_t const quote = page.find_first_not_of(" \t\r\n", colon + 1);
    if (quote == std::string_view::npos || (page[quote] != '"' && page[quote] != '\'')) continue;
    std::size_t const end = std::min(page.find(page[quote], quote + 1), page.size());
    at = end;
    return page.substr(quote + 1, end - quote - 1);
  }
  return {};
}

}  // namespace

decoded_page decode_html(std::string_view page, bool is_cut_allowed) {
  std::size_t at = 0;
  std::string_view const encoded = next_member(page, at);
  if (encoded.data() == nullptr) {
    throw error(
        error_code::not_a_snapshot, "an HTML page without an embedded snapshot",
        "an error page of a download? Pages of torch.cuda._memory_viz trace_plot can be read");
  }
  bool const is_cut = at == page.size();
  if (is_cut && !is_cut_allowed) {
    throw error(error_code::damaged, "the HTML page ends inside its snapshot", page.size(),
                "copy it again; --salvage reads what is there");
  }
  decoded_page result;
  base64_decode_ctx decoder;
  base64_decode_init(&decoder);
  std::size_t const offset = static_cast<std::size_t>(encoded.data() - page.data());
  bool is_valid = true;
  constexpr std::size_t step = std::size_t{1} << 20;
  std::vector<std::uint8_t> chunk(BASE64_DECODE_LENGTH(step));
  for (std::size_t first = 0; first < encoded.size() && is_valid; first += step) {
    std::string_view const part = encoded.substr(first, step);
    std::size_t length = chunk.size();
    is_valid = base64_decode_update(&decoder, &length, chunk.data(), part.size(), part.data()) == 1;
    result.content.append(
        std::as_bytes(std::span<std::uint8_t const>{chunk}.first(is_valid ? length : 0)));
  }
  if (!is_valid || (base64_decode_final(&decoder) != 1 && !is_cut)) {
    throw error(error_code::damaged, "the snapshot in the HTML page is not valid base64", offset);
  }
  while (next_member(page, at).data() != nullptr) ++result.other_members;
  return result;
}

}  // namespace memreplay::input
