// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The threads that read ahead.
#include "pickle/part_feed.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace memreplay::pickle {
namespace {

/// The machine cannot keep up with more.
constexpr int thread_limit = 32;

}  // namespace

part_feed::part_feed(base::byte_source& source, feed_options options)
    : source_(source), options_(std::move(options)) {
  int const threads = std::min(options_.threads, thread_limit);
  if (threads <= 1) return;
  // Number 0 is the machine's own reader.
  for (int reader = 1; reader <= threads; ++reader)
    readers_.push_back(std::make_unique<row_reader>(forms_, static_cast<std::size_t>(reader)));
  for (std::size_t reader = 0; reader + 1 < readers_.size(); ++reader) {
    try {
      threads_.emplace_back([this, reader] { work(*readers_[reader]); });
    } catch (std::system_error const&) {
      return;  // the system has no more threads; fewer do the same
    }
  }
}

part_feed::~part_feed() {
  {
    std::lock_guard const lock(state_);
    is_stopping_ = true;
  }
  room_changed_.notify_all();
  for (std::thread& each : threads_) each.join();
}

std::size_t part_feed::readers() const noexcept { return readers_.size() + 1; }

void part_feed::recycle(std::unique_ptr<part> used) {
  if (used->capacity() != options_.part_bytes) return;
  used->rows.clear();
  std::lock_guard const lock(state_);
  spare_.push_back(std::move(used));
}

/// Under `reading_`.
std::unique_ptr<part> part_feed::read_part() {
  if (is_ended_) return nullptr;
  std::unique_ptr<part> made;
  {
    std::lock_guard const lock(state_);
    if (!spare_.empty()) {
      made = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!made) made = std::make_unique<part>(options_.part_bytes);
  std::size_t const got =
      source_.read({reinterpret_cast<std::byte*>(made->first()), made->capacity()});
  made->set_size(got);
  made->offset = bytes_read_;
  bytes_read_ += got;
  is_ended_ = got < made->capacity();
  if (options_.on_read) options_.on_read();
  if (got == 0) return nullptr;
  return made;
}

bool part_feed::is_at_end() {
  std::lock_guard const lock(reading_);
  return is_ended_;
}

/// Reads a part, which takes its place in the queue; null at the end, or when there is no room.
std::shared_ptr<part_feed::slot> part_feed::read_slot() {
  std::lock_guard const reading(reading_);
  if (is_ended_) return nullptr;
  {
    std::lock_guard const lock(state_);
    if (!has_room()) return nullptr;
  }
  auto made = std::make_shared<slot>();
  try {
    made->content = read_part();
    if (!made->content) return nullptr;
  } catch (...) {
    made->failure = std::current_exception();
    is_ended_ = true;
  }
  std::lock_guard const lock(state_);
  slots_.push_back(made);
  return made;
}

void part_feed::finish(slot& into, row_reader& reader) {
  if (into.content && !into.failure) {
    try {
      reader.read_all(into.content->first(), into.content->last(), into.content->rows);
    } catch (...) {
      into.failure = std::current_exception();
    }
  }
  std::lock_guard const lock(state_);
  into.is_ready = true;
  if (slots_.front().get() == &into) front_changed_.notify_one();
}

void part_feed::work(row_reader& reader) {
  for (;;) {
    {
      std::unique_lock lock(state_);
      room_changed_.wait(lock, [this] { return is_stopping_ || has_room(); });
      if (is_stopping_) return;
    }
    if (std::shared_ptr<slot> const mine = read_slot()) {
      finish(*mine, reader);
    } else if (is_at_end()) {
      return;
    }
  }
}

std::unique_ptr<part> part_feed::next() {
  if (!threads_.empty()) return next_in_order();
  std::lock_guard const lock(reading_);
  return read_part();
}

void part_feed::drain() {
  while (std::unique_ptr<part> rest = next()) recycle(std::move(rest));
}

std::unique_ptr<part> part_feed::next_in_order() {
  auto const is_front_ready = [this] { return !slots_.empty() && slots_.front()->is_ready; };
  for (;;) {
    {
      std::unique_lock lock(state_);
      if (!is_front_ready() && !has_room()) front_changed_.wait(lock, is_front_ready);
      if (is_front_ready()) {
        std::shared_ptr<slot> const front = slots_.front();
        bool const was_full = !has_room();
        slots_.pop_front();
        lock.unlock();
        if (was_full) room_changed_.notify_all();
        if (front->failure) std::rethrow_exception(front->failure);
        return std::move(front->content);
      }
    }
    // Waiting would waste a core: read the next part and look for its rows.
    if (std::shared_ptr<slot> const mine = read_slot()) {
      finish(*mine, *readers_.back());
    } else if (is_at_end()) {
      std::unique_lock lock(state_);
      if (slots_.empty()) return nullptr;
      front_changed_.wait(lock, is_front_ready);
    }
  }
}

}  // namespace memreplay::pickle
