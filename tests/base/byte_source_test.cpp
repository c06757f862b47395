// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Files, pipes and memory as sources, and the words for what cannot be opened.
#include "base/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "support/sources.hpp"
#include "support/temporary_folder.hpp"

namespace memreplay::base {
namespace {

namespace fs = std::filesystem;

using testing::text_of;

class sources : public ::testing::Test {
 protected:
  std::string write(std::string const& name, std::string const& content) const {
    std::string path = (directory_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static error failure_of(std::string const& path) {
    try {
      file_source file(path);
      (void)text_of(file);
      ADD_FAILURE() << "no error";
    } catch (error const& problem) {
      return problem;
    }
    return {error_code::damaged, "none"};
  }

  testing::temporary_folder folder_;
  fs::path const& directory_ = folder_.path();
};

std::string numbers() {
  std::string content;
  for (int row = 0; row < 100'000; ++row) content += std::to_string(row);
  return content;
}

TEST_F(sources, a_file_in_pieces_of_any_size) {
  std::string const content = numbers();
  std::string const path = write("a", content);
  for (std::size_t const step :
       {std::size_t{1}, std::size_t{7}, std::size_t{4096}, content.size(), content.size() + 1}) {
    file_source file(path);
    EXPECT_EQ(file.size(), content.size());
    EXPECT_EQ(text_of(file, step), content);
    memory_source memory(std::as_bytes(std::span(content)));
    EXPECT_EQ(memory.size(), content.size());
    EXPECT_EQ(text_of(memory, step), content);
  }
}

TEST_F(sources, an_empty_file_has_no_bytes) {
  file_source file(write("empty", ""));
  EXPECT_EQ(text_of(file), "");
  memory_source memory({});
  EXPECT_EQ(text_of(memory), "");
}

TEST_F(sources, seeks) {
  std::string const content = numbers();
  file_source file(write("a", content));
  memory_source memory(std::as_bytes(std::span(content)));
  for (base::byte_source* const source :
       {static_cast<base::byte_source*>(&file), static_cast<base::byte_source*>(&memory)}) {
    for (std::size_t const offset :
         {std::size_t{50'000}, content.size(), std::size_t{10}, content.size() * 2}) {
      EXPECT_TRUE(source->seek(offset));
      EXPECT_EQ(text_of(*source), content.substr(std::min(offset, content.size())));
    }
  }
}

TEST_F(sources, a_pipe_fills_what_was_asked_for) {
  std::string const path = (directory_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string const content = numbers();
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    for (std::size_t at = 0; at < content.size(); at += 777) {
      pipe << content.substr(at, 777) << std::flush;
    }
  });
  file_source stream(path);
  EXPECT_EQ(stream.size(), std::nullopt);
  EXPECT_FALSE(stream.seek(0));
  EXPECT_EQ(text_of(stream, 10'000), content);  // stops at a piece that is not full
  writer.join();
  std::byte more;
  EXPECT_EQ(stream.read({&more, 1}), 0U);
}

TEST_F(sources, standard_input_begins_where_it_stands) {
  int const saved = ::dup(STDIN_FILENO);
  int const opened = ::open(write("a", "read: from stdin").c_str(), O_RDONLY);
  ::dup2(opened, STDIN_FILENO);
  ::lseek(STDIN_FILENO, 6, SEEK_SET);
  {
    file_source file("-");
    EXPECT_EQ(file.size(), 10U);
    EXPECT_EQ(text_of(file), "from stdin");
    EXPECT_TRUE(file.seek(5));
    EXPECT_EQ(text_of(file), "stdin");
  }
  EXPECT_NE(::fcntl(STDIN_FILENO, F_GETFD), -1);  // stays open
  ::dup2(saved, STDIN_FILENO);
  ::close(opened);
  ::close(saved);
}

TEST_F(sources, a_file_that_is_shortened_while_it_is_read_ends_early) {
  std::string const content = numbers();
  std::string const path = write("a", content);
  file_source file(path);
  std::vector<std::byte> start(1000);
  EXPECT_EQ(file.read(start), 1000U);
  fs::resize_file(path, 2000);
  EXPECT_EQ(text_of(file), content.substr(1000, 1000));
}

TEST_F(sources, files_of_the_kernel_have_content_and_no_size) {
  std::string const path = "/proc/self/status";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  file_source file(path);
  EXPECT_EQ(file.size(), std::nullopt);
  EXPECT_NE(text_of(file), "");
}

TEST_F(sources, spooled_streams_can_be_sought_in) {
  std::string const content = numbers();
  testing::stream_source stream(content);
  ::setenv("TMPDIR", directory_.c_str(), 1);
  std::unique_ptr<file_source> const file = file_source::spool(stream);
  EXPECT_TRUE(fs::is_empty(directory_));  // it has no name
  EXPECT_EQ(file->size(), content.size());
  EXPECT_EQ(text_of(*file), content);
  EXPECT_TRUE(file->seek(5));
  EXPECT_EQ(text_of(*file), content.substr(5));

  ::setenv("TMPDIR", (directory_ / "missing").c_str(), 1);
  try {
    (void)file_source::spool(stream);
    ADD_FAILURE() << "no error";
  } catch (error const& problem) {
    EXPECT_EQ(problem.code(), error_code::cannot_read);
    EXPECT_NE(std::string(problem.what()).find("missing: No such file"), std::string::npos);
    EXPECT_NE(problem.hint().find("TMPDIR"), std::string::npos);
  }
  ::unsetenv("TMPDIR");
}

TEST_F(sources, drain_reads_to_the_end) {
  std::string const content = numbers();
  testing::stream_source stream(content);
  drain(stream);
  EXPECT_EQ(text_of(stream), "");
}

TEST_F(sources, failures_name_the_path_and_the_reason) {
  error const missing = failure_of((directory_ / "missing").string());
  EXPECT_EQ(missing.code(), error_code::cannot_read);
  EXPECT_EQ(std::string(missing.what()),
            (directory_ / "missing").string() + ": No such file or directory");
  EXPECT_EQ(missing.hint(), "check the path");
  error const folder = failure_of(directory_.string());
  EXPECT_EQ(folder.code(), error_code::cannot_read);
  EXPECT_NE(std::string(folder.what()).find("is a directory"), std::string::npos);
  EXPECT_EQ(failure_of("").code(), error_code::cannot_read);
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::string const secret = write("secret", "x");
  fs::permissions(secret, fs::perms::none);
  EXPECT_NE(failure_of(secret).hint().find("permissions"), std::string::npos);
}

}  // namespace
}  // namespace memreplay::base
