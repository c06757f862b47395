// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Files appear whole or not at all, and those of others stay.
#include "cli/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/temporary_folder.hpp"

namespace memreplay::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view signature = "# GPU memory peaks";

class output : public ::testing::Test {
 protected:
  std::string path(std::string const& name) const { return (directory_ / name).string(); }
  static std::string content_of(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(std::string const& path, std::string const& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  static error failure_of(std::string const& path, bool force = false) {
    try {
      write_file(path, "new", signature, force);
      ADD_FAILURE() << "no error";
    } catch (error const& problem) {
      return problem;
    }
    return {error_code::damaged, "none"};
  }

  testing::temporary_folder folder_;
  fs::path const& directory_ = folder_.path();
};

TEST_F(output, a_new_file) {
  std::string const content(3'000'000, 'x');
  write_file(path("a.md"), content, signature, false);
  EXPECT_EQ(content_of(path("a.md")), content);
  EXPECT_EQ(files(), 1U);
  struct stat status {};
  ASSERT_EQ(::stat(path("a.md").c_str(), &status), 0);
  mode_t const mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST_F(output, our_own_file_is_replaced) {
  put(path("a.md"), "# GPU memory peaks: old\n");
  write_file(path("a.md"), "new", signature, false);
  EXPECT_EQ(content_of(path("a.md")), "new");
  put(path("empty.md"), "");
  write_file(path("empty.md"), "new", signature, false);
  EXPECT_EQ(content_of(path("empty.md")), "new");
}

TEST_F(output, a_file_of_others_stays_without_force) {
  put(path("thesis.md"), "# My thesis\n");
  error const problem = failure_of(path("thesis.md"));
  EXPECT_EQ(problem.code(), error_code::cannot_write);
  EXPECT_NE(problem.hint().find("--force"), std::string::npos);
  EXPECT_EQ(content_of(path("thesis.md")), "# My thesis\n");
  EXPECT_EQ(files(), 1U);
  write_file(path("thesis.md"), "new", signature, true);
  EXPECT_EQ(content_of(path("thesis.md")), "new");
}

TEST_F(output, the_signature_counts_near_the_start_only) {
  put(path("a.md"), std::string(10'000, 'x') + std::string(signature));
  EXPECT_EQ(failure_of(path("a.md")).code(), error_code::cannot_write);
}

TEST_F(output, directories) {
  EXPECT_NE(std::string(failure_of(directory_.string()).what()).find("is a directory"),
            std::string::npos);
  EXPECT_EQ(failure_of(directory_.string(), true).code(), error_code::cannot_write);
  error const missing = failure_of(path("no/such/place.md"));
  EXPECT_EQ(missing.code(), error_code::cannot_write);
  EXPECT_TRUE(std::string(missing.what()).starts_with(path("no/such/place.md")));
  EXPECT_EQ(files(), 0U);
}

TEST_F(output, names_that_are_too_long) {
  EXPECT_EQ(failure_of(path(std::string(255, 'x'))).code(), error_code::cannot_write);
  EXPECT_EQ(files(), 0U);
}

TEST_F(output, an_unwritable_directory) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  error const problem = failure_of(path("a.md"));
  fs::permissions(directory_, fs::perms::owner_all);
  EXPECT_EQ(problem.code(), error_code::cannot_write);
  EXPECT_NE(problem.hint().find("--out"), std::string::npos);
}

TEST_F(output, an_unreadable_file_is_not_taken_for_ours) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  put(path("a.md"), "secret");
  fs::permissions(path("a.md"), fs::perms::none);
  EXPECT_EQ(failure_of(path("a.md")).code(), error_code::cannot_write);
}

TEST_F(output, a_link_keeps_naming_its_target) {
  put(path("target.md"), "# GPU memory peaks: old\n");
  fs::create_symlink("target.md", path("link.md"));
  write_file(path("link.md"), "new", signature, false);
  EXPECT_TRUE(fs::is_symlink(path("link.md")));
  EXPECT_EQ(content_of(path("target.md")), "new");
  put(path("thesis.md"), "# My thesis\n");
  fs::create_symlink("thesis.md", path("trap.md"));
  EXPECT_EQ(failure_of(path("trap.md")).code(), error_code::cannot_write);
  EXPECT_EQ(content_of(path("thesis.md")), "# My thesis\n");
}

TEST_F(output, a_link_to_nothing_makes_its_target) {
  fs::create_symlink("target.md", path("link.md"));
  write_file(path("link.md"), "new", signature, false);
  EXPECT_TRUE(fs::is_symlink(path("link.md")));
  EXPECT_EQ(content_of(path("target.md")), "new");
}

TEST_F(output, a_pipe_is_written_not_replaced) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string seen;
  std::thread reader([&] { seen = content_of(path("pipe")); });
  write_file(path("pipe"), "new", signature, false);
  reader.join();
  EXPECT_EQ(seen, "new");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(output, a_full_device) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(failure_of("/dev/full").code(), error_code::cannot_write);
}

TEST(default_report_path, stands_beside_the_snapshot) {
  EXPECT_EQ(default_report_path("a.pickle"), "MEM_PEAK_ANALYSIS_a.md");
  EXPECT_EQ(default_report_path("/runs/7/rank0.pickle"), "/runs/7/MEM_PEAK_ANALYSIS_rank0.md");
  EXPECT_EQ(default_report_path("../a"), "../MEM_PEAK_ANALYSIS_a.md");
}

TEST(default_report_path, drops_the_usual_endings) {
  for (char const* ending : {".pickle", ".pkl", ".json", ".html", ".pt", ".pickle.gz", ".pkl.zst",
                             ".json.xz", ".pickle.zip", ".gz", ".zip", ".bz2"}) {
    EXPECT_EQ(default_report_path("d/a" + std::string(ending)), "d/MEM_PEAK_ANALYSIS_a.md");
  }
  EXPECT_EQ(default_report_path("a.b.pickle"), "MEM_PEAK_ANALYSIS_a.b.md");
  EXPECT_EQ(default_report_path("a.snapshot"), "MEM_PEAK_ANALYSIS_a.snapshot.md");
  EXPECT_EQ(default_report_path(".pickle"), "MEM_PEAK_ANALYSIS_.pickle.md");
}

}  // namespace
}  // namespace memreplay::cli
