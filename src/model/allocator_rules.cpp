// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The caching allocator's rules for sizes: rounding, splitting, and what it asks of the driver.
#include <memreplay/allocator_rules.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

namespace memreplay {
namespace {

constexpr std::uint64_t last_address = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t small_segment_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t large_segment_bytes = std::uint64_t{20} << 20;
constexpr std::uint64_t large_request_bytes = std::uint64_t{10} << 20;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) {
  return (bytes + step - 1) / step * step;
}

// The value as JSON text: quotes and blanks off.
std::string_view plain(std::string_view text) {
  while (!text.empty() && (text.front() == '"' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == '"' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

// A number; what follows it (the ".0" that JSON tools add) is ignored.
std::optional<std::int64_t> number(std::string_view text) {
  text = plain(text);
  std::int64_t value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

std::optional<bool> truth(std::string_view text) {
  text = plain(text);
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  return std::nullopt;
}

std::size_t division_bucket(std::uint64_t bytes) {
  int const log2 = static_cast<int>(std::bit_width(bytes)) - 1;
  return static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15));
}

std::uint64_t as_division(std::int64_t value) {
  return value > 1 ? static_cast<std::uint64_t>(value) : 0;
}

// `4`, or `[256:1,512:2,>:8]`: each number of MiB sets its own bucket, the first also those below,
// `>` all above.
void read_conf_divisions(std::string_view text, std::array<std::uint64_t, 16>& divisions) {
  if (auto const one = number(text); one) {
    divisions.fill(as_division(*one));
    return;
  }
  if (text.empty() || text.front() != '[') return;
  text.remove_prefix(1);
  bool is_first = true;
  std::size_t next = 0;
  while (!text.empty()) {
    std::size_t const comma = std::min(text.find_first_of(",]"), text.size());
    std::string_view const item = plain(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    std::size_t const colon = item.find(':');
    if (colon == std::string_view::npos) continue;
    auto const value = number(item.substr(colon + 1));
    if (!value) continue;
    if (plain(item.substr(0, colon)) == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(next), divisions.end(),
                as_division(*value));
      return;
    }
    auto const mebibytes = number(item.substr(0, colon));
    if (!mebibytes || *mebibytes <= 0) continue;
    std::size_t const bucket = std::min<std::size_t>(
        15, static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(*mebibytes)) - 1));
    if (std::exchange(is_first, false)) {
      std::fill(divisions.begin(), divisions.begin() + static_cast<std::ptrdiff_t>(bucket),
                as_division(*value));
    }
    divisions[bucket] = as_division(*value);
    next = bucket + 1;
  }
}

// PYTORCH_CUDA_ALLOC_CONF: `name:value` joined by commas, a value may be a bracketed list with
// commas.
void read_conf(std::string_view text, allocator_rules& rules) {
  text = plain(text);
  while (!text.empty()) {
    std::size_t depth = 0;
    std::size_t end = 0;
    for (; end < text.size() && (depth != 0 || text[end] != ','); ++end) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && depth != 0) --depth;
    }
    std::string_view const item = plain(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t const colon = item.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view const name = plain(item.substr(0, colon));
    std::string_view const value = plain(item.substr(colon + 1));
    if (name == "expandable_segments") {
      rules.expandable = truth(value);
    } else if (name == "max_split_size_mb") {
      if (auto const split = number(value);
          split && *split > 0 && *split < (std::int64_t{1} << 40)) {
        rules.max_split_size = static_cast<std::uint64_t>(*split) << 20;
      }
    } else if (name == "roundup_power2_divisions") {
      read_conf_divisions(value, rules.power2_divisions);
    }
  }
}

}  // namespace

std::uint64_t allocator_rules::round_to_division(std::uint64_t bytes) const noexcept {
  std::uint64_t const divisions = power2_divisions[division_bucket(bytes)];
  if (divisions <= 1 || divisions > size_cap_bytes / min_block_bytes) return 0;
  if (bytes <= min_block_bytes * divisions) return 0;
  if (std::has_single_bit(bytes)) return bytes;
  std::uint64_t const floor = std::bit_floor(bytes);
  std::uint64_t const step = floor >> (std::bit_width(divisions) - 1);
  if (step == 0) return floor << 1;
  return (bytes + step - 1) / step * step;
}

allocator_rules read_allocator_rules(std::span<setting const> settings) {
  allocator_rules rules;
  // The configuration string first: the parsed settings beside it have the last word.
  for (setting const& one : settings) {
    if (one.key.ends_with("_ALLOC_CONF")) read_conf(one.value, rules);
  }
  constexpr std::string_view divisions_key = "roundup_power2_divisions.";
  for (setting const& one : settings) {
    std::string_view const key = one.key;
    if (key == "max_split_size") {
      auto const bytes = number(one.value);
      if (bytes) {
        rules.max_split_size = *bytes > 0 ? static_cast<std::uint64_t>(*bytes) : last_address;
      }
    } else if (key == "expandable_segments") {
      if (auto const value = truth(one.value); value) rules.expandable = value;
    } else if (key.starts_with(divisions_key)) {
      auto const mebibytes = number(key.substr(divisions_key.size()));
      auto const value = number(one.value);
      if (mebibytes && *mebibytes > 0 && value) {
        int const log2 =
            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*mebibytes))) - 1;
        rules.power2_divisions[static_cast<std::size_t>(std::min(log2, 15))] = as_division(*value);
      }
    }
  }
  rules.has_divisions = std::any_of(rules.power2_divisions.begin(), rules.power2_divisions.end(),
                                    [](std::uint64_t value) { return value > 1; });
  return rules;
}

std::uint64_t driver_bytes(std::uint64_t rounded, bool expandable) noexcept {
  if (rounded > size_cap_bytes - large_segment_bytes) return size_cap_bytes;
  if (!is_large(rounded)) return small_segment_bytes;
  if (expandable) return round_up(rounded, large_segment_bytes);
  return rounded < large_request_bytes ? large_segment_bytes
                                       : round_up(rounded, small_segment_bytes);
}

}  // namespace memreplay
