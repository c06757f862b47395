// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// libarchive as a writer.
#include "support/wrapped_bytes.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <stdexcept>

namespace memreplay::testing {
namespace {

la_ssize_t append_to(archive* /*writer*/, void* target, void const* bytes, std::size_t length) {
  static_cast<std::string*>(target)->append(static_cast<char const*>(bytes), length);
  return static_cast<la_ssize_t>(length);
}

void require(bool is_ok, archive* writer) {
  if (is_ok) return;
  char const* const reason = archive_error_string(writer);
  throw std::runtime_error(reason == nullptr ? "libarchive failed" : reason);
}

void add_member(archive* writer, std::string const& path, std::string_view content) {
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, path.c_str());
  archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  bool is_ok = archive_write_header(writer, entry) == ARCHIVE_OK;
  archive_entry_free(entry);
  is_ok = is_ok && (content.empty() || archive_write_data(writer, content.data(), content.size()) ==
                                           static_cast<la_ssize_t>(content.size()));
  require(is_ok, writer);
}

}  // namespace

std::string compressed(std::string_view content, char const* filter) {
  std::string out;
  archive* const writer = archive_write_new();
  require(archive_write_set_format_raw(writer) == ARCHIVE_OK &&
              archive_write_add_filter_by_name(writer, filter) == ARCHIVE_OK &&
              archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK &&
              archive_write_open(writer, &out, nullptr, append_to, nullptr) == ARCHIVE_OK,
          writer);
  add_member(writer, "data", content);
  require(archive_write_close(writer) == ARCHIVE_OK, writer);
  archive_write_free(writer);
  return out;
}

std::string zip_of(std::vector<std::pair<std::string, std::string>> const& members) {
  std::string out;
  archive* const writer = archive_write_new();
  require(archive_write_set_format_zip(writer) == ARCHIVE_OK &&
              archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK &&
              archive_write_open(writer, &out, nullptr, append_to, nullptr) == ARCHIVE_OK,
          writer);
  for (auto const& [path, content] : members) add_member(writer, path, content);
  require(archive_write_close(writer) == ARCHIVE_OK, writer);
  archive_write_free(writer);
  return out;
}

std::string base64_of(std::string_view content) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < content.size(); at += 3) {
    std::string_view const group = content.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      bits = bits << 8 | (row < group.size() ? static_cast<unsigned char>(group[row]) : 0U);
    }
    for (std::size_t row = 0; row < 4; ++row) {
      out.push_back(row <= group.size() ? alphabet[bits >> (18 - 6 * row) & 63] : '=');
    }
  }
  return out;
}

std::string page_of(std::vector<std::string> const& contents) {
  std::string out =
      "<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\n"
      "import {add_local_files} from \"https://example.org/MemoryViz.js\"\n"
      "const local_files = [";
  char const* comma = "";
  for (std::string const& content : contents) {
    out += std::exchange(comma, ", ");
    out += "{\"name\": \"snapshot.pickle\", \"base64\": \"" + base64_of(content) + "\"}";
  }
  return out + "]\nadd_local_files(local_files, \"Active Memory Timeline\")\n</script>\n</body>\n";
}

}  // namespace memreplay::testing
