// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a file is shows in its content: wrappers come off, and what is no snapshot is named.
#include "input/unwrap.hpp"

#include <string>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/pickle_writer.hpp"
#include "support/sources.hpp"
#include "support/wrapped_bytes.hpp"

namespace memreplay::input {
namespace {

using testing::compressed;
using testing::page_of;
using testing::source_of;
using testing::stream_of;
using testing::text_of;
using testing::zip_of;

std::string const pickle = testing::write_python_pickle(testing::small_snapshot(), 4);

unwrapped unwrap(std::string const& bytes) { return input::unwrap(stream_of(bytes), false); }

std::string content_of(unwrapped const& found) { return text_of(*found.bytes); }

error failure_of(std::string const& bytes, bool is_cut_allowed = false) {
  try {
    (void)text_of(*input::unwrap(source_of(bytes), is_cut_allowed).bytes);
    ADD_FAILURE() << "no error";
  } catch (error const& problem) {
    return problem;
  }
  return {error_code::cannot_read, "none"};
}

TEST(unwrap, plain_files) {
  unwrapped const found = unwrap(pickle);
  EXPECT_EQ(found.what, encoding::pickle);
  EXPECT_EQ(found.description, "pickle");
  EXPECT_EQ(found.bytes.get(), found.file);
  EXPECT_EQ(content_of(found), pickle);
}

TEST(unwrap, old_pickles_have_no_magic) {
  for (int const protocol : {0, 1, 2, 3, 5}) {
    std::string const old = testing::write_python_pickle(testing::small_snapshot(), protocol);
    EXPECT_EQ(unwrap(old).what, encoding::pickle) << protocol;
    std::string const bare = testing::write_python_pickle(testing::list({}), protocol);
    EXPECT_EQ(unwrap(bare).what, encoding::pickle) << protocol;
  }
  // Left to the machine, which refuses them by name.
  EXPECT_EQ(unwrap("cposix\nsystem\n(S'true'\ntR.").what, encoding::pickle);
  EXPECT_EQ(unwrap("(iposix\nsystem\n.").what, encoding::pickle);
}

TEST(unwrap, json) {
  for (std::string const text : {"{\"segments\": []}", "[]", " \r\n\t[1]", "\xef\xbb\xbf{}"}) {
    unwrapped const found = unwrap(text);
    EXPECT_EQ(found.what, encoding::json);
    EXPECT_EQ(found.description, "json");
  }
}

TEST(unwrap, one_wrapper) {
  struct example {
    std::string bytes;
    char const* description;
  };
  for (example const& each : {example{compressed(pickle, "gzip"), "pickle in gzip"},
                              example{compressed(pickle, "zstd"), "pickle in zstd"},
                              example{compressed(pickle, "bzip2"), "pickle in bzip2"},
                              example{compressed(pickle, "xz"), "pickle in xz"},
                              example{zip_of({{"snapshot.pickle", pickle}}), "pickle in zip"},
                              example{page_of({pickle}), "pickle in html"}}) {
    unwrapped const found = unwrap(each.bytes);
    EXPECT_EQ(found.description, each.description);
    EXPECT_EQ(content_of(found), pickle);
    EXPECT_EQ(found.other_members(), 0U);
  }
}

TEST(unwrap, wrappers_in_wrappers) {
  std::string bytes = zip_of({{"a.html", page_of({compressed(pickle, "zstd")})}});
  unwrapped const found = unwrap(bytes);
  EXPECT_EQ(found.description, "pickle in zstd in html in zip");
  EXPECT_EQ(content_of(found), pickle);

  bytes = "{\"segments\": []}";
  for (int level = 0; level < 4; ++level) bytes = compressed(bytes, "gzip");
  EXPECT_EQ(unwrap(bytes).description, "json in gzip in gzip in gzip in gzip");
  error const problem = failure_of(compressed(bytes, "gzip"));
  EXPECT_EQ(problem.code(), error_code::refused);
  EXPECT_NE(std::string(problem.what()).find("more than 4 times"), std::string::npos);
}

TEST(unwrap, pages_tell_how_many_snapshots_they_hold) {
  unwrapped const found = unwrap(page_of({pickle, "b", "c"}));
  EXPECT_EQ(content_of(found), pickle);
  EXPECT_EQ(found.other_members(), 2U);
}

TEST(unwrap, what_is_no_snapshot_is_named) {
  struct example {
    std::string bytes;
    char const* word;
  };
  for (example const& each :
       {example{"", "0 bytes"}, example{compressed("", "zstd"), "empty"},
        example{compressed("", "gzip"), "empty"},
        example{"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "LFS"},
        example{"step,bytes\n1,2\n", "step,bytes"}, example{"col1,col2\n1,2\n", "col1,col2"},
        example{"c", "\"c\""}, example{"certainly\n\n", "certainly"},
        example{"(important) read this\n", "(important) read"},
        example{"<html><body>404 Not Found</body></html>", "HTML page"},
        example{"  <?xml version=\"1.0\"?><Error/>", "HTML page"},
        example{std::string("\x7f"
                            "ELF\x02\x01\x01\0",
                            8),
                "\\x7fELF"},
        example{"\n\n\n", "\\x0a"}}) {
    error const problem = failure_of(each.bytes);
    EXPECT_EQ(problem.code(), error_code::not_a_snapshot) << each.word;
    EXPECT_NE(std::string(problem.what()).find(each.word), std::string::npos) << problem.what();
    EXPECT_FALSE(problem.hint().empty());
    for (char const letter : std::string(problem.what())) EXPECT_GE(letter, ' ');
  }
}

}  // namespace
}  // namespace memreplay::input
