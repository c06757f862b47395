// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// One id for equal strings, frames and stacks.
#include "snapshot/interning.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::reading {
namespace {

TEST(interning, strings) {
  snapshot into;
  interner names(into);
  EXPECT_EQ(names.string(""), string_id{0});
  std::vector<string_id> ids;
  for (int row = 0; row < 2000; ++row) ids.push_back(names.string("name " + std::to_string(row)));
  for (int row = 0; row < 2000; ++row) {
    std::string const name = "name " + std::to_string(row);
    EXPECT_EQ(names.string(name), ids[static_cast<std::size_t>(row)]);
    EXPECT_EQ(into.strings[ids[static_cast<std::size_t>(row)]], name);
  }
  EXPECT_EQ(into.strings.size(), 2001U);
  EXPECT_NE(names.string(std::string("a\0b", 3)), names.string("a"));
}

TEST(interning, frames) {
  snapshot into;
  interner names(into);
  frame const one{names.string("f"), names.string("a.py"), 1};
  frame const other{names.string("f"), names.string("a.py"), 2};
  EXPECT_EQ(names.frame(one), names.frame(one));
  EXPECT_NE(names.frame(one), names.frame(other));
  EXPECT_EQ(into.frames.size(), 2U);
}

TEST(interning, stacks) {
  snapshot into;
  interner names(into);
  std::vector<frame_id> const forward{frame_id{1}, frame_id{2}};
  std::vector<frame_id> const backward{frame_id{2}, frame_id{1}};
  stack_id const empty = names.stack({});
  EXPECT_EQ(names.stack({}), empty);
  EXPECT_EQ(names.stack(forward), names.stack(forward));
  EXPECT_NE(names.stack(forward), names.stack(backward));
  EXPECT_NE(names.stack(forward), empty);
  EXPECT_EQ(into.stacks.size(), 3U);
  EXPECT_EQ(into.stacks[names.stack(backward)].front(), frame_id{2});
}

TEST(interning, equal_hashes_are_told_apart) {
  row_index rows;
  std::vector<int> const content{10, 11, 12};
  for (std::uint32_t row = 0; row < 3; ++row) rows.insert(7, row);
  for (std::uint32_t row = 0; row < 3; ++row) {
    int const wanted = content[row];
    EXPECT_EQ(rows.find(7, [&](std::uint32_t at) { return content[at] == wanted; }), row);
  }
  EXPECT_EQ(rows.find(7, [](std::uint32_t) { return false; }), row_index::absent);
  EXPECT_EQ(rows.find(8, [](std::uint32_t) { return true; }), row_index::absent);
}

}  // namespace
}  // namespace memreplay::reading
