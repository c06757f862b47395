// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Compressed files and zip archives: the right member, bombs, and streams that are cut or damaged.
#include "input/archive.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/sources.hpp"
#include "support/wrapped_bytes.hpp"

namespace memreplay::input {
namespace {

using testing::compressed;
using testing::source_of;
using testing::stream_of;
using testing::text_of;
using testing::zip_of;

constexpr std::uint64_t no_limit = std::uint64_t{1} << 30;

std::unique_ptr<base::byte_source> opened(std::unique_ptr<base::byte_source> source,
                                          std::string const& bytes, bool is_cut_allowed = false,
                                          std::uint64_t limit = no_limit) {
  std::string_view const format = archive_format(std::as_bytes(std::span(bytes)));
  return open_archive(std::move(source), format,
                      {.limit = [limit] { return limit; }, .is_cut_allowed = is_cut_allowed});
}

std::string decoded(std::string const& bytes, bool is_cut_allowed = false,
                    std::uint64_t limit = no_limit) {
  return text_of(*opened(source_of(bytes), bytes, is_cut_allowed, limit));
}

error failure_of(std::string const& bytes, std::uint64_t limit = no_limit,
                 bool is_cut_allowed = false) {
  try {
    (void)decoded(bytes, is_cut_allowed, limit);
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
    EXPECT_EQ(archive_format(std::as_bytes(std::span(bytes))), filter);
  }
}

TEST(archive, pieces_of_any_size) {
  std::string const content = varied_text();
  for (std::string const& bytes :
       {compressed(content, "gzip"), compressed(content, "zstd"), compressed(content, "bzip2"),
        compressed(content, "xz"), zip_of({{"snapshot.pickle", content}})}) {
    for (std::size_t const step : {std::size_t{1}, std::size_t{999}, std::size_t{1} << 20}) {
      EXPECT_EQ(text_of(*opened(source_of(bytes), bytes), step), content);
      EXPECT_EQ(text_of(*opened(stream_of(bytes), bytes), step), content);
    }
  }
}

TEST(archive, compressed_files_can_be_joined) {
  EXPECT_EQ(decoded(compressed("one ", "gzip") + compressed("two", "gzip")), "one two");
  EXPECT_EQ(decoded(compressed("one ", "zstd") + compressed("two", "zstd")), "one two");
}

TEST(archive, a_zip_that_comes_as_a_stream) {
  std::string const torch = zip_of({{"archive/version", "3\n"}, {"archive/data.pkl", "pickle"}});
  EXPECT_EQ(text_of(*opened(stream_of(torch), torch)), "pickle");
  std::string const several = zip_of({{"rank0.pickle", "a"}, {"rank1.pickle", "b"}});
  EXPECT_THROW((void)opened(stream_of(several), several), error);
  std::string const content = varied_text();
  std::string const cut = zip_of({{"snapshot.pickle", content}}).substr(0, 50'000);
  std::string const start = text_of(*opened(stream_of(cut), cut, true));
  EXPECT_GT(start.size(), 50'000U);
  EXPECT_EQ(start, content.substr(0, start.size()));
}

TEST(archive, a_stream_is_read_to_its_end) {
  std::string const content = varied_text();
  for (std::string const& bytes :
       {compressed(content, "gzip") + std::string(5'000'000, 'x'),
        zip_of({{"snapshot.pickle", content}}) + std::string(10'000, '\0')}) {
    auto stream = stream_of(bytes);
    base::byte_source& outer = *stream;
    auto const archive = opened(std::move(stream), bytes);
    EXPECT_EQ(text_of(*archive), content);
    EXPECT_EQ(text_of(outer), "");
  }
}

/// Fails in the middle, as a file on a lost network drive does.
class failing_source final : public base::byte_source {
 public:
  explicit failing_source(std::string_view text) : bytes_(std::as_bytes(std::span(text))) {}
  std::size_t read(std::span<std::byte> into) override {
    std::size_t const count = bytes_.read(into);
    if (count < into.size()) throw error(error_code::cannot_read, "a.gz: Input/output error");
    return count;
  }

 private:
  base::memory_source bytes_;
};

TEST(archive, failures_of_the_file_pass_through) {
  std::string const content = varied_text();
  for (std::string const& bytes :
       {compressed(content, "gzip"), compressed(content, "zstd"), compressed(content, "bzip2"),
        compressed(content, "xz"), zip_of({{"snapshot.pickle", content}})}) {
    for (bool const is_cut_allowed : {false, true}) {
      try {
        (void)text_of(*opened(std::make_unique<failing_source>(bytes), bytes, is_cut_allowed));
        ADD_FAILURE() << "no error";
      } catch (error const& problem) {
        EXPECT_EQ(problem.code(), error_code::cannot_read) << problem.what();
      }
    }
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

TEST(archive, a_cut_at_the_very_end_is_found) {
  std::string const content = varied_text();
  for (std::string const& whole : {compressed(content, "gzip"), compressed(content, "zstd"),
                                   compressed(content, "bzip2"), compressed(content, "xz")}) {
    std::string const cut = whole.substr(0, whole.size() - 1);
    EXPECT_EQ(failure_of(cut).code(), error_code::damaged);
    // libarchive gives nothing of the block in which a stream breaks.
    std::string const start = decoded(cut, true);
    EXPECT_GT(start.size() + 100'000, content.size());
    EXPECT_EQ(start, content.substr(0, start.size()));
  }
}

TEST(archive, what_failed_has_ended) {
  std::string const whole = compressed(varied_text(), "gzip");
  std::string const half = whole.substr(0, whole.size() / 2);
  auto const archive = opened(source_of(half), half);
  EXPECT_THROW((void)text_of(*archive), error);
  EXPECT_EQ(text_of(*archive), "");
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
