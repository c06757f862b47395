// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Snapshots inside the pages of torch.cuda._memory_viz.
#include "input/html.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/sources.hpp"
#include "support/wrapped_bytes.hpp"

namespace memreplay::input {
namespace {

using testing::base64_of;
using testing::page_of;
using testing::stream_of;
using testing::text_of;

struct decoded_page {
  std::string content;
  std::size_t other_members = 0;
};

decoded_page decode_html(std::string const& page, bool is_cut_allowed = false,
                         std::size_t step = 5000) {
  html_source source(stream_of(page), is_cut_allowed);
  std::string content = text_of(source, step);
  return {std::move(content), source.other_members()};
}

error failure_of(std::string const& page, bool is_cut_allowed = false) {
  try {
    (void)decode_html(page, is_cut_allowed);
    ADD_FAILURE() << "no error";
  } catch (error const& problem) {
    return problem;
  }
  return {error_code::cannot_read, "none"};
}

TEST(html, one_snapshot) {
  for (std::string const content : {"a", "ab", "abc", "abcd", "\x80\x04N."}) {
    decoded_page const page = decode_html(page_of({content}));
    EXPECT_EQ(page.content, content);
    EXPECT_EQ(page.other_members, 0U);
  }
}

TEST(html, more_than_one_chunk) {
  std::string content;
  for (int row = 0; content.size() < (std::size_t{3} << 20); ++row) content += std::to_string(row);
  EXPECT_EQ(decode_html(page_of({content})).content, content);
}

TEST(html, pieces_of_any_size) {
  std::string content;
  for (int row = 0; content.size() < 400'000; ++row) content += std::to_string(row);
  std::string const page = page_of({content, content});
  for (std::size_t const step : {std::size_t{1}, std::size_t{997}, std::size_t{1} << 20}) {
    decoded_page const found = decode_html(page, false, step);
    EXPECT_EQ(found.content, content);
    EXPECT_EQ(found.other_members, 1U);
  }
}

/// The reader of a page that comes in pieces of `step` bytes, as places of members.
std::vector<std::size_t> changes_in(std::string_view page, std::size_t step) {
  member_finder finder;
  std::vector<std::size_t> places;
  bool was_inside = false;
  for (std::size_t at = 0; at < page.size();) {
    at += finder.skip(page.substr(at, step));
    if (std::exchange(was_inside, finder.is_inside()) != finder.is_inside()) places.push_back(at);
  }
  return places;
}

TEST(html, members_are_found_across_pieces) {
  std::string_view const page =
      "bbase64 base64\"': \n\"abc\" bas base64:'x\"y' base64: base64 :\"\"";
  std::vector<std::size_t> const expected = {20, 24, 37, 41, 59, 60};
  for (std::size_t step = 1; step <= page.size(); ++step) {
    EXPECT_EQ(changes_in(page, step), expected) << step;
  }
}

TEST(html, further_snapshots_are_counted) {
  decoded_page const page = decode_html(page_of({"first", "second"}));
  EXPECT_EQ(page.content, "first");
  EXPECT_EQ(page.other_members, 1U);
}

TEST(html, spellings) {
  std::string const content = base64_of("snapshot");
  EXPECT_EQ(decode_html("<script>x = {'base64': '" + content + "'}").content, "snapshot");
  EXPECT_EQ(decode_html("<script>x = {base64 :\n\"" + content + "\"}").content, "snapshot");
  EXPECT_EQ(decode_html("<p>base64 is nice</p>{\"base64\":\"" + content + "\"}").content,
            "snapshot");
  EXPECT_EQ(decode_html("<script>{\"base64\": \"c25h\ncHNo\nb3Q=\"}").content, "snapshot");
}

TEST(html, pages_without_a_snapshot) {
  for (char const* page : {"<html>", "<html>base64", "<html>\"base64\"", "<html>\"base64\": 5",
                           "<html>\"base64\":", "<p>base64</p><p>base64 :</p>"}) {
    EXPECT_EQ(failure_of(page).code(), error_code::not_a_snapshot) << page;
    EXPECT_FALSE(failure_of(page).hint().empty());
  }
}

TEST(html, broken_base64) {
  for (char const* content : {"c25h!cHNo", "c25", "c2=5", "\\u0063"}) {
    error const problem = failure_of("<script>{\"base64\": \"" + std::string(content) + "\"}");
    EXPECT_EQ(problem.code(), error_code::damaged) << content;
    EXPECT_EQ(problem.byte_offset(), 20U);
  }
}

TEST(html, a_page_that_ends_inside_its_snapshot) {
  std::string const content(3000, 'x');
  std::string page = page_of({content});
  page.resize(page.find("base64") + 2000);
  error const problem = failure_of(page);
  EXPECT_EQ(problem.code(), error_code::damaged);
  EXPECT_NE(problem.hint().find("--salvage"), std::string::npos);
  std::string const start = decode_html(page, true).content;
  EXPECT_GT(start.size(), 1400U);
  EXPECT_EQ(start, content.substr(0, start.size()));
}

TEST(html, salvage_ends_at_what_is_no_base64) {
  std::string const content(600'000, 'x');
  std::string page = page_of({content, content});
  page[page.size() / 3] = '!';
  EXPECT_EQ(failure_of(page).code(), error_code::damaged);
  decoded_page const found = decode_html(page, true);
  EXPECT_GT(found.content.size(), 300'000U);
  EXPECT_EQ(found.content, content.substr(0, found.content.size()));
  EXPECT_EQ(found.other_members, 1U);
}

TEST(html, many_starts_of_members_stay_fast) {
  std::string page = "<";
  for (int row = 0; row < 200'000; ++row) page += "base64:\"";
  EXPECT_THROW((void)decode_html(page, true), error);
}

}  // namespace
}  // namespace memreplay::input
