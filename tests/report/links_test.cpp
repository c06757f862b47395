// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Holds links to URLs that open, paths to whole components, and git_head to what git itself keeps.

#include "report/links.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace memreplay::reporting {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

std::string link(link_style style, std::string_view path, std::int64_t line) {
  link_options options;
  options.style = style;
  return make_link_target(options, path, line);
}

link_options github_options() {
  return {.style = link_style::github,
          .repo_url = "https://github.com/org/model",
          .commit = "0123abc",
          .project_root = "/home/u/proj"};
}

TEST(make_link_target, names_file_and_line_in_each_style) {
  EXPECT_EQ(link(link_style::vscode, "/home/u/train.py", 42), "vscode://file/home/u/train.py:42");
  EXPECT_EQ(link(link_style::cursor, "/home/u/train.py", 42), "cursor://file/home/u/train.py:42");
  EXPECT_EQ(link(link_style::file, "/home/u/train.py", 42), "file:///home/u/train.py#L42");
  EXPECT_EQ(link(link_style::none, "/home/u/train.py", 42), "");
  EXPECT_EQ(make_link_target(github_options(), "/home/u/proj/src/train.py", 42),
            "https://github.com/org/model/blob/0123abc/src/train.py#L42");
}

TEST(make_link_target, leaves_out_an_unknown_line) {
  for (std::int64_t const unknown : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(link(link_style::vscode, "/a.py", unknown), "vscode://file/a.py");
    EXPECT_EQ(link(link_style::file, "/a.py", unknown), "file:///a.py");
    EXPECT_EQ(make_link_target(github_options(), "/home/u/proj/a.py", unknown),
              "https://github.com/org/model/blob/0123abc/a.py");
  }
}

TEST(make_link_target, encodes_what_would_end_a_markdown_link_or_a_url) {
  EXPECT_EQ(link(link_style::vscode, "/a b/[x](y)|z%#?.py", 3),
            "vscode://file/a%20b/%5Bx%5D%28y%29%7Cz%25%23%3F.py:3");
  EXPECT_EQ(link(link_style::vscode, "/p\"'<>`\\*&\n\t.py", 3),
            "vscode://file/p%22%27%3C%3E%60%5C%2A%26%0A%09.py:3");
  EXPECT_EQ(link(link_style::file, "/a:b.py", 3), "file:///a%3Ab.py#L3");
  EXPECT_EQ(link(link_style::vscode, "/Modell_\xC3\xBC-1.0~/\xE6\xA8\xA1.py", 3),
            "vscode://file/Modell_%C3%BC-1.0~/%E6%A8%A1.py:3");
  EXPECT_EQ(link(link_style::vscode, "/\xFF.py", 3), "vscode://file/%FF.py:3") << "not UTF-8";
}

TEST(make_link_target, resolves_dots_and_slashes) {
  EXPECT_EQ(link(link_style::vscode, "/a/./b//../c.py", 3), "vscode://file/a/c.py:3");
  EXPECT_EQ(link(link_style::vscode, "/../../c.py", 3), "vscode://file/c.py:3");
}

TEST(make_link_target, takes_windows_paths_with_a_drive) {
  EXPECT_EQ(link(link_style::vscode, R"(C:\x\y.py)", 3), "vscode://file/C:/x/y.py:3");
  EXPECT_EQ(link(link_style::vscode, R"(C:\My Models\..\y.py)", 3), "vscode://file/C:/y.py:3");
  EXPECT_EQ(link(link_style::file, "D:/x/y z.py", 3), "file:///D:/x/y%20z.py#L3");
}

TEST(make_link_target, gives_none_without_an_absolute_path) {
  for (auto const style : {link_style::vscode, link_style::cursor, link_style::file}) {
    for (auto const* const path :
         {"", "??", "train.py", "./train.py", "<frozen runpy>", "<string>", "<eval_with_key>.12",
          "C:", "C:train.py", "/", R"(C:\)", R"(\\host\share\train.py)"}) {
      EXPECT_EQ(link(style, path, 3), "") << path;
    }
  }
}

TEST(make_link_target, links_to_github_below_the_project_root_alone) {
  auto const options = github_options();
  EXPECT_EQ(make_link_target(options, "/home/u/proj2/train.py", 3), "");
  EXPECT_EQ(make_link_target(options, "/usr/lib/python3/os.py", 3), "");
  EXPECT_EQ(make_link_target(options, "/home/u/proj", 3), "");
  EXPECT_EQ(make_link_target(options, "train.py", 3), "");
  EXPECT_EQ(make_link_target(options, "<string>", 3), "");
  EXPECT_EQ(make_link_target(options, "/home/u/proj/a b/(c)#.py", 3),
            "https://github.com/org/model/blob/0123abc/a%20b/%28c%29%23.py#L3");
}

TEST(make_link_target, needs_all_options_of_github) {
  auto no_url = github_options();
  no_url.repo_url = "/";
  auto no_commit = github_options();
  no_commit.commit = "";
  auto no_root = github_options();
  no_root.project_root = "";
  for (auto const& options : {no_url, no_commit, no_root}) {
    EXPECT_EQ(make_link_target(options, "/home/u/proj/a.py", 3), "");
  }
}

TEST(make_link_target, forgives_how_the_repository_and_commit_are_written) {
  auto options = github_options();
  options.commit = "feature/(a b)";
  for (auto const* const url : {"https://github.com/org/model/", "https://github.com/org/model.git",
                                "https://github.com/org/model.git//"}) {
    options.repo_url = url;
    EXPECT_EQ(make_link_target(options, "/home/u/proj/a.py", 3),
              "https://github.com/org/model/blob/feature/%28a%20b%29/a.py#L3");
  }
  options.repo_url = "http://localhost:8080/a) b";
  EXPECT_EQ(make_link_target(options, "/home/u/proj/a.py", 3),
            "http://localhost:8080/a%29%20b/blob/feature/%28a%20b%29/a.py#L3");
}

TEST(is_under, compares_whole_components) {
  EXPECT_TRUE(is_under("/home/u/proj/x.py", "/home/u/proj"));
  EXPECT_TRUE(is_under("/home/u/proj/a/b/x.py", "/home/u/proj/"));
  EXPECT_TRUE(is_under("/home/u/proj//x.py", "/home//u/proj//"));
  EXPECT_TRUE(is_under("/home/u/proj", "/home/u/proj"));
  EXPECT_FALSE(is_under("/home/u/proj2/x.py", "/home/u/proj"));
  EXPECT_FALSE(is_under("/home/u/pro/x.py", "/home/u/proj"));
  EXPECT_FALSE(is_under("/home/u", "/home/u/proj"));
  EXPECT_FALSE(is_under("/x/home/u/proj/x.py", "/home/u/proj"));
  EXPECT_FALSE(is_under("/Home/u/proj/x.py", "/home/u/proj"));
}

TEST(is_under, resolves_dots_in_both) {
  EXPECT_TRUE(is_under("/home/u/./proj/x.py", "/home/u/other/../proj"));
  EXPECT_TRUE(is_under("/home/u/other/../proj/x.py", "/home/u/proj/."));
  EXPECT_FALSE(is_under("/home/u/proj/../x.py", "/home/u/proj"));
  EXPECT_TRUE(is_under("/home/u/proj/...", "/home/u/proj")) << "three dots are a name";
}

TEST(is_under, holds_all_absolute_paths_under_the_root_folder) {
  EXPECT_TRUE(is_under("/x.py", "/"));
  EXPECT_TRUE(is_under("/home/u/x.py", "//./"));
  EXPECT_FALSE(is_under("x.py", "/"));
  EXPECT_FALSE(is_under("<string>", "/"));
}

TEST(is_under, keeps_relative_and_absolute_apart) {
  EXPECT_TRUE(is_under("x.py", "."));
  EXPECT_TRUE(is_under("./src/x.py", "src"));
  EXPECT_FALSE(is_under("../x.py", "."));
  EXPECT_FALSE(is_under("src/../../x.py", "."));
  EXPECT_TRUE(is_under("../x.py", ".."));
  EXPECT_FALSE(is_under("../../x.py", ".."));
  EXPECT_FALSE(is_under("/x.py", "."));
  EXPECT_FALSE(is_under("x.py", "/"));
}

TEST(is_under, knows_names_that_are_no_files) {
  for (auto const* const name : {"", "??", "<string>", "<frozen runpy>", "<eval_with_key>.12"}) {
    EXPECT_FALSE(is_under(name, ".")) << name;
    EXPECT_FALSE(is_under(name, "/")) << name;
  }
  EXPECT_FALSE(is_under("/x.py", ""));
  EXPECT_FALSE(is_under("x.py", ""));
}

TEST(is_under, takes_windows_paths) {
  EXPECT_TRUE(is_under(R"(C:\proj\src\x.py)", R"(C:\proj)"));
  EXPECT_TRUE(is_under(R"(C:\proj\src\x.py)", "C:/proj/"));
  EXPECT_FALSE(is_under(R"(C:\proj2\x.py)", R"(C:\proj)"));
  EXPECT_FALSE(is_under(R"(D:\proj\x.py)", R"(C:\proj)"));
  EXPECT_FALSE(is_under("/proj/x.py", R"(C:\proj)"));
  EXPECT_FALSE(is_under(R"(/home/u\x.py)", "/home/u")) << "elsewhere a backslash is part of a name";
}

TEST(relative_to, gives_the_components_below_the_root) {
  EXPECT_EQ(relative_to("/home/u/proj/src/x.py", "/home/u/proj"), "src/x.py");
  EXPECT_EQ(relative_to("/home/u/proj/./src//a/../x.py", "/home/u/proj/"), "src/x.py");
  EXPECT_EQ(relative_to("/x.py", "/"), "x.py");
  EXPECT_EQ(relative_to(R"(C:\proj\src\x.py)", R"(C:\proj)"), "src/x.py");
  EXPECT_EQ(relative_to("/home/u/proj2/x.py", "/home/u/proj"), "");
  EXPECT_EQ(relative_to("/home/u/proj", "/home/u/proj"), "");
}

/// A folder with the files of a git repository, written by hand: the tests need no git.
class git_head_test : public testing::Test {
 protected:
  git_head_test()
      : folder_{fs::temp_directory_path() / ("memreplay_links_" + std::to_string(getpid()))} {
    fs::create_directories(folder_);
  }
  ~git_head_test() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void write(std::string const& name, std::string_view text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream{folder_ / name, std::ios::binary} << text;
  }

  [[nodiscard]] std::string head(std::string const& name = "") const {
    return git_head((folder_ / name).string());
  }

  fs::path const folder_;
  std::string const first_ = std::string(39, '0') + "1";
  std::string const second_ = std::string(39, 'a') + "2";
};

TEST_F(git_head_test, reads_a_detached_head) {
  write(".git/HEAD", first_ + "\n");
  EXPECT_EQ(head(), first_);
  write(".git/HEAD", std::string(64, 'f') + "\r\n");
  EXPECT_EQ(head(), std::string(64, 'f')) << "a SHA-256 repository";
}

TEST_F(git_head_test, follows_a_branch) {
  write(".git/HEAD", "ref: refs/heads/feature/a\n");
  EXPECT_EQ(head(), "") << "a branch without a commit";
  write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n" +  //
                                second_ + " refs/heads/feature/ab\n" +           //
                                first_ + " refs/heads/feature/a\n" +             //
                                "^" + second_ + "\n");
  EXPECT_EQ(head(), first_);
  write(".git/refs/heads/feature/a", second_ + "\n");
  EXPECT_EQ(head(), second_) << "the reference's own file is newer than the packed one";
}

TEST_F(git_head_test, follows_a_reference_to_a_reference) {
  write(".git/HEAD", "ref: refs/heads/alias\n");
  write(".git/refs/heads/alias", "ref: refs/heads/main\n");
  write(".git/refs/heads/main", first_ + "\n");
  EXPECT_EQ(head(), first_);
  write(".git/refs/heads/main", "ref: refs/heads/alias\n");
  EXPECT_EQ(head(), "") << "a circle ends";
}

TEST_F(git_head_test, follows_a_worktree_to_its_repository) {
  write("main/.git/HEAD", "ref: refs/heads/main\n");
  write("main/.git/refs/heads/main", first_ + "\n");
  write("main/.git/packed-refs", second_ + " refs/heads/topic\n");
  write("main/.git/worktrees/topic/HEAD", "ref: refs/heads/topic\n");
  write("main/.git/worktrees/topic/commondir", "../..\n");
  write("topic/.git", "gitdir: " + (folder_ / "main/.git/worktrees/topic").string() + "\n");
  write("relative/.git", "gitdir: ../main/.git/worktrees/topic\n");
  EXPECT_EQ(head("main"), first_);
  EXPECT_EQ(head("topic"), second_);
  EXPECT_EQ(head("relative"), second_);
}

TEST_F(git_head_test, is_empty_without_a_repository) {
  EXPECT_EQ(git_head(""), "");
  EXPECT_EQ(head(), "");
  EXPECT_EQ(head("missing"), "");
  write("file", "text");
  EXPECT_EQ(head("file"), "");
  EXPECT_EQ(git_head(std::string(100'000, 'x')), "");
}

TEST_F(git_head_test, is_empty_when_the_files_make_no_sense) {
  for (std::string const& text :
       {""s, "\n"s, "ref:"s, "ref: \n"s, "main\n"s, first_.substr(1), first_ + "0",
        std::string(1'000'000, 'a'), "ref: refs/../../secret\n"s, "ref: /secret\n"s,
        "ref: refs/heads/\0x"s}) {
    write("secret", first_ + "\n");
    write(".git/HEAD", text);
    EXPECT_EQ(head(), "") << text.substr(0, 80);
  }
  fs::remove(folder_ / ".git/HEAD");
  fs::create_directory(folder_ / ".git/HEAD");
  EXPECT_EQ(head(), "");
  fs::remove_all(folder_ / ".git");
  write(".git", "gitdir:\n");
  EXPECT_EQ(head(), "");
  write(".git", "gitdir: nowhere\n");
  EXPECT_EQ(head(), "");
}

}  // namespace
}  // namespace memreplay::reporting
