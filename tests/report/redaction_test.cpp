// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which parts of a text name a person.
#include "report/redaction.hpp"

#include <gtest/gtest.h>

namespace memreplay::reporting {
namespace {

TEST(redact_homes, replaces_home_directories_anywhere_in_a_text) {
  EXPECT_EQ(redact_homes("/home/bob/x.py"), "~/x.py");
  EXPECT_EQ(redact_homes("/Users/bob"), "~");
  EXPECT_EQ(redact_homes("C:\\Users\\bob\\x.py"), "~\\x.py");
  EXPECT_EQ(redact_homes("C:/Users/bob/x.py"), "~/x.py");
  EXPECT_EQ(redact_homes("/root/x.py"), "~/x.py");
  EXPECT_EQ(redact_homes("/nfs/home/bob/x.py"), "~/x.py");
  EXPECT_EQ(redact_homes("see /home/bob/a, /home/eve/b."), "see ~/a, ~/b.");
  EXPECT_EQ(redact_homes("f@/home/bob/a -> g@/home/bob/b"), "f@~/a -> g@~/b");
  EXPECT_EQ(redact_homes("file=C:\\Users\\bob\\x"), "file=~\\x");
}

TEST(redact_homes, leaves_other_text_alone) {
  for (char const* text : {"", "/", "/home", "/home/", "home/bob", "/code/root/x.py", "/rooted/x",
                           "a -> b", "std::home"}) {
    EXPECT_EQ(redact_homes(text), text);
  }
}

TEST(redact_outside, keeps_the_last_folder_and_the_name) {
  EXPECT_EQ(redact_outside(path_parts("/data/group/secret/x.py")), "secret/x.py");
  EXPECT_EQ(redact_outside(path_parts("/home/bob/x.py")), "~/x.py");
  EXPECT_EQ(redact_outside(path_parts("x.py")), "x.py");
}

}  // namespace
}  // namespace memreplay::reporting
