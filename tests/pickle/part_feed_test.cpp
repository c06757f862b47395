// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Parts arrive whole and in order, whoever read them, and so do failures.
#include "pickle/part_feed.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

namespace memreplay::pickle {
namespace {

/// Gives `size` bytes, the n-th of which is n % 251, then fails or ends.
class counting_source final : public base::byte_source {
 public:
  counting_source(std::size_t size, bool fails) : size_(size), fails_(fails) {}
  std::size_t read(std::span<std::byte> into) override {
    std::size_t const count = std::min(into.size(), size_ - at_);
    for (std::size_t row = 0; row < count; ++row) into[row] = static_cast<std::byte>(at_++ % 251);
    if (count < into.size() && fails_) throw error(error_code::damaged, "broken");
    return count;
  }

 private:
  std::size_t size_;
  bool fails_;
  std::size_t at_ = 0;
};

TEST(part_feed, every_byte_in_order) {
  for (int const threads : {1, 2, 3, 7}) {
    for (std::size_t const size : {0U, 1U, 99U, 100U, 101U, 12'345U}) {
      counting_source source(size, false);
      part_feed feed(source, {.threads = threads, .part_bytes = 100});
      std::size_t at = 0;
      while (std::unique_ptr<part> each = feed.next()) {
        EXPECT_EQ(each->offset, at);
        for (std::uint8_t const* byte = each->first(); byte != each->last(); ++byte)
          ASSERT_EQ(*byte, at++ % 251);
        for (std::size_t slack = 0; slack < read_slack; ++slack) ASSERT_EQ(each->last()[slack], 0);
        feed.recycle(std::move(each));
      }
      EXPECT_EQ(at, size);
      EXPECT_EQ(feed.next(), nullptr);
    }
  }
}

TEST(part_feed, a_failure_comes_after_the_bytes_before_it) {
  for (int const threads : {1, 2, 3}) {
    counting_source source(950, true);
    part_feed feed(source, {.threads = threads, .part_bytes = 100});
    for (int parts = 0; parts < 9; ++parts) {
      std::unique_ptr<part> const each = feed.next();
      ASSERT_NE(each, nullptr);
      EXPECT_EQ(each->offset, 100U * static_cast<unsigned>(parts));
    }
    EXPECT_THROW((void)feed.next(), error);
  }
}

TEST(part_feed, draining_finds_a_failure) {
  for (int const threads : {1, 2, 3}) {
    counting_source source(5000, true);
    part_feed feed(source, {.threads = threads, .part_bytes = 100});
    EXPECT_NE(feed.next(), nullptr);
    EXPECT_THROW(feed.drain(), error);
  }
}

TEST(part_feed, may_be_left_early) {
  for (int const threads : {1, 2, 7}) {
    counting_source source(1'000'000, false);
    part_feed feed(source, {.threads = threads, .part_bytes = 100});
    EXPECT_NE(feed.next(), nullptr);
  }
}

TEST(part_feed, tells_each_read) {
  for (int const threads : {1, 3}) {
    counting_source source(1000, false);
    int reads = 0;
    part_feed feed(source,
                   {.threads = threads, .part_bytes = 100, .on_read = [&reads] { ++reads; }});
    feed.drain();
    EXPECT_EQ(reads, 11);
  }
}

}  // namespace
}  // namespace memreplay::pickle
