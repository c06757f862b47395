// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Snapshots inside the pages of torch.cuda._memory_viz.
#include "input/html.hpp"

#include <string>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/wrapped_bytes.hpp"

namespace memreplay::input {
namespace {

using testing::base64_of;
using testing::page_of;

std::string text_of(decoded_page const& page) {
  return {reinterpret_cast<char const*>(page.content.bytes().data()), page.content.bytes().size()};
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
    decoded_page const page = decode_html(page_of({content}), false);
    EXPECT_EQ(text_of(page), content);
    EXPECT_EQ(page.other_members, 0U);
  }
}

TEST(html, more_than_one_chunk) {
  std::string content;
  for (int row = 0; content.size() < (std::size_t{3} << 20); ++row) content += std::to_string(row);
  EXPECT_EQ(text_of(decode_html(page_of({content}), false)), content);
}

TEST(html, further_snapshots_are_counted) {
  decoded_page const page = decode_html(page_of({"first", "second"}), false);
  EXPECT_EQ(text_of(page), "first");
  EXPECT_EQ(page.other_members, 1U);
}

TEST(html, spellings) {
  std::string const content = base64_of("snapshot");
  EXPECT_EQ(text_of(decode_html("<script>x = {'base64': '" + content + "'}", false)), "snapshot");
  EXPECT_EQ(text_of(decode_html("<script>x = {base64 :\n\"" + content + "\"}", false)), "snapshot");
  EXPECT_EQ(text_of(decode_html("<p>base64 is nice</p>{\"base64\":\"" + content + "\"}", false)),
            "snapshot");
  EXPECT_EQ(text_of(decode_html("<script>{\"base64\": \"c25h\ncHNo\nb3Q=\"}", false)), "snapshot");
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
  std::string const start = text_of(decode_html(page, true));
  EXPECT_GT(start.size(), 1400U);
  EXPECT_EQ(start, content.substr(0, start.size()));
}

TEST(html, many_starts_of_members_stay_fast) {
  std::string page = "<";
  for (int row = 0; row < 200'000; ++row) page += "base64:\"";
  EXPECT_THROW((void)decode_html(page, true), error);
}

}  // namespace
}  // namespace memreplay::input
