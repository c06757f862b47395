// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// libarchive over bytes in memory.
#include "input/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "base/expects.hpp"

namespace memreplay::input {
namespace {

struct close_archive {
  void operator()(archive* handle) const noexcept { archive_read_free(handle); }
};
using archive_ptr = std::unique_ptr<archive, close_archive>;

[[noreturn]] void fail(archive* handle) {
  char const* const reason = archive_error_string(handle);
  throw error(error_code::damaged,
              fmt::format("the compressed file is damaged: {}",
                          reason == nullptr ? "unknown reason" : reason),
              "copy it again; --salvage reads what can still be decoded");
}

struct magic {
  std::string_view start;
  int filter;  ///< ARCHIVE_FILTER_NONE for a zip
  char const* format;
};

constexpr magic magics[] = {
    {"\x1f\x8b", ARCHIVE_FILTER_GZIP, "gzip"},
    {"\x28\xb5\x2f\xfd", ARCHIVE_FILTER_ZSTD, "zstd"},
    {"BZh", ARCHIVE_FILTER_BZIP2, "bzip2"},
    {std::string_view("\xfd\x37zXZ\0", 6), ARCHIVE_FILTER_XZ, "xz"},
    {"PK\x03\x04", ARCHIVE_FILTER_NONE, "zip"},
    {"PK\x05\x06", ARCHIVE_FILTER_NONE, "zip"},
};

magic const* find_magic(std::span<std::byte const> bytes) noexcept {
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  for (magic const& each : magics) {
    if (text.starts_with(each.start)) return &each;
  }
  return nullptr;
}

/// Takes off exactly one layer: libarchive would go on by itself, without our limits in between.
archive_ptr open_archive(std::span<std::byte const> bytes, magic const& what) {
  archive_ptr handle(archive_read_new());
  if (handle == nullptr) throw std::bad_alloc();
  if (what.filter == ARCHIVE_FILTER_NONE) {
    archive_read_support_format_zip(handle.get());
  } else {
    archive_read_support_format_raw(handle.get());
    archive_read_support_format_empty(handle.get());
    if (archive_read_append_filter(handle.get(), what.filter) < ARCHIVE_WARN) fail(handle.get());
  }
  int const status = archive_read_open_memory(handle.get(), bytes.data(), bytes.size());
  // A stream that is damaged at its start would pass as an empty one.
  if (status < ARCHIVE_WARN || archive_errno(handle.get()) != 0) fail(handle.get());
  return handle;
}

std::string path_of(archive_entry* entry) {
  char const* const path = archive_entry_pathname(entry);
  return path == nullptr ? "" : path;
}

bool is_torch_save(std::string_view path) {
  return path == "data.pkl" || path.ends_with("/data.pkl");
}

/// Index of the member to read among all headers.
std::size_t choose_member(std::span<std::byte const> bytes, magic const& what,
                          bool is_cut_allowed) {
  archive_ptr const handle = open_archive(bytes, what);
  std::vector<std::pair<std::size_t, std::string>> files;
  archive_entry* entry = nullptr;
  for (std::size_t row = 0;; ++row) {
    int const status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status < ARCHIVE_WARN) {
      if (is_cut_allowed && !files.empty()) break;  // the cut is in the last member found
      fail(handle.get());
    }
    std::string path = path_of(entry);
    if (archive_entry_filetype(entry) == AE_IFDIR || path.starts_with("__MACOSX/")) continue;
    if (is_torch_save(path)) return row;
    files.emplace_back(row, std::move(path));
    if (files.size() > 1000) break;
  }
  if (files.size() == 1) return files.front().first;
  if (files.empty()) throw error(error_code::not_a_snapshot, "the archive holds no file");
  throw error(
      error_code::not_a_snapshot,
      fmt::format("the archive holds {} files ({}, {} ...), so it is not clear which one is meant",
                  files.size(), files[0].second, files[1].second),
      "unpack it and name the snapshot");
}

}  // namespace

bool is_archive(std::span<std::byte const> bytes) noexcept { return find_magic(bytes) != nullptr; }

decoded_member decode_archive(std::span<std::byte const> bytes, std::size_t limit,
                              bool is_cut_allowed) {
  magic const* const what = find_magic(bytes);
  MEMREPLAY_EXPECTS(what != nullptr);
  decoded_member result;
  result.format = what->format;
  // A compressed file has one member; looking for another would decode all of it.
  bool const is_zip = what->filter == ARCHIVE_FILTER_NONE;
  std::size_t const wanted = is_zip ? choose_member(bytes, *what, is_cut_allowed) : 0;
  archive_ptr const handle = open_archive(bytes, *what);
  archive_entry* entry = nullptr;
  for (std::size_t row = 0; row <= wanted; ++row) {
    int const status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF && !is_zip) return result;  // nothing was compressed
    if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) fail(handle.get());
  }
  for (;;) {
    void const* chunk = nullptr;
    std::size_t size = 0;
    la_int64_t at = 0;
    int const status = archive_read_data_block(handle.get(), &chunk, &size, &at);
    if (status == ARCHIVE_EOF) return result;
    if (status < ARCHIVE_WARN) {
      if (is_cut_allowed && !result.content.bytes().empty()) return result;
      fail(handle.get());
    }
    if (result.content.bytes().size() + size > limit) {
      throw error(error_code::refused, "the file decompresses to more than 200 times its size",
                  "unpack it yourself if you trust it");
    }
    result.content.append({static_cast<std::byte const*>(chunk), size});
  }
}

}  // namespace memreplay::input
