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

archive_ptr open_archive(std::span<std::byte const> bytes) {
  archive_ptr handle(archive_read_new());
  if (handle == nullptr) throw std::bad_alloc();
  archive_read_support_filter_gzip(handle.get());
  archive_read_support_filter_zstd(handle.get());
  archive_read_support_filter_bzip2(handle.get());
  archive_read_support_filter_xz(handle.get());
  archive_read_support_format_zip(handle.get());
  archive_read_support_format_raw(handle.get());
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    fail(handle.get());
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
std::size_t choose_member(std::span<std::byte const> bytes, bool is_cut_allowed) {
  archive_ptr const handle = open_archive(bytes);
  std::vector<std::pair<std::size_t, std::string>> files;
  archive_entry* entry = nullptr;
  for (std::size_t row = 0;; ++row) {
    int const status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status < ARCHIVE_WARN) {
      if (is_cut_allowed && !files.empty()) break;  // the cut is in the last member found
      fail(handle.get());
    }
    // A compressed file has one member; looking for another would decode all of it.
    if (archive_format(handle.get()) == ARCHIVE_FORMAT_RAW) return row;
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

decoded_member decode_archive(std::span<std::byte const> bytes, std::size_t limit,
                              bool is_cut_allowed) {
  std::size_t const wanted = choose_member(bytes, is_cut_allowed);
  archive_ptr const handle = open_archive(bytes);
  archive_entry* entry = nullptr;
  for (std::size_t row = 0; row <= wanted; ++row) {
    if (archive_read_next_header(handle.get(), &entry) < ARCHIVE_WARN) fail(handle.get());
  }

  decoded_member result;
  bool const is_raw = archive_format(handle.get()) == ARCHIVE_FORMAT_RAW;
  result.format = is_raw ? archive_filter_name(handle.get(), 0) : "zip";
  if (is_raw && archive_filter_count(handle.get()) <= 1) {
    throw error(error_code::not_a_snapshot,
                "the start of a compressed file, but not one that can be decoded");
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
