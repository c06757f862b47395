// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The one place that turns a number of bytes into text.
#include "base/byte_text.hpp"

#include <fmt/format.h>

namespace memreplay::base {
namespace {

struct unit {
  char const* name;
  double bytes;
  int digits;  ///< after the point; GiB carry three since the numbers of logs do
};

constexpr unit units[] = {
    {"B", 1.0, 0},
    {"KiB", 1024.0, 2},
    {"MiB", 1048576.0, 2},
    {"GiB", 1073741824.0, 3},
    {"TiB", 1099511627776.0, 3},
    {"PiB", 1125899906842624.0, 3},
    {"EiB", 1152921504606846976.0, 3},
};
constexpr int unit_count = static_cast<int>(sizeof(units) / sizeof(units[0]));
constexpr int most_digits = 9;

std::uint64_t magnitude(std::int64_t bytes) {
  return bytes < 0 ? 0 - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
}

std::string digits_of(std::int64_t bytes, unit const& in, int digits) {
  double const value = static_cast<double>(magnitude(bytes)) / in.bytes;
  return fmt::format("{}{:.{}f}", bytes < 0 ? "-" : "", value, digits);
}

/// The largest unit of which one is full *after* rounding, so that 1,048,575 bytes are not "1024.00
/// KiB".
unit const& unit_for(std::int64_t bytes) {
  double const value = static_cast<double>(magnitude(bytes));
  int chosen = 0;
  while (chosen + 1 < unit_count) {
    unit const& here = units[chosen];
    double const half_step = 0.5 * (here.digits == 0 ? 0.0 : here.digits == 2 ? 0.01 : 0.001);
    if (value / here.bytes < 1024.0 - half_step) break;
    ++chosen;
  }
  return units[chosen];
}

}  // namespace

std::string byte_text(std::int64_t bytes) {
  unit const& in = unit_for(bytes);
  return digits_of(bytes, in, in.digits) + ' ' + in.name;
}

std::string signed_byte_text(std::int64_t bytes) {
  return (bytes > 0 ? "+" : "") + byte_text(bytes);
}

std::string byte_range_text(std::int64_t low, std::int64_t high) {
  if (low == high) return byte_text(low);
  unit const& low_unit = unit_for(low);
  unit const& high_unit = unit_for(high);
  if (&low_unit != &high_unit) return byte_text(low) + " - " + byte_text(high);
  int digits = high_unit.digits == 0 ? 0 : 2;
  std::string low_text = digits_of(low, low_unit, digits);
  std::string high_text = digits_of(high, high_unit, digits);
  while (low_text == high_text && digits < most_digits) {
    ++digits;
    low_text = digits_of(low, low_unit, digits);
    high_text = digits_of(high, high_unit, digits);
  }
  return low_text + '-' + high_text + ' ' + high_unit.name;
}

}  // namespace memreplay::base
