// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Pairs the START and END entries of annotations into ranges, and says what a moment falls into.
#include "report/annotations.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace memreplay::reporting {
namespace {

constexpr std::int64_t not_a_step = std::numeric_limits<std::int64_t>::min();
constexpr std::string_view step_marker = "ProfilerStep#";

std::int64_t step_number(std::string_view name) {
  std::size_t const at = name.find(step_marker);
  if (at == std::string_view::npos) return not_a_step;
  std::string_view const digits = name.substr(at + step_marker.size());
  std::int64_t number = not_a_step;
  auto const [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return failed == std::errc{} ? number : not_a_step;
}

using range_stack = std::vector<std::size_t>;

void drop_closed(range_stack& open, std::vector<annotation_range> const& ranges) {
  while (!open.empty() && ranges[open.back()].has_end) open.pop_back();
}

bool starts_later(annotation_range const& left, annotation_range const& right) {
  return left.start_us >= right.start_us;
}

}  // namespace

std::vector<annotation_range> pair_annotations(snapshot const& input) {
  std::vector<annotation_range> ranges;
  // Every open range stands in both stacks of its name; each stack drops what the other has closed.
  std::unordered_map<std::uint32_t, range_stack> open_by_name;
  std::map<std::pair<std::uint32_t, std::int32_t>, range_stack> open_by_name_and_device;
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (annotation const& entry : input.annotations) oldest = std::min(oldest, entry.time_us);

  for (annotation const& entry : input.annotations) {
    range_stack& open = open_by_name[to_row(entry.name)];
    range_stack& open_here = open_by_name_and_device[{to_row(entry.name), entry.device}];
    if (entry.is_start) {
      open.push_back(ranges.size());
      open_here.push_back(ranges.size());
      ranges.push_back({entry.name, entry.device, true, false, entry.time_us,
                        std::numeric_limits<std::int64_t>::max()});
      continue;
    }
    drop_closed(open_here, ranges);
    drop_closed(open, ranges);
    range_stack const& from = open_here.empty() ? open : open_here;
    if (from.empty()) {
      ranges.push_back({entry.name, entry.device, false, true, oldest, entry.time_us});
    } else {
      ranges[from.back()].has_end = true;
      ranges[from.back()].end_us = entry.time_us;
    }
  }
  return ranges;
}

annotation_table::annotation_table(snapshot const& input) : input_(input) {
  for (annotation_range const& range : pair_annotations(input)) {
    ranges_.push_back({range, step_number(input.strings[range.name])});
    devices_.insert(range.device);
  }
}

std::string annotation_table::within(std::int32_t device, std::int64_t time_us) const {
  // Threads that never touched a GPU say device 0, so a device that no entry names takes them all.
  bool const names_device = devices_.contains(device);
  annotation_range const* step = nullptr;
  annotation_range const* other = nullptr;
  for (auto const& [range, number] : ranges_) {
    if (time_us < range.start_us || time_us >= range.end_us) continue;
    bool const is_step = number != not_a_step;
    if (!is_step && names_device && range.device != device) continue;
    annotation_range const*& best = is_step ? step : other;
    if (best == nullptr || starts_later(range, *best)) best = &range;
  }
  std::string text;
  if (step != nullptr) text = input_.strings[step->name];
  if (step != nullptr && other != nullptr) text += " > ";
  if (other != nullptr) text += input_.strings[other->name];
  return text;
}

std::vector<annotation_range> annotation_table::ranges_besides_steps(std::int32_t device) const {
  bool const names_device = devices_.contains(device);
  std::vector<annotation_range> ranges;
  for (auto const& [range, number] : ranges_) {
    if (number == not_a_step && (!names_device || range.device == device)) ranges.push_back(range);
  }
  return ranges;
}

std::vector<step_row> annotation_table::steps() const {
  std::map<std::int64_t, step_row> by_number;
  for (auto const& [range, number] : ranges_) {
    if (number == not_a_step) continue;
    step_row& row = by_number[number];
    row.step = number;
    if (range.has_start)
      row.start_us = std::min(row.start_us.value_or(range.start_us), range.start_us);
    if (range.has_end) row.end_us = std::max(row.end_us.value_or(range.end_us), range.end_us);
  }
  std::vector<step_row> rows;
  for (auto& [number, row] : by_number) {
    row.complete = row.start_us && row.end_us;
    if (row.complete) {
      row.duration_ms =
          (static_cast<double>(*row.end_us) - static_cast<double>(*row.start_us)) / 1e3;
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<annotation_row> annotation_table::most_frequent(std::size_t limit,
                                                            annotation_rest_row& rest) const {
  std::unordered_map<std::uint32_t, std::int64_t> counts;
  for (auto const& [range, number] : ranges_) {
    if (number == not_a_step) ++counts[to_row(range.name)];
  }
  std::vector<annotation_row> rows;
  rows.reserve(counts.size());
  for (auto const& [name, count] : counts)
    rows.push_back({std::string(input_.strings[string_id{name}]), count});
  std::sort(rows.begin(), rows.end(), [](annotation_row const& left, annotation_row const& right) {
    return left.count != right.count ? left.count > right.count : left.name < right.name;
  });
  rest = {};
  for (std::size_t index = limit; index < rows.size(); ++index) {
    ++rest.names;
    rest.count += rows[index].count;
  }
  rows.resize(std::min(limit, rows.size()));
  return rows;
}

}  // namespace memreplay::reporting
