// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Builds small snapshots for tests, written as sentences: builder.alloc(0x1000, 512,
// stack).free(0x1000).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <memreplay/snapshot.hpp>

namespace memreplay::testing {

struct frame_text {
  std::string_view function;
  std::string_view file;
  std::uint64_t line = 0;
};

/// Events go to the current device (0 at first) at the current time, which each event advances by 1
/// us.
class snapshot_builder {
 public:
  snapshot_builder();

  /// Interns; innermost frame first. Equal stacks have one id.
  stack_id stack(std::initializer_list<frame_text> frames);

  snapshot_builder& on_device(std::int32_t device);
  snapshot_builder& on_stream(std::uint64_t stream);
  snapshot_builder& at_time(std::int64_t time_us);
  /// No event of the snapshot has a time.
  snapshot_builder& without_times();

  snapshot_builder& event(action what, std::uint64_t address, std::uint64_t size,
                          stack_id stack = no_stack);
  snapshot_builder& alloc(std::uint64_t address, std::uint64_t size, stack_id stack = no_stack);
  /// Request and completion, with the size and stack of the latest alloc there.
  snapshot_builder& free(std::uint64_t address);
  snapshot_builder& free_requested(std::uint64_t address);
  snapshot_builder& free_completed(std::uint64_t address);
  snapshot_builder& segment_alloc(std::uint64_t address, std::uint64_t size);
  snapshot_builder& segment_free(std::uint64_t address, std::uint64_t size);
  snapshot_builder& oom(std::uint64_t size, std::uint64_t device_free, stack_id stack = no_stack);

  /// Opens a segment of the current device; blocks that follow belong to it and fill its sums.
  snapshot_builder& segment(std::uint64_t address, std::uint64_t total_size, pool_id pool = {});
  snapshot_builder& block(std::uint64_t address, std::uint64_t size, block_state state,
                          stack_id stack = no_stack);

  snapshot_builder& annotation_start(std::string_view name, std::int64_t time_us);
  snapshot_builder& annotation_end(std::string_view name, std::int64_t time_us);
  snapshot_builder& setting(std::string key, std::string value);
  snapshot_builder& file_defect(audit_row row);

  /// The snapshot so far; the builder is used up.
  [[nodiscard]] snapshot build();

 private:
  struct event_row {
    action what;
    std::uint64_t address, size;
    stream_id stream;
    stack_id stack;
    std::int64_t time_us;
  };

  string_id text(std::string_view value);
  pool_index pool(pool_id id);

  snapshot made_;
  std::map<std::string, string_id, std::less<>> texts_;
  std::map<std::vector<std::uint64_t>, frame_id> frames_;
  std::map<std::vector<std::uint32_t>, stack_id> stacks_;
  std::vector<std::vector<event_row>> traces_;
  std::map<std::uint64_t, event_row> latest_alloc_;
  std::int32_t device_ = 0;
  stream_id stream_{};
  std::int64_t time_us_ = 1'700'000'000'000'000;
  bool has_times_ = true;
};

}  // namespace memreplay::testing
