// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Small containers without a row of their own (settings, odd metadata), kept as JSON within a
// budget.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <memreplay/snapshot.hpp>

#include "pickle/value.hpp"

namespace memreplay::reading {

using json = nlohmann::ordered_json;

/// Containers are copied into their parents, so a file that shares one over and over could ask for
/// exponential room: each container may hold 10'000 values and be 16 deep, all together 1'000'000
/// values, where 64 bytes of text weigh as much as a value. What is beyond is left out and counted.
class loose_values {
 public:
  /// `texts` are what text values name; `pools` are the pairs of integers that have a row of their
  /// own. Both must outlive this.
  loose_values(string_table const& texts, std::vector<pool_id> const& pools)
      : texts_(texts), pools_(pools) {}

  /// Row of the new container.
  [[nodiscard]] std::uint64_t add_dict(std::span<pickle::value const> key_values);
  [[nodiscard]] std::uint64_t add_list(std::span<pickle::value const> items);
  /// Adds to a container that goes on.
  void extend_dict(std::uint64_t row, std::span<pickle::value const> key_values);
  void extend_list(std::uint64_t row, std::span<pickle::value const> items);

  [[nodiscard]] json const& operator[](std::uint64_t row) const { return entries_[row].content; }
  /// A value of any kind as JSON; containers that are not loose become null.
  [[nodiscard]] json to_json(pickle::value const& item) const;
  [[nodiscard]] std::int64_t dropped() const noexcept { return dropped_; }

 private:
  struct entry {
    json content;
    std::uint32_t values = 0;
    std::uint32_t depth = 1;
  };
  /// Whether `item` still fits into `into`; takes its share of the budget if so.
  bool admit(entry& into, pickle::value const& item);
  [[nodiscard]] std::uint64_t weight_of(pickle::value const& item) const;

  [[nodiscard]] std::string_view text_of(pickle::value const& item) const {
    return texts_[string_id{static_cast<std::uint32_t>(item.bits)}];
  }

  string_table const& texts_;
  std::vector<pool_id> const& pools_;
  std::vector<entry> entries_;
  std::uint64_t total_values_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace memreplay::reading
