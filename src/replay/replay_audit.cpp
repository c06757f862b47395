// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The sentences of the audit: what happened, what it means for the numbers, what to do next time.
#include "replay/replay_audit.hpp"

#include <string>

namespace memreplay {
namespace {

struct sentence {
  char const* kind;
  severity level;
  char const* message;
  char const* advice;
};

void add_row(sentence const& text, std::int64_t count, std::int64_t bytes, audit& defects) {
  if (count == 0) return;
  defects.push_back({text.kind, text.level, count, bytes, text.message, text.advice});
}

constexpr sentence unmatched_frees{"unmatched_frees", severity::info,
                                   "Frees of memory that is older than the trace: it counts from "
                                   "the start until its free, under the stack "
                                   "of that free.",
                                   "Start recording before the first allocation, with a larger "
                                   "max_entries, to see who allocated it."};
constexpr sentence unmatched_completions{"unmatched_completions", severity::info,
                                         "Completed frees whose request came before the trace: "
                                         "this memory counts as active until then, and never "
                                         "as allocated.",
                                         ""};
constexpr sentence never_freed{
    "carried_in_blocks", severity::info,
    "Blocks of the end state that the trace never mentions: they count from the start to the end.",
    ""};
constexpr sentence pending_carried_in{"carried_in_pending", severity::info,
                                      "Blocks freed before the trace and still waiting for another "
                                      "stream at its end: active, not allocated.",
                                      ""};
constexpr sentence double_allocs{"double_allocs", severity::data_loss,
                                 "Allocations at an address still in use: the free between them is "
                                 "missing, so the older memory counts "
                                 "until the newer allocation.",
                                 "Record with a larger max_entries and without skip_actions."};
constexpr sentence double_free_requests{
    "double_free_requests", severity::error,
    "Second free requests of memory already waiting to be freed: they have no effect.", ""};
constexpr sentence size_mismatches{
    "free_size_mismatches", severity::error,
    "Frees that give another size than the allocation did: the allocation's size counts.", ""};
constexpr sentence pending_at_end{
    "pending_at_end", severity::info,
    "Memory freed by the program but still in use by another stream when the trace ends.", ""};
constexpr sentence live_not_in_segments{"live_not_in_segments", severity::notice,
                                        "Memory that the trace leaves in use but the segments do "
                                        "not hold: a few are normal when other threads "
                                        "ran during the dump.",
                                        ""};
constexpr sentence freed_but_in_segments{
    "freed_but_in_segments", severity::notice,
    "Blocks that the segments hold although the trace freed them last: the segments are a few "
    "events newer than "
    "the trace.",
    "Stop other threads from allocating while the snapshot is taken."};
constexpr sentence end_size_mismatches{
    "end_size_mismatches", severity::error,
    "Memory in use at the end whose block asks for another size than its allocation did.", ""};
constexpr sentence repeated_blocks{"repeated_blocks", severity::error,
                                   "Blocks of the end state that share their address with another "
                                   "one: only the first of them counts.",
                                   ""};
constexpr sentence no_end_state{"no_end_state", severity::data_loss,
                                "The file has no segments: memory older than the trace and not "
                                "freed in it is missing from every value.",
                                "Write the file with torch.cuda.memory._dump_snapshot()."};

std::int64_t minus(std::int64_t left, std::int64_t right) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) -
                                   static_cast<std::uint64_t>(right));
}

}  // namespace

start_values check_start(curve_summary const& curve, std::int64_t end_state_bytes) noexcept {
  return {curve.start_bytes, minus(end_state_bytes, minus(curve.end_bytes, curve.start_bytes))};
}

void add_count_rows(replay_counts const& counts, audit& defects) {
  add_row(unmatched_frees, counts.unmatched_frees, counts.unmatched_free_bytes, defects);
  add_row(unmatched_completions, counts.unmatched_completed_only,
          counts.unmatched_completed_only_bytes, defects);
  add_row(never_freed, counts.never_freed, counts.never_freed_bytes, defects);
  add_row(pending_carried_in, counts.pending_carried_in, counts.pending_carried_in_bytes, defects);
  add_row(pending_at_end, counts.pending_at_end, 0, defects);
  add_row(live_not_in_segments, counts.live_not_in_segments, counts.live_not_in_segments_bytes,
          defects);
  add_row(freed_but_in_segments, counts.freed_but_in_segments, counts.freed_but_in_segments_bytes,
          defects);
  add_row(double_allocs, counts.double_allocs, 0, defects);
  add_row(double_free_requests, counts.double_free_requests, 0, defects);
  add_row(size_mismatches, counts.size_mismatches, 0, defects);
  add_row(end_size_mismatches, counts.end_size_mismatches, 0, defects);
}

void add_start_row(char const* name, start_values const& values, audit& defects) {
  if (values.agree()) return;
  std::int64_t const apart = values.from_lifetimes > values.from_end_state
                                 ? minus(values.from_lifetimes, values.from_end_state)
                                 : minus(values.from_end_state, values.from_lifetimes);
  defects.push_back(
      {"start_value_mismatch", severity::error, 1, apart,
       std::string("The ") + name + " bytes before the first event are " +
           std::to_string(values.from_lifetimes) +
           " by the memory that is older than the trace, but " +
           std::to_string(values.from_end_state) +
           " by the end state minus the trace: values of this curve can be off by the difference.",
       ""});
}

void add_reserved_row(curve_summary const& reserved, audit& defects) {
  if (reserved.start_bytes >= 0) return;
  defects.push_back({"start_value_mismatch", severity::error, 1, minus(0, reserved.start_bytes),
                     "The reserved bytes before the first event are " +
                         std::to_string(reserved.start_bytes) +
                         " by the end state minus the trace, but cannot be less than 0: the "
                         "segments and the trace "
                         "do not belong together.",
                     ""});
}

void add_input_rows(device_input const& input, audit& defects) {
  add_row(repeated_blocks, input.repeated_blocks, 0, defects);
  if (!input.has_end_state && input.events > 0) add_row(no_end_state, 1, 0, defects);
}

}  // namespace memreplay
