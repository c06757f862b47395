// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Looking ahead takes nothing away.
#include "input/peeked_source.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/sources.hpp"

namespace memreplay::input {
namespace {

using testing::source_of;
using testing::stream_of;
using testing::text_of;

std::string text_of_start(peeked_source const& source) {
  return {reinterpret_cast<char const*>(source.start().data()), source.start().size()};
}

TEST(peeked_source, every_length_and_piece) {
  for (std::size_t const length : {std::size_t{0}, std::size_t{1}, peeked_bytes - 1, peeked_bytes,
                                   peeked_bytes + 1, std::size_t{10'000}}) {
    std::string content(length, 'x');
    for (std::size_t at = 0; at < length; ++at) content[at] = static_cast<char>('a' + at % 23);
    for (std::size_t const step : {std::size_t{1}, std::size_t{1000}, peeked_bytes, length + 1}) {
      peeked_source source(stream_of(content));
      EXPECT_EQ(text_of_start(source), content.substr(0, peeked_bytes));
      EXPECT_EQ(source.position(), 0U);
      EXPECT_EQ(text_of(source, step), content);
      EXPECT_EQ(source.position(), length);
      EXPECT_EQ(text_of_start(source), content.substr(0, peeked_bytes));
    }
  }
}

TEST(peeked_source, seeks) {
  std::string content(10'000, 'x');
  for (std::size_t at = 0; at < content.size(); ++at)
    content[at] = static_cast<char>('a' + at % 23);
  peeked_source source(source_of(content));
  EXPECT_EQ(source.size(), content.size());
  for (std::size_t const offset : {std::size_t{9'000}, std::size_t{0}, peeked_bytes - 1,
                                   peeked_bytes, std::size_t{17}, content.size()}) {
    EXPECT_TRUE(source.seek(offset));
    EXPECT_EQ(source.position(), offset);
    EXPECT_EQ(text_of(source), content.substr(offset));
  }
  peeked_source stream(stream_of(content));
  EXPECT_EQ(stream.size(), std::nullopt);
  EXPECT_FALSE(stream.seek(0));
  EXPECT_EQ(text_of(stream), content);
}

}  // namespace
}  // namespace memreplay::input
