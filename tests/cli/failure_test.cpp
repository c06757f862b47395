// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How errors read: one line, with the file, the place and what to do.
#include "cli/failure.hpp"

#include <gtest/gtest.h>

namespace memreplay::cli {
namespace {

TEST(failure, one_line_with_everything) {
  EXPECT_EQ(
      failure_line("a.pickle", error(error_code::damaged, "damaged pickle: odd", 17, "dump again")),
      "memreplay: a.pickle: damaged pickle: odd (at byte 17); dump again\n");
  EXPECT_EQ(failure_line("a.pickle", error(error_code::not_a_snapshot, "not a snapshot")),
            "memreplay: a.pickle: not a snapshot\n");
}

TEST(failure, errors_that_name_their_path_are_not_named_twice) {
  EXPECT_EQ(failure_line("a", error(error_code::cannot_read, "a: No such file")),
            "memreplay: a: No such file\n");
  EXPECT_EQ(failure_line("a", error(error_code::cannot_write, "out.md: is a directory")),
            "memreplay: out.md: is a directory\n");
  EXPECT_EQ(failure_line("", error(error_code::cannot_write, "out.md: is a directory")),
            "memreplay: out.md: is a directory\n");
}

TEST(failure, a_name_that_is_part_of_the_message_is_still_named) {
  EXPECT_EQ(failure_line("a", error(error_code::damaged, "damaged")), "memreplay: a: damaged\n");
  EXPECT_EQ(failure_line("pickle", error(error_code::damaged, "damaged pickle")),
            "memreplay: pickle: damaged pickle\n");
}

TEST(failure, standard_input) {
  EXPECT_EQ(failure_line("-", error(error_code::damaged, "damaged - badly")),
            "memreplay: standard input: damaged - badly\n");
  EXPECT_EQ(failure_line("-", error(error_code::cannot_read, "standard input: Is a directory")),
            "memreplay: standard input: Is a directory\n");
}

TEST(failure, nothing_that_a_terminal_obeys) {
  EXPECT_EQ(failure_line("a\n\x1b[31m.pickle", error(error_code::damaged, "b\tc\x7f")),
            "memreplay: a  [31m.pickle: b c \n");
  EXPECT_EQ(one_line("a\xc2\x9b"
                     "31m"),
            "a  31m");
  EXPECT_EQ(one_line("sn\xc3\xa9\xe2\x82\xac\xc2\xa0"), "sn\xc3\xa9\xe2\x82\xac\xc2\xa0");
  EXPECT_EQ(one_line("end\xc2"), "end\xc2");
}

}  // namespace
}  // namespace memreplay::cli
