// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The shared tables of a snapshot and the names of actions.
#include <memreplay/snapshot.hpp>

namespace memreplay {

char const* to_string(action value) noexcept {
  static constexpr char const* names[action_count] = {
      "alloc",        "free_requested", "free_completed", "segment_alloc",
      "segment_free", "segment_map",    "segment_unmap",  "oom",
      "snapshot",     "annotate",       "other"};
  return names[static_cast<int>(value)];
}

string_table::string_table() { add({}); }

std::string_view string_table::operator[](string_id id) const noexcept {
  std::uint32_t const row = to_row(id);
  std::uint64_t const first = row == 0 ? 0 : ends_[row - 1];
  return {bytes_.data() + first, static_cast<std::size_t>(ends_[row] - first)};
}

string_id string_table::add(std::string_view text) {
  bytes_.append(std::span<char const>{text.data(), text.size()});
  ends_.push_back(bytes_.size());
  return string_id{static_cast<std::uint32_t>(ends_.size() - 1)};
}

std::span<frame_id const> stack_table::operator[](stack_id id) const noexcept {
  std::uint32_t const row = to_row(id);
  std::uint64_t const first = row == 0 ? 0 : ends_[row - 1];
  return {frames_.data() + first, static_cast<std::size_t>(ends_[row] - first)};
}

stack_id stack_table::add(std::span<frame_id const> frames) {
  frames_.append(frames);
  ends_.push_back(frames_.size());
  return stack_id{static_cast<std::uint32_t>(ends_.size() - 1)};
}

}  // namespace memreplay
