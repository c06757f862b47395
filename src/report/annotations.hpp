// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Pairs the START and END entries of annotations into ranges, and says what a moment falls into.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reporting {

/// A `record_function` range, half open: [start_us, end_us). An end that is not in the file lies
/// after all events (the dump was made inside the range). A start that is not in the file lies
/// before the oldest entry (the annotations have a ring buffer of their own).
struct annotation_range {
  string_id name{};
  std::int32_t device = 0;
  bool has_start = false;
  bool has_end = false;
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
};

/// Entries carry no thread, so they are paired by name: an END closes the latest open START of its
/// name, on its own device if there is one.
[[nodiscard]] std::vector<annotation_range> pair_annotations(snapshot const& input);

class annotation_table {
 public:
  explicit annotation_table(snapshot const& input);

  /// `ProfilerStep#3 > Optimizer.step#AdamW.step`: the innermost profiler step and the innermost
  /// other range that are open on the device at that time; either may be missing.
  [[nodiscard]] std::string within(std::int32_t device, std::int64_t time_us) const;

  /// The ranges that `within` looks through on this device, steps apart; in the file's order.
  [[nodiscard]] std::vector<annotation_range> ranges_besides_steps(std::int32_t device) const;

  /// Ascending by number; a number that occurs more than once spans all its ranges.
  [[nodiscard]] std::vector<step_row> steps() const;

  /// How often each name occurs, steps apart, most frequent first; at most `limit` names, the
  /// others as a rest.
  [[nodiscard]] std::vector<annotation_row> most_frequent(std::size_t limit,
                                                          annotation_rest_row& rest) const;

 private:
  struct named_range {
    annotation_range range;
    std::int64_t step;  ///< the number of a profiler step, or `not_a_step`
  };

  snapshot const& input_;
  std::vector<named_range> ranges_;
  std::unordered_set<std::int32_t> devices_;  ///< those that any entry names
};

}  // namespace memreplay::reporting
