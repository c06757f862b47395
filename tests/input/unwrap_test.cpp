// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a file is shows in its content: wrappers come off, and what is no snapshot is named.
#include "input/unwrap.hpp"

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
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

TEST(unwrap, what_is_counted) {
  std::string const torch =
      zip_of({{"a/data.pkl", pickle}, {"a/data/0", std::string(50'000, 'x')}});
  for (std::string const& bytes :
       {pickle, compressed(pickle, "gzip"), compressed(pickle, "xz") + std::string(9'000, '\0'),
        torch, page_of({pickle}), compressed(torch, "zstd"), zip_of({{"a", torch}})}) {
    for (bool const is_stream : {false, true}) {
      unwrapped const found = input::unwrap(is_stream ? stream_of(bytes) : source_of(bytes), false);
      EXPECT_EQ(found.bytes->position(), 0U);
      EXPECT_EQ(found.file->size().has_value(), !is_stream);
      EXPECT_EQ(text_of(*found.bytes, 17), pickle);
      EXPECT_EQ(found.bytes->position(), pickle.size());
      EXPECT_EQ(found.file_bytes(), bytes.size()) << found.description << is_stream;
    }
  }
}

TEST(unwrap, damage_behind_the_snapshot_is_found) {
  std::string const page = page_of({pickle}) + std::string(100'000, ' ');
  std::string const bytes = compressed(page, "gzip");
  EXPECT_EQ(failure_of(bytes.substr(0, bytes.size() - 4)).code(), error_code::damaged);
  unwrapped const found = input::unwrap(stream_of(bytes.substr(0, bytes.size() - 4)), true);
  EXPECT_EQ(content_of(found), pickle);
}

TEST(unwrap, bombs_are_refused_while_they_blow_up) {
  std::string const part = compressed(std::string(std::size_t{64} << 20, ' '), "zstd");
  std::string bomb = compressed("[1", "zstd");
  for (int times = 0; times < 20; ++times) bomb += part;
  for (std::string const& bytes : {bomb, zip_of({{"a.zst", bomb}}), compressed(bomb, "gzip")}) {
    for (bool const is_cut_allowed : {false, true}) {
      unwrapped const found = input::unwrap(stream_of(bytes), is_cut_allowed);
      try {
        base::drain(*found.bytes);
        ADD_FAILURE() << "no error";
      } catch (error const& problem) {
        EXPECT_EQ(problem.code(), error_code::refused);
        EXPECT_NE(std::string(problem.what()).find("200 times"), std::string::npos);
      }
      EXPECT_LT(found.bytes->position(), std::size_t{1300} << 20);
    }
  }
}

std::int64_t most_memory_used_kib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

TEST(unwrap, memory_does_not_grow_with_what_is_decoded) {
  std::string part;
  for (int row = 0; part.size() < (std::size_t{1} << 20); ++row) part += std::to_string(row % 999);
  for (char const* filter : {"gzip", "zstd", "bzip2", "xz"}) {
    std::string const packed = compressed(part, filter);
    std::string bytes = compressed("[", filter);
    for (int times = 0; times < 300; ++times) bytes += packed;
    unwrapped const found = input::unwrap(source_of(bytes), false);
    std::int64_t const before = most_memory_used_kib();
    base::drain(*found.bytes);
    EXPECT_EQ(found.bytes->position(), 300 * part.size() + 1);
    EXPECT_LT(most_memory_used_kib() - before, 64 << 10) << filter;
  }
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
