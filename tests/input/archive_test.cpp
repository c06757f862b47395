// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Compressed files and zip archives: the right member, bombs, and streams that are cut or damaged.
#include "input/archive.hpp"

#include <string>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/pickle_writer.hpp"
#include "support/wrapped_bytes.hpp"

namespace memreplay::input {
namespace {

using testing::as_input;
using testing::compressed;
using testing::zip_of;

constexpr std::size_t no_limit = std::size_t{1} << 30;

std::string decoded(std::string const& bytes, bool is_cut_allowed = false) {
  decoded_member const member = decode_archive(as_input(bytes), no_limit, is_cut_allowed);
  return {reinterpret_cast<char const*>(member.content.bytes().data()),
          member.content.bytes().size()};
}

error failure_of(std::string const& bytes, std::size_t limit = no_limit,
                 bool is_cut_allowed = false) {
  try {
    (void)decode_archive(as_input(bytes), limit, is_cut_allowed);
    ADD_FAILURE() << "no error";
  } catch (error const& problem) {
    return problem;
  }
  return {error_code::cannot_read, "none"};
}

/// Does not shrink to nothing, so that there is something to cut.
std::string varied_text() {
  std::string content;
  std::uint32_t state = 1;
  while (content.size() < 300'000) {
    state = state * 1664525 + 1013904223;
    content += "row " + std::to_string(state >> 8) + "\n";
  }
  return content;
}

TEST(archive, filters) {
  std::string const content = varied_text();
  for (char const* filter : {"gzip", "zstd", "bzip2", "xz"}) {
    std::string const bytes = compressed(content, filter);
    EXPECT_LT(bytes.size(), content.size());
    EXPECT_EQ(decoded(bytes), content) << filter;
    EXPECT_EQ(decode_archive(as_input(bytes), no_limit, false).format, filter);
  }
}

TEST(archive, a_zip_with_one_file) {
  EXPECT_EQ(decoded(zip_of({{"snapshot.pickle", "content"}})), "content");
  EXPECT_EQ(decoded(zip_of({{"dir/", ""}, {"dir/snapshot.pickle", "content"}})), "content");
  EXPECT_EQ(decoded(zip_of({{"a.pickle", "content"}, {"__MACOSX/._a.pickle", "x"}})), "content");
}

TEST(archive, torch_save_keeps_its_pickle_among_others) {
  EXPECT_EQ(decoded(zip_of({{"archive/data.pkl", "pickle"},
                            {"archive/byteorder", "little"},
                            {"archive/version", "3\n"},
                            {"archive/.data/serialization_id", "0"}})),
            "pickle");
  EXPECT_EQ(decoded(zip_of({{"archive/version", "3\n"}, {"archive/data.pkl", "pickle"}})),
            "pickle");
}

TEST(archive, a_zip_with_several_files_names_them) {
  error const problem = failure_of(zip_of({{"rank0.pickle", "a"}, {"rank1.pickle", "b"}}));
  EXPECT_EQ(problem.code(), error_code::not_a_snapshot);
  EXPECT_NE(std::string(problem.what()).find("rank0.pickle"), std::string::npos);
  EXPECT_NE(std::string(problem.what()).find("rank1.pickle"), std::string::npos);
  EXPECT_FALSE(problem.hint().empty());
}

TEST(archive, a_zip_without_files) {
  EXPECT_EQ(failure_of(zip_of({})).code(), error_code::not_a_snapshot);
  EXPECT_EQ(failure_of(zip_of({{"dir/", ""}})).code(), error_code::not_a_snapshot);
}

TEST(archive, bombs_are_refused) {
  std::string const zeros(std::size_t{64} << 20, '\0');
  for (std::string const& bytes : {compressed(zeros, "gzip"), compressed(zeros, "zstd"),
                                   zip_of({{"snapshot.pickle", zeros}})}) {
    error const problem = failure_of(bytes, std::size_t{1} << 20);
    EXPECT_EQ(problem.code(), error_code::refused);
    EXPECT_NE(std::string(problem.what()).find("200 times"), std::string::npos);
  }
}

TEST(archive, cut_streams) {
  std::string const content = varied_text();
  for (std::string const& whole :
       {compressed(content, "gzip"), compressed(content, "zstd"), compressed(content, "xz"),
        compressed(content, "bzip2"), zip_of({{"snapshot.pickle", content}})}) {
    std::string const half = whole.substr(0, whole.size() / 2);
    EXPECT_EQ(failure_of(half).code(), error_code::damaged);
    for (std::size_t length = 6; length < 60; ++length) {
      for (bool const is_cut_allowed : {false, true}) {
        try {
          EXPECT_TRUE(decoded(whole.substr(0, length), is_cut_allowed).size() < 60) << length;
        } catch (error const& problem) {
          EXPECT_TRUE(problem.code() == error_code::damaged ||
                      problem.code() == error_code::not_a_snapshot);
        }
      }
    }
  }
}

TEST(archive, salvage_gives_what_could_be_decoded) {
  std::string const content = varied_text();
  for (std::string const& whole :
       {compressed(content, "gzip"), zip_of({{"snapshot.pickle", content}})}) {
    std::string const start = decoded(whole.substr(0, whole.size() * 3 / 4), true);
    EXPECT_GT(start.size(), content.size() / 4);
    EXPECT_LT(start.size(), content.size());
    EXPECT_EQ(start, content.substr(0, start.size()));
  }
}

TEST(archive, damaged_streams) {
  std::string bytes = compressed(varied_text(), "gzip");
  for (std::size_t at = 200; at < 400; ++at) bytes[at] = '\x55';
  EXPECT_EQ(failure_of(bytes).code(), error_code::damaged);
  error_code const code = failure_of("PK\x03\x04rubbish").code();
  EXPECT_TRUE(code == error_code::damaged || code == error_code::not_a_snapshot);
  for (std::string const start : {"\x1f\x8b", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "BZh"}) {
    try {
      EXPECT_EQ(decoded(start), "");
    } catch (error const& problem) {
      EXPECT_EQ(problem.code(), error_code::damaged);
    }
  }
}

}  // namespace
}  // namespace memreplay::input
