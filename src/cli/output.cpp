// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Where results go: standard output, or a file that is replaced as a whole.
#include "cli/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memreplay/error.hpp>

namespace memreplay::cli {
namespace {

/// 0, or the system's reason why not all of it was written.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    ssize_t const written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

[[noreturn]] void fail(std::string const& shown, int reason, std::string const& hint = {}) {
  throw error(error_code::cannot_write, fmt::format("{}: {}", shown, std::strerror(reason)), hint);
}

/// Takes off the first of `endings` that fits, unless nothing would be left.
template <std::size_t Count>
void drop_ending(std::string& name, std::array<std::string_view, Count> const& endings) {
  for (std::string_view const ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
      return;
    }
  }
}

void check_is_ours(std::string const& path, std::string_view signature) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return;
  if (std::filesystem::is_directory(path, problem)) {
    throw error(error_code::cannot_write, path + ": is a directory", "give --out a file name");
  }
  std::array<char, 4096> start{};
  std::ifstream existing(path, std::ios::binary);
  if (!existing) {
    throw error(error_code::cannot_write, path + ": exists and cannot be read to see who wrote it",
                "use --force to overwrite it, or --out to write elsewhere");
  }
  existing.read(start.data(), start.size());
  std::string_view const seen(start.data(), static_cast<std::size_t>(existing.gcount()));
  if (seen.empty() || seen.find(signature) != std::string_view::npos) return;
  throw error(error_code::cannot_write, path + ": exists and was not written by memreplay",
              "use --force to overwrite it, or --out to write elsewhere");
}

std::string path_beside(std::string const& snapshot, std::string const& before,
                        std::string const& ending) {
  std::filesystem::path const path(snapshot);
  std::string name = path.filename().string();
  drop_ending<5>(name, {".gz", ".zst", ".zip", ".xz", ".bz2"});
  drop_ending<5>(name, {".pickle", ".pkl", ".json", ".html", ".pt"});
  return (path.parent_path() / (before + name + ending)).string();
}

/// The file that a link names, whether it exists or not: renaming over the link itself would cut
/// it.
std::string real_target(std::string const& path) {
  std::filesystem::path target(path);
  std::error_code problem;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(target, problem); ++links) {
    std::filesystem::path const next = std::filesystem::read_symlink(target, problem);
    if (problem) return path;
    target = target.parent_path() / next;
  }
  return target.string();
}

}  // namespace

void write_standard_output(std::string_view content) {
  int const reason = write_all(STDOUT_FILENO, content);
  if (reason != 0 && reason != EPIPE) fail("standard output", reason);
}

void write_file(std::string const& path, std::string_view content, std::string_view signature,
                bool force) {
  std::string const target = real_target(path);
  std::error_code problem;
  if (std::filesystem::exists(target, problem) &&
      !std::filesystem::is_regular_file(target, problem) &&
      !std::filesystem::is_directory(target, problem)) {
    std::ofstream device(target, std::ios::binary);  // /dev/stdout, a pipe: nothing to replace
    device.write(content.data(), static_cast<std::streamsize>(content.size()));
    device.flush();
    if (!device) fail(path, errno);
    return;
  }
  if (!force) check_is_ours(target, signature);

  std::string temporary = target + ".XXXXXX";
  int const fd = ::mkstemp(temporary.data());
  if (fd < 0) fail(path, errno, "use --out to write elsewhere, --out - for standard output");
  int reason = write_all(fd, content);
  mode_t const mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
  if (::close(fd) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) reason = errno;
  if (reason != 0) {
    ::unlink(temporary.c_str());
    fail(path, reason);
  }
}

std::string default_report_path(std::string const& snapshot) {
  return path_beside(snapshot, "MEM_PEAK_ANALYSIS_", ".md");
}

std::string default_timeline_path(std::string const& snapshot, std::string const& ending) {
  return path_beside(snapshot, "MEM_TIMELINE_", ending);
}

}  // namespace memreplay::cli
