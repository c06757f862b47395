// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Opening, mapping and reading of input files.
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <memreplay/error.hpp>

namespace memreplay::base {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t window_bytes = std::size_t{16} << 20;

[[noreturn]] void fail(std::string const& path, int code) {
  std::string hint;
  if (code == ENOENT) hint = "check the path";
  if (code == EACCES) hint = "check the file's permissions";
  throw error(error_code::cannot_read, path + ": " + std::strerror(code), hint);
}

class file_descriptor {
 public:
  explicit file_descriptor(int fd) : fd_(fd) {}
  file_descriptor(file_descriptor const&) = delete;
  file_descriptor& operator=(file_descriptor const&) = delete;
  ~file_descriptor() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace

byte_buffer::byte_buffer(byte_buffer&& other) noexcept { *this = std::move(other); }

byte_buffer& byte_buffer::operator=(byte_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(released_, other.released_);
  std::swap(is_file_, other.is_file_);
  return *this;
}

byte_buffer::~byte_buffer() { unmap(); }

void byte_buffer::unmap() noexcept {
  if (data_ != nullptr) ::munmap(data_, capacity_);
  data_ = nullptr;
}

byte_buffer byte_buffer::open(std::string const& path) {
  std::string const shown = path == "-" ? "standard input" : path;
  file_descriptor const file(path == "-" ? STDIN_FILENO
                                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(shown, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(shown, errno);
  if (S_ISDIR(status.st_mode)) {
    throw error(error_code::cannot_read, shown + ": is a directory", "name a snapshot file in it");
  }

  byte_buffer result;
  if (S_ISREG(status.st_mode) && path != "-") {
    result.size_ = static_cast<std::size_t>(status.st_size);
    if (result.size_ == 0) return result;
    void* const mapped = ::mmap(nullptr, result.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED) fail(shown, errno);
    ::madvise(mapped, result.size_, MADV_SEQUENTIAL);
    result.data_ = static_cast<std::byte*>(mapped);
    result.capacity_ = result.size_;
    result.is_file_ = true;
    result.advance_to(0);
    return result;
  }
  static thread_local std::array<std::byte, 1 << 20> chunk;
  for (;;) {
    ssize_t const got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(shown, errno);
    if (got == 0) return result;
    result.append(std::span<std::byte const>{chunk}.first(static_cast<std::size_t>(got)));
  }
}

void byte_buffer::append(std::span<std::byte const> more) {
  if (more.empty()) return;
  if (data_ == nullptr || size_ + more.size() > capacity_) {
    std::size_t const wanted = std::max(capacity_ + capacity_ / 2, size_ + more.size());
    std::size_t const rounded = (wanted + page_bytes - 1) / page_bytes * page_bytes;
    void* const grown = data_ == nullptr ? ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                         : ::mremap(data_, capacity_, rounded, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) {
      throw error(error_code::cannot_read, "not enough memory to hold the decompressed snapshot",
                  "decompress it to a file first");
    }
    data_ = static_cast<std::byte*>(grown);
    capacity_ = rounded;
  }
  std::memcpy(data_ + size_, more.data(), more.size());
  size_ += more.size();
}

void byte_buffer::advance_to(std::size_t offset) noexcept {
  std::size_t const end = std::min(offset, size_) / page_bytes * page_bytes;
  if (!is_file_) return;
  if (end > released_) {
    ::madvise(data_ + released_, end - released_, MADV_DONTNEED);
    released_ = end;
  }
#ifdef MADV_POPULATE_READ
  // One call instead of a page fault for every few pages; older kernels refuse it, which is fine.
  ::madvise(data_ + end, std::min(size_ - end, window_bytes), MADV_POPULATE_READ);
#endif
}

}  // namespace memreplay::base
