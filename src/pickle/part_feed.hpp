// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reads a pickle part by part, and the rows in the parts ahead of the machine on further threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/byte_source.hpp"
#include "pickle/part.hpp"
#include "pickle/row_reader.hpp"

namespace memreplay::pickle {

struct feed_options {
  int threads = 1;  ///< 1: everything happens in `next`
  /// A few parts with their rows fit into a core's own cache.
  std::size_t part_bytes = std::size_t{256} << 10;
  /// Called after each read, by the thread that has read, never by two at once; may be empty.
  std::function<void()> on_read = {};
};

/// Parts arrive in order. Reading from the source happens on whatever thread has time, never on two
/// at once; so does looking for rows, on as many as there are.
class part_feed {
 public:
  /// `source` must outlive the feed.
  explicit part_feed(base::byte_source& source, feed_options options = {});
  part_feed(part_feed const&) = delete;
  part_feed& operator=(part_feed const&) = delete;
  ~part_feed();

  /// The next part; null at the end. Throws what the source throws.
  [[nodiscard]] std::unique_ptr<part> next();
  /// Reads to the end of the source and forgets it.
  void drain();
  /// Gives back a part for reuse.
  void recycle(std::unique_ptr<part> used);

  /// What the machine learns here the readers use from then on.
  [[nodiscard]] form_list& forms() noexcept { return forms_; }
  [[nodiscard]] std::size_t readers() const noexcept;

 private:
  struct slot {
    std::unique_ptr<part> content;  ///< null: the end, or a failure
    std::exception_ptr failure;
    bool is_ready = false;
  };

  void work(row_reader& reader);
  [[nodiscard]] std::unique_ptr<part> next_in_order();
  [[nodiscard]] std::unique_ptr<part> read_part();
  [[nodiscard]] std::shared_ptr<slot> read_slot();
  void finish(slot& into, row_reader& reader);
  [[nodiscard]] bool has_room() const noexcept { return slots_.size() < 2 * readers_.size() + 2; }
  [[nodiscard]] bool is_at_end();

  base::byte_source& source_;
  feed_options options_;
  form_list forms_;

  std::mutex reading_;  ///< held while the source is read; taken before `state_`
  std::uint64_t bytes_read_ = 0;
  bool is_ended_ = false;

  std::mutex state_;
  std::condition_variable room_changed_;     ///< for the threads
  std::condition_variable front_changed_;    ///< for `next`
  std::deque<std::shared_ptr<slot>> slots_;  ///< in order
  std::vector<std::unique_ptr<part>> spare_;
  bool is_stopping_ = false;

  std::vector<std::unique_ptr<row_reader>> readers_;  ///< one a further thread, and one for `next`
  std::vector<std::thread> threads_;
};

}  // namespace memreplay::pickle
