// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Files, streams and buffers as bytes, and the words for what cannot be opened.
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>

namespace memreplay::base {
namespace {

namespace fs = std::filesystem;

class mapped_file : public ::testing::Test {
 protected:
  mapped_file() {
    std::string name = (fs::temp_directory_path() / "memreplay_test_XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~mapped_file() override { fs::remove_all(directory_); }

  std::string write(std::string const& name, std::string const& content) const {
    std::string path = (directory_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string text_of(byte_buffer const& buffer) {
    return {reinterpret_cast<char const*>(buffer.bytes().data()), buffer.bytes().size()};
  }
  static std::span<std::byte const> bytes_of(std::string const& text) {
    return std::as_bytes(std::span(text));
  }
  static error failure_of(std::string const& path) {
    try {
      (void)byte_buffer::open(path);
      ADD_FAILURE() << "no error";
    } catch (error const& problem) {
      return problem;
    }
    return {error_code::damaged, "none"};
  }

  fs::path directory_;
};

TEST_F(mapped_file, maps_a_file) {
  std::string content;
  for (int row = 0; row < 100'000; ++row) content += std::to_string(row);
  byte_buffer const file = byte_buffer::open(write("a", content));
  EXPECT_EQ(text_of(file), content);
}

TEST_F(mapped_file, an_empty_file_has_no_bytes) {
  EXPECT_TRUE(byte_buffer::open(write("empty", "")).bytes().empty());
}

TEST_F(mapped_file, released_pages_can_be_read_again) {
  std::string const content(100'000, 'x');
  byte_buffer file = byte_buffer::open(write("a", content));
  for (std::size_t const offset :
       {std::size_t{0}, std::size_t{50'000}, std::size_t{10}, content.size(), content.size() * 2}) {
    file.advance_to(offset);
  }
  EXPECT_EQ(text_of(file), content);
}

TEST_F(mapped_file, streams_are_read_to_their_end) {
  std::string const path = (directory_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string const content(3'000'000, 'x');
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << content; });
  byte_buffer stream = byte_buffer::open(path);
  writer.join();
  EXPECT_EQ(text_of(stream), content);
  stream.advance_to(content.size());  // has no file to read again: keeps everything
  EXPECT_EQ(text_of(stream), content);
}

TEST_F(mapped_file, standard_input) {
  int const saved = ::dup(STDIN_FILENO);
  int const file = ::open(write("a", "from stdin").c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  std::string const content = text_of(byte_buffer::open("-"));
  EXPECT_NE(::fcntl(STDIN_FILENO, F_GETFD), -1);  // stays open
  ::dup2(saved, STDIN_FILENO);
  ::close(file);
  ::close(saved);
  EXPECT_EQ(content, "from stdin");
}

TEST_F(mapped_file, failures_name_the_path_and_the_reason) {
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

TEST_F(mapped_file, buffers_grow) {
  byte_buffer buffer;
  EXPECT_TRUE(buffer.bytes().empty());
  buffer.append({});
  std::string expected;
  for (int row = 0; row < 2000; ++row) {
    std::string const piece(static_cast<std::size_t>(row), static_cast<char>('a' + row % 26));
    buffer.append(bytes_of(piece));
    expected += piece;
  }
  EXPECT_EQ(text_of(buffer), expected);
}

TEST_F(mapped_file, moves) {
  byte_buffer first;
  first.append(bytes_of("first"));
  byte_buffer second(std::move(first));
  EXPECT_EQ(text_of(second), "first");
  byte_buffer third;
  third.append(bytes_of("third"));
  third = std::move(second);
  EXPECT_EQ(text_of(third), "first");
  third = byte_buffer::open(write("a", "mapped"));
  EXPECT_EQ(text_of(third), "mapped");
}

}  // namespace
}  // namespace memreplay::base
