// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The ring of buffers between the reader and a device, on a device that copies as late as it may.
#include "kernels/event_stage.hpp"

#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::test {
namespace {

/// Copies a buffer only when somebody waits for it, or at the end: whoever fills a slot too early
/// spoils what was to be copied.
class late_device {
 public:
  static constexpr int slot_count = 3;
  static constexpr std::size_t slot_bytes = 64 * 21 + 5;

  ~late_device() { EXPECT_TRUE(memory_.empty()) << "columns were not released"; }

  std::byte* wait_for(int slot) {
    while (reading_.contains(slot)) finish_one();
    return slots_[slot];
  }
  void copy(void* to, std::byte const* from, std::size_t bytes) {
    asked_.push_back({to, from, bytes, -1});
  }
  void done_with(int slot) {
    EXPECT_TRUE(reading_.insert(slot).second) << "slot " << slot << " was not waited for";
    asked_.push_back({nullptr, nullptr, 0, slot});
  }
  void* resize(void* memory, std::size_t used_bytes, std::size_t bytes) {
    finish();  // in order, as a stream would
    std::unique_ptr<std::byte[]> larger(new std::byte[bytes]);
    if (memory != nullptr) std::memcpy(larger.get(), memory, used_bytes);
    release(memory);
    std::byte* const place = larger.get();
    memory_.insert(std::move(larger));
    return place;
  }
  void release(void* memory) {
    std::erase_if(memory_, [memory](auto const& each) { return each.get() == memory; });
  }
  void finish() {
    while (!asked_.empty()) finish_one();
  }

 private:
  struct request {
    void* to;
    std::byte const* from;
    std::size_t bytes;
    int done_slot;
  };
  void finish_one() {
    request const next = asked_.front();
    asked_.pop_front();
    if (next.done_slot >= 0) {
      reading_.erase(next.done_slot);
    } else {
      std::memcpy(next.to, next.from, next.bytes);
    }
  }

  std::byte slots_[slot_count][slot_bytes];
  std::deque<request> asked_;
  std::set<int> reading_;
  std::set<std::unique_ptr<std::byte[]>> memory_;
};

struct read_columns {
  std::vector<action> what;
  std::vector<std::uint64_t> address, size;
  std::vector<stack_id> stack;

  explicit read_columns(std::int64_t count) {
    for (std::int64_t row = 0; row < count; ++row) {
      auto const number = static_cast<std::uint64_t>(row);
      what.push_back(static_cast<action>(number % 7));
      address.push_back(number << 40 | number);
      size.push_back(number * number);
      stack.push_back(stack_id{static_cast<std::uint32_t>(number + 3)});
    }
  }
  [[nodiscard]] kernels::event_view view(std::int64_t count) const {
    return {count, what.data(), address.data(), size.data(), stack.data()};
  }
};

template <class ValueT>
std::vector<ValueT> values(ValueT const* data, std::int64_t count) {
  return count == 0 ? std::vector<ValueT>() : std::vector<ValueT>(data, data + count);
}

void expect_equal(kernels::event_stage<late_device> const& stage, read_columns const& expected) {
  kernels::staged_columns const& found = stage.columns();
  ASSERT_EQ(stage.count(), static_cast<std::int64_t>(expected.what.size()));
  EXPECT_EQ(values(found.what, stage.count()), expected.what);
  EXPECT_EQ(values(found.address, stage.count()), expected.address);
  EXPECT_EQ(values(found.size, stage.count()), expected.size);
  EXPECT_EQ(values(found.stack, stage.count()), expected.stack);
}

TEST(event_stage, rows_arrive_however_they_come) {
  for (std::int64_t const count : {0, 1, 63, 64, 65, 640, 10'007}) {
    for (std::int64_t const step : {1, 7, 64, 100, 1000}) {
      late_device device;
      kernels::event_stage<late_device> stage(device);
      for (std::int64_t rows = 0; rows < count; rows += step) {
        read_columns const moved(rows);  // the columns are elsewhere in each call
        stage.take(moved.view(rows), false);
      }
      read_columns const all(count);
      stage.take(all.view(count), true);
      device.finish();
      expect_equal(stage, all);
    }
  }
}

TEST(event_stage, sends_whole_slots_until_all_are_there) {
  late_device device;
  kernels::event_stage<late_device> stage(device);
  read_columns const all(200);
  stage.take(all.view(63), false);
  EXPECT_EQ(stage.count(), 0);
  stage.take(all.view(130), false);
  EXPECT_EQ(stage.count(), 128);
  stage.take(all.view(130), false);
  EXPECT_EQ(stage.count(), 128) << "nothing new";
  stage.take(all.view(200), true);
  EXPECT_EQ(stage.count(), 200);
  stage.take(all.view(200), true);
  device.finish();
  expect_equal(stage, all);
}

}  // namespace
}  // namespace memreplay::test
