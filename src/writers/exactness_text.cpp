// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A number of bytes together with how well it is known, as text.
#include "writers/exactness_text.hpp"

#include "base/byte_text.hpp"
#include "writers/plain_text.hpp"

namespace memreplay::writers {

std::string exactness_text(exactness const& value) {
  std::string text = base::byte_range_text(value.low, value.high);
  if (value.exact) return text;
  if (value.low == value.high) text = "about " + text;
  if (!value.reason.empty()) text += " (" + value.reason + ')';
  return text;
}

std::string exact_digits_text(exactness const& value) {
  if (!value.exact || value.low < 1024) return {};
  return " (" + count_text(value.low, "byte") + ')';
}

}  // namespace memreplay::writers
