// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Paths of any machine, by component.
#include "report/path_parts.hpp"

#include <gtest/gtest.h>

namespace memreplay::reporting {
namespace {

TEST(path_parts, posix) {
  path_parts const path("/a//b/./c/../d.py");
  EXPECT_EQ(path.text(), "/a/b/d.py");
  EXPECT_EQ(path.size(), 3U);
  EXPECT_EQ(path.file_name(), "d.py");
  EXPECT_EQ(path.last(2), "b/d.py");
  EXPECT_EQ(path.last(9), "a/b/d.py");
  EXPECT_EQ(path.tail_from(3), "");
}

TEST(path_parts, nothing_is_above_the_top_but_above_a_relative_path_is) {
  EXPECT_EQ(path_parts("/../a").text(), "/a");
  EXPECT_EQ(path_parts("../a/../../b").text(), "../../b");
}

TEST(path_parts, windows) {
  path_parts const path("c:\\Users\\bob\\x.py");
  EXPECT_EQ(path.anchor(), "C:/");
  EXPECT_EQ(path.text(), "C:/Users/bob/x.py");
  EXPECT_EQ(path_parts("\\\\server\\share\\x.py").text(), "//server/share/x.py");
  EXPECT_EQ(path_parts("pkg\\x.py").file_name(), "x.py");
}

TEST(path_parts, backslash_in_a_posix_name_is_a_letter) {
  EXPECT_EQ(path_parts("/a/b\\c.py").file_name(), "b\\c.py");
}

TEST(path_parts, empty_and_bare) {
  EXPECT_TRUE(path_parts("").empty());
  EXPECT_EQ(path_parts("").file_name(), "");
  EXPECT_EQ(path_parts("/").text(), "/");
  EXPECT_TRUE(path_parts("/a/b").is_under(path_parts("/")));
  EXPECT_TRUE(path_parts("/a/b").is_under(path_parts("/a/b")));
  EXPECT_FALSE(path_parts("/ab").is_under(path_parts("/a")));
}

}  // namespace
}  // namespace memreplay::reporting
