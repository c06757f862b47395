// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The checks, one function a subject.
#include "snapshot/sanity.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <memreplay/error.hpp>

namespace memreplay::reading {
namespace {

/// 256 TiB: no device has it, and 2^14 such values still add up without a wrap.
constexpr std::uint64_t absurd_bytes = std::uint64_t{1} << 48;
constexpr std::uint64_t total_limit = std::uint64_t{1} << 62;

void check_size(std::uint64_t bytes) {
  if (bytes > absurd_bytes) {
    throw error(error_code::refused,
                fmt::format("refused: a size of {} bytes; no memory is that large", bytes));
  }
}

class total {
 public:
  void add(std::uint64_t bytes) {
    check_size(bytes);
    sum_ += bytes;
    if (sum_ > total_limit)
      throw error(error_code::refused, "refused: sizes that add up to more than 4 EiB");
  }

 private:
  std::uint64_t sum_ = 0;
};

void check_sizes(snapshot const& input) {
  total events;
  for (std::size_t row = 0; row < input.events.size_rows(); ++row) {
    action const what = input.events.what[row];
    if (what <= action::segment_unmap) {
      events.add(input.events.size[row]);
    } else if (what == action::oom) {
      check_size(input.events.size[row]);
      check_size(input.events.address[row]);
    } else if (what == action::snapshot) {
      check_size(input.events.size[row]);
    }
  }
  total segments;
  for (segment const& part : input.segments) {
    for (std::uint64_t const bytes :
         {part.total_size, part.allocated_size, part.active_size, part.requested_size}) {
      segments.add(bytes);
    }
  }
  total blocks;
  for (block const& part : input.blocks) {
    blocks.add(part.size);
    if (part.state != block_state::inactive) blocks.add(part.requested_size);
  }
}

void check_times(snapshot& input, oddities const& odd) {
  column<std::int64_t> const& times = input.events.time_us;
  std::int64_t steps_back = 0;
  std::int64_t largest = 0;
  for (trace_range const& trace : input.traces) {
    if (times.empty()) break;
    for (std::int64_t row = trace.first + 1; row < trace.first + trace.count; ++row) {
      auto const at = static_cast<std::size_t>(row);
      if (times[at] >= times[at - 1]) continue;
      ++steps_back;
      // Hostile times may lie further apart than the type can say.
      std::uint64_t const by =
          static_cast<std::uint64_t>(times[at - 1]) - static_cast<std::uint64_t>(times[at]);
      largest =
          std::max(largest, static_cast<std::int64_t>(std::min<std::uint64_t>(by, INT64_MAX)));
    }
  }
  if (steps_back > 0) {
    input.defects.push_back({"time_steps_back", severity::notice, steps_back, 0,
                             fmt::format("time runs backwards at {} events, by at most {} us; the "
                                         "order of the list is what counts",
                                         steps_back, largest),
                             ""});
  }
  if (odd.events_without_time > 0 && input.events.size_rows() > 0) {
    bool const none = times.empty();
    input.defects.push_back({"events_without_time", severity::info, odd.events_without_time, 0,
                             none ? "events have no time (older than PyTorch 2.2, or another "
                                    "writer): positions are event numbers"
                                  : fmt::format("{} events have no time", odd.events_without_time),
                             ""});
  }
}

void check_segments(snapshot& input) {
  std::int64_t bad_sums = 0;
  std::int64_t overlaps = 0;
  for (segment const& part : input.segments) {
    std::uint64_t total = 0;
    std::uint64_t allocated = 0;
    std::uint64_t next = part.address;
    for (std::int64_t row = 0; row < part.block_count; ++row) {
      block const& piece = input.blocks[static_cast<std::size_t>(part.first_block + row)];
      total += piece.size;
      if (piece.state == block_state::active_allocated) allocated += piece.size;
      if (piece.address < next) ++overlaps;
      next = piece.address + piece.size;
    }
    if (total != part.total_size || allocated != part.allocated_size) ++bad_sums;
  }
  if (bad_sums > 0) {
    input.defects.push_back(
        {"segment_sum_mismatch", severity::error, bad_sums, 0,
         fmt::format("in {} segments the blocks do not add up to the segment's own totals",
                     bad_sums),
         "the file was edited, or made by another tool"});
  }
  if (overlaps > 0) {
    input.defects.push_back({"overlapping_blocks", severity::error, overlaps, 0,
                             fmt::format("{} blocks overlap the one before", overlaps), ""});
  }
}

void add_counted(audit& defects, std::map<std::string, std::int64_t> const& names,
                 std::string const& kind, std::string const& sentence) {
  std::int64_t count = 0;
  std::string list;
  int shown = 0;
  for (auto const& [name, times] : names) {
    count += times;
    if (++shown <= 8) list += (list.empty() ? "" : ", ") + name;
  }
  if (count == 0) return;
  if (shown > 8) list += ", ...";
  defects.push_back({kind, severity::info, count, 0, sentence + ": " + list, ""});
}

}  // namespace

void check_sanity(snapshot& input, oddities const& odd) {
  check_sizes(input);
  audit& defects = input.defects;
  if (odd.malformed_values > 0) {
    defects.push_back({"malformed_values", severity::error, odd.malformed_values, 0,
                       fmt::format("{} values have the wrong type and were read as missing",
                                   odd.malformed_values),
                       ""});
  }
  if (odd.foreign_items > 0) {
    defects.push_back({"foreign_items", severity::error, odd.foreign_items, 0,
                       fmt::format("{} list items are not what their list holds and were left out",
                                   odd.foreign_items),
                       ""});
  }
  if (odd.negative_sizes > 0) {
    defects.push_back({"negative_sizes", severity::error, odd.negative_sizes, 0,
                       fmt::format("{} sizes are negative and were read as 0", odd.negative_sizes),
                       ""});
  }
  if (odd.left_out_values > 0) {
    defects.push_back({"left_out_values", severity::notice, odd.left_out_values, 0,
                       fmt::format("{} values of settings or metadata are beyond the room for them "
                                   "and were left out",
                                   odd.left_out_values),
                       ""});
  }
  if (odd.left_out_frames > 0) {
    defects.push_back({"left_out_frames", severity::notice, odd.left_out_frames, 0,
                       fmt::format("{} outermost frames of absurdly deep stacks were left out",
                                   odd.left_out_frames),
                       ""});
  }
  if (odd.host_events + odd.host_segments > 0) {
    defects.push_back({"host_memory_not_analysed", severity::info,
                       odd.host_events + odd.host_segments, 0,
                       fmt::format("the file also records pinned host memory ({} events, {} "
                                   "segments), which is not analysed",
                                   odd.host_events, odd.host_segments),
                       ""});
  }
  add_counted(defects, odd.unknown_actions, "unknown_actions",
              "events with actions this version does not know, kept without effect");
  add_counted(defects, odd.unknown_keys, "unknown_keys",
              "keys this version does not know, skipped");
  if (!input.has_traces || input.events.size_rows() == 0) {
    defects.push_back(
        {"no_history", severity::data_loss, 1, 0,
         "the file holds no allocation history, only the state at the end",
         "call torch.cuda.memory._record_memory_history() before the work that matters"});
  }
  check_times(input, odd);
  check_segments(input);
}

}  // namespace memreplay::reading
