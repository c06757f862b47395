// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Builds small snapshots for tests, written as sentences: builder.alloc(0x1000, 512,
// stack).free(0x1000).
#include "support/snapshot_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace memreplay::testing {

snapshot_builder::snapshot_builder() {
  texts_.emplace("", string_id{0});
  made_.container = "pickle";
  made_.pickle_protocol = 4;
  made_.streams.push_back(0);
  made_.pools.push_back({});
}

string_id snapshot_builder::text(std::string_view value) {
  auto const known = texts_.find(value);
  if (known != texts_.end()) return known->second;
  return texts_.emplace(std::string(value), made_.strings.add(value)).first->second;
}

pool_index snapshot_builder::pool(pool_id id) {
  auto found = std::find(made_.pools.begin(), made_.pools.end(), id);
  if (found == made_.pools.end()) found = made_.pools.insert(made_.pools.end(), id);
  return static_cast<pool_index>(found - made_.pools.begin());
}

stack_id snapshot_builder::stack(std::initializer_list<frame_text> frames) {
  std::vector<std::uint32_t> rows;
  std::vector<frame_id> ids;
  for (frame_text const& one : frames) {
    frame const made{text(one.function), text(one.file), one.line};
    auto const [known, is_new] =
        frames_.try_emplace({to_row(made.function), to_row(made.file), made.line},
                            static_cast<frame_id>(made_.frames.size()));
    if (is_new) made_.frames.push_back(made);
    rows.push_back(to_row(known->second));
    ids.push_back(known->second);
  }
  auto const known = stacks_.find(rows);
  if (known != stacks_.end()) return known->second;
  return stacks_.emplace(rows, made_.stacks.add(ids)).first->second;
}

snapshot_builder& snapshot_builder::on_device(std::int32_t device) {
  device_ = device;
  return *this;
}

snapshot_builder& snapshot_builder::on_stream(std::uint64_t stream) {
  auto found = std::find(made_.streams.begin(), made_.streams.end(), stream);
  if (found == made_.streams.end()) found = made_.streams.insert(made_.streams.end(), stream);
  stream_ = static_cast<stream_id>(found - made_.streams.begin());
  return *this;
}

snapshot_builder& snapshot_builder::at_time(std::int64_t time_us) {
  time_us_ = time_us;
  return *this;
}

snapshot_builder& snapshot_builder::without_times() {
  has_times_ = false;
  return *this;
}

snapshot_builder& snapshot_builder::event(action what, std::uint64_t address, std::uint64_t size,
                                          stack_id stack) {
  auto const device = static_cast<std::size_t>(device_);
  if (traces_.size() <= device) traces_.resize(device + 1);
  traces_[device].push_back({what, address, size, stream_, stack, time_us_});
  ++time_us_;
  return *this;
}

snapshot_builder& snapshot_builder::alloc(std::uint64_t address, std::uint64_t size,
                                          stack_id stack) {
  event(action::alloc, address, size, stack);
  latest_alloc_.insert_or_assign(address, traces_[static_cast<std::size_t>(device_)].back());
  return *this;
}

snapshot_builder& snapshot_builder::free(std::uint64_t address) {
  return free_requested(address).free_completed(address);
}

snapshot_builder& snapshot_builder::free_requested(std::uint64_t address) {
  event_row const& born = latest_alloc_.at(address);
  return event(action::free_requested, address, born.size, born.stack);
}

snapshot_builder& snapshot_builder::free_completed(std::uint64_t address) {
  event_row const& born = latest_alloc_.at(address);
  return event(action::free_completed, address, born.size, born.stack);
}

snapshot_builder& snapshot_builder::segment_alloc(std::uint64_t address, std::uint64_t size) {
  return event(action::segment_alloc, address, size);
}

snapshot_builder& snapshot_builder::segment_free(std::uint64_t address, std::uint64_t size) {
  return event(action::segment_free, address, size);
}

snapshot_builder& snapshot_builder::oom(std::uint64_t size, std::uint64_t device_free,
                                        stack_id stack) {
  return event(action::oom, device_free, size, stack);
}

snapshot_builder& snapshot_builder::segment(std::uint64_t address, std::uint64_t total_size,
                                            pool_id pool_of) {
  memreplay::segment row;
  row.device = device_;
  row.address = address;
  row.total_size = total_size;
  row.stream = stream_;
  row.pool = pool(pool_of);
  row.first_block = static_cast<std::int64_t>(made_.blocks.size());
  made_.segments.push_back(row);
  made_.has_segments = true;
  return *this;
}

snapshot_builder& snapshot_builder::block(std::uint64_t address, std::uint64_t size,
                                          block_state state, stack_id stack) {
  made_.blocks.push_back({address, size, state == block_state::inactive ? 0 : size, state, stack});
  memreplay::segment& row = made_.segments.back();
  ++row.block_count;
  if (state != block_state::inactive) row.active_size += size;
  if (state != block_state::inactive) row.requested_size += size;
  if (state == block_state::active_allocated) row.allocated_size += size;
  return *this;
}

snapshot_builder& snapshot_builder::annotation_start(std::string_view name, std::int64_t time_us) {
  made_.annotations.push_back({text(name), true, device_, time_us});
  return *this;
}

snapshot_builder& snapshot_builder::annotation_end(std::string_view name, std::int64_t time_us) {
  made_.annotations.push_back({text(name), false, device_, time_us});
  return *this;
}

snapshot_builder& snapshot_builder::setting(std::string key, std::string value) {
  made_.settings.push_back({std::move(key), std::move(value)});
  return *this;
}

snapshot_builder& snapshot_builder::file_defect(audit_row row) {
  made_.defects.push_back(std::move(row));
  return *this;
}

snapshot snapshot_builder::build() {
  made_.has_traces = !traces_.empty();
  for (std::vector<event_row> const& trace : traces_) {
    made_.traces.push_back({static_cast<std::int64_t>(made_.events.size_rows()),
                            static_cast<std::int64_t>(trace.size())});
    for (event_row const& row : trace) {
      made_.events.what.push_back(row.what);
      made_.events.address.push_back(row.address);
      made_.events.size.push_back(row.size);
      made_.events.stream.push_back(row.stream);
      made_.events.stack.push_back(row.stack);
      if (has_times_) made_.events.time_us.push_back(row.time_us);
    }
  }
  return std::move(made_);
}

}  // namespace memreplay::testing
