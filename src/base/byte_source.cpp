// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// read(2) and its company.
#include "base/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <memreplay/error.hpp>

namespace memreplay::base {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;

[[noreturn]] void fail(std::string const& shown, int code) {
  std::string hint;
  if (code == ENOENT) hint = "check the path";
  if (code == EACCES) hint = "check the file's permissions";
  throw error(error_code::cannot_read, shown + ": " + std::strerror(code), hint);
}

std::string temporary_folder() {
  char const* const folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

[[noreturn]] void fail_temporary(int code) {
  throw error(error_code::cannot_read,
              "a temporary file in " + temporary_folder() + ": " + std::strerror(code),
              "name a folder with room in TMPDIR, or unpack the input to a file first");
}

void write_all(int fd, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    ssize_t const written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_temporary(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

int open_temporary() {
  std::string path = temporary_folder() + "/memreplay_XXXXXX";
  int const fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) fail_temporary(errno);
  ::unlink(path.c_str());
  return fd;
}

}  // namespace

byte_source::~byte_source() = default;

std::optional<std::uint64_t> byte_source::size() const { return std::nullopt; }

bool byte_source::seek(std::uint64_t /*offset*/) { return false; }

void drain(byte_source& source) {
  std::vector<std::byte> chunk(chunk_bytes);
  while (source.read(chunk) == chunk.size()) {
  }
}

file_source::file_source(std::string const& path)
    : file_source(path == "-" ? "standard input" : path,
                  path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail(shown_, errno);
  if (S_ISDIR(status.st_mode)) {
    throw error(error_code::cannot_read, shown_ + ": is a directory", "name a snapshot file in it");
  }
  off_t const start = ::lseek(fd_, 0, SEEK_CUR);
  // Files of the kernel have content and no size.
  if (!S_ISREG(status.st_mode) || start < 0 || status.st_size <= start) return;
  start_ = static_cast<std::uint64_t>(start);
  size_ = static_cast<std::uint64_t>(status.st_size - start);
  ::posix_fadvise(fd_, start, 0, POSIX_FADV_SEQUENTIAL);
}

file_source::file_source(std::string shown, int fd) : shown_(std::move(shown)), fd_(fd) {
  if (fd_ < 0) fail(shown_, errno);
}

std::unique_ptr<file_source> file_source::spool(byte_source& source) {
  std::unique_ptr<file_source> result(new file_source("a temporary file", open_temporary()));
  std::vector<std::byte> chunk(chunk_bytes);
  std::uint64_t size = 0;
  std::size_t got = chunk.size();
  while (got == chunk.size()) {
    got = source.read(chunk);
    write_all(result->fd_, std::span(chunk).first(got));
    size += got;
  }
  result->size_ = size;
  if (!result->seek(0)) fail_temporary(errno);
  return result;
}

file_source::~file_source() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

std::size_t file_source::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size() && !has_ended_) {
    ssize_t const got = ::read(fd_, into.data() + done, into.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(shown_, errno);
    has_ended_ = got == 0;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool file_source::seek(std::uint64_t offset) {
  if (!size_) return false;
  has_ended_ = false;
  return ::lseek(fd_, static_cast<off_t>(start_ + offset), SEEK_SET) >= 0;
}

std::size_t memory_source::read(std::span<std::byte> into) {
  std::size_t const count = std::min(into.size(), bytes_.size() - at_);
  if (count > 0) std::memcpy(into.data(), bytes_.data() + at_, count);
  at_ += count;
  return count;
}

bool memory_source::seek(std::uint64_t offset) {
  at_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes_.size()));
  return true;
}

}  // namespace memreplay::base
