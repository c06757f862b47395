// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Collects the stacks, frames and sites that a page names, each once, as long as there is room.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include <memreplay/snapshot.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/sites.hpp"

namespace memreplay::reporting {

/// Ask for the important stacks first: those that come when the room is used up are left out.
class stack_collector {
 public:
  /// The snapshot and the sites must outlive the collector.
  stack_collector(snapshot const& input, site_table& sites, std::int64_t most_bytes,
                  bool is_redacted);

  /// `no_row` when there is no room for it. The two markers are stacks without frames.
  [[nodiscard]] std::uint32_t row_of(stack_id stack);
  /// There is always room.
  [[nodiscard]] std::uint32_t row_of(site_id site);

  [[nodiscard]] shown_stacks take() noexcept { return std::move(made_); }

 private:
  [[nodiscard]] bool has_room_for(stack_id stack) const;
  [[nodiscard]] std::uint32_t row_of(frame_id frame);

  snapshot const& input_;
  site_table& sites_;
  std::int64_t room_;  ///< bytes of JSON that are left
  bool is_redacted_;
  std::unordered_map<std::uint32_t, std::uint32_t> row_by_stack_, row_by_frame_, row_by_site_;
  shown_stacks made_;
};

}  // namespace memreplay::reporting
