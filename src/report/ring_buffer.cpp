// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Whether the recorder's ring buffer has lost the beginning of a trace.
#include "report/ring_buffer.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace memreplay::reporting {
namespace {

constexpr std::int64_t fewest_events =
    1000;  // below it a round number is chance, and rings are not so small

/// The number a setting gives to a device: a scalar, or a list or dictionary by device; booleans as
/// 0 and 1.
std::optional<std::int64_t> device_setting(snapshot const& input, std::string_view name,
                                           std::int32_t device) {
  auto const number = [](nlohmann::json const& value) -> std::optional<std::int64_t> {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (value.is_number_integer()) return value.get<std::int64_t>();
    return std::nullopt;
  };
  for (setting const& row : input.settings) {
    bool const is_own = row.key == fmt::format("{}.{}", name, device);
    if (row.key != name && !is_own) continue;
    std::string text = row.value;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    nlohmann::json const value = nlohmann::json::parse(text, nullptr, false);
    if (!value.is_array()) return number(value);
    auto const index = static_cast<std::size_t>(device);
    return device >= 0 && index < value.size() ? number(value[index]) : std::nullopt;
  }
  return std::nullopt;
}

/// A power of two, or at most two digits and then zeros: 10,000, 65,536, 400,000, 1,000,000.
bool is_round(std::int64_t count) {
  if (count < fewest_events) return false;
  if ((count & (count - 1)) == 0) return true;
  while (count % 10 == 0) count /= 10;
  return count < 100;
}

bool starts_mid_free(trace_view const& trace, device_replay const& replayed) {
  return trace.count() >= fewest_events && trace.what(0) == action::free_completed &&
         replayed.action_counts[static_cast<int>(action::free_requested)] > 0;
}

}  // namespace

ring_state find_ring_state(snapshot const& input, trace_view const& trace,
                           device_replay const& replayed) {
  std::int64_t const events = replayed.events;
  if (auto const flag = device_setting(input, "trace_alloc_overflowed", replayed.device)) {
    return *flag != 0
               ? ring_state{true, "the file says so (trace_alloc_overflowed)"}
               : ring_state{false, "the file says that nothing was lost (trace_alloc_overflowed)"};
  }
  auto const limit = device_setting(input, "trace_alloc_max_entries", replayed.device);
  if (limit && *limit > 1) {
    if (events < *limit) return {};
    return {true, fmt::format("the trace is full: {} events, trace_alloc_max_entries is {}", events,
                              *limit)};
  }
  if (is_round(events) && replayed.counts.unmatched_frees > 0) {
    return {
        true,
        fmt::format(
            "inferred: exactly {} events, {} of them free memory that the trace did not allocate",
            events, replayed.counts.unmatched_frees)};
  }
  if (starts_mid_free(trace, replayed)) {
    return {true, "inferred: the first event completes a free whose request is not in the trace"};
  }
  return {};
}

}  // namespace memreplay::reporting
