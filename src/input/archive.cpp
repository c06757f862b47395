// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// libarchive between two sources.
#include "input/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "base/expects.hpp"

namespace memreplay::input {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 17;

struct magic {
  std::string_view start;
  std::string_view format;
  int filter;  ///< ARCHIVE_FILTER_NONE for a zip
};

constexpr magic magics[] = {
    {"\x1f\x8b", "gzip", ARCHIVE_FILTER_GZIP},
    {"\x28\xb5\x2f\xfd", "zstd", ARCHIVE_FILTER_ZSTD},
    {"BZh", "bzip2", ARCHIVE_FILTER_BZIP2},
    {std::string_view("\xfd\x37zXZ\0", 6), "xz", ARCHIVE_FILTER_XZ},
    {"PK\x03\x04", "zip", ARCHIVE_FILTER_NONE},
    {"PK\x05\x06", "zip", ARCHIVE_FILTER_NONE},
};

int filter_of(std::string_view format) {
  auto const* const found = std::ranges::find(magics, format, &magic::format);
  MEMREPLAY_EXPECTS(found != std::end(magics));
  return found->filter;
}

/// One run of libarchive over a source, and the errors of both.
class reader {
 public:
  /// Takes off exactly one layer: libarchive would go on by itself, without our limits in between.
  reader(base::byte_source& bytes, int filter)
      : bytes_(bytes), buffer_(chunk_bytes), handle_(archive_read_new()) {
    if (handle_ == nullptr) throw std::bad_alloc();
    if (filter == ARCHIVE_FILTER_NONE) {
      archive_read_support_format_zip(handle_.get());
      archive_read_set_seek_callback(handle_.get(), seek);
    } else {
      archive_read_support_format_raw(handle_.get());
      archive_read_support_format_empty(handle_.get());
      if (archive_read_append_filter(handle_.get(), filter) < ARCHIVE_WARN) fail();
    }
    // A stream that is damaged at its start would pass as an empty one.
    if (check(archive_read_open(handle_.get(), this, nullptr, read, nullptr)) < ARCHIVE_WARN ||
        archive_errno(handle_.get()) != 0) {
      fail();
    }
  }
  reader(reader const&) = delete;
  reader& operator=(reader const&) = delete;

  /// Below ARCHIVE_WARN: `fail` knows why.
  [[nodiscard]] int next_header(archive_entry*& entry) {
    return check(archive_read_next_header(handle_.get(), &entry));
  }
  [[nodiscard]] int next_block(std::span<std::byte const>& block) {
    void const* first = nullptr;
    std::size_t size = 0;
    la_int64_t at = 0;
    int const status = check(archive_read_data_block(handle_.get(), &first, &size, &at));
    block = {static_cast<std::byte const*>(first), size};
    return status;
  }

  [[noreturn]] void fail() const {
    char const* const reason = archive_error_string(handle_.get());
    throw error(error_code::damaged,
                fmt::format("the compressed file is damaged: {}",
                            reason == nullptr ? "unknown reason" : reason),
                "copy it again; --salvage reads what can still be decoded");
  }

 private:
  struct close_archive {
    void operator()(archive* handle) const noexcept { archive_read_free(handle); }
  };

  // No exception may pass through libarchive: it waits in `failure_` for `check`.
  template <class ActionT>
  la_int64_t guarded(ActionT action) noexcept {
    try {
      return action();
    } catch (...) {
      failure_ = std::current_exception();
      return ARCHIVE_FATAL;
    }
  }

  static la_ssize_t read(archive* /*handle*/, void* self, void const** block) {
    auto& mine = *static_cast<reader*>(self);
    *block = mine.buffer_.data();
    return mine.guarded([&] {
      std::size_t const count = mine.bytes_.read(mine.buffer_);
      mine.offset_ += count;
      return static_cast<la_int64_t>(count);
    });
  }

  static la_int64_t seek(archive* /*handle*/, void* self, la_int64_t offset, int whence) {
    auto& mine = *static_cast<reader*>(self);
    return mine.guarded([&]() -> la_int64_t {
      auto const size = static_cast<la_int64_t>(mine.bytes_.size().value_or(0));
      if (whence == SEEK_CUR) offset += static_cast<la_int64_t>(mine.offset_);
      if (whence == SEEK_END) offset += size;
      if (offset < 0 || offset > size || !mine.bytes_.seek(static_cast<std::uint64_t>(offset)))
        return ARCHIVE_FATAL;
      mine.offset_ = static_cast<std::uint64_t>(offset);
      return offset;
    });
  }

  int check(int status) {
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    return status;
  }

  base::byte_source& bytes_;
  std::vector<std::byte> buffer_;
  std::uint64_t offset_ = 0;
  std::exception_ptr failure_;
  std::unique_ptr<archive, close_archive> handle_;
};

bool is_torch_save(std::string_view path) {
  return path == "data.pkl" || path.ends_with("/data.pkl");
}

/// Index of the member to read among all headers.
std::size_t choose_member(reader& zip, bool is_cut_allowed) {
  std::vector<std::pair<std::size_t, std::string>> files;
  archive_entry* entry = nullptr;
  for (std::size_t row = 0;; ++row) {
    int const status = zip.next_header(entry);
    if (status == ARCHIVE_EOF) break;
    if (status < ARCHIVE_WARN) {
      if (is_cut_allowed && !files.empty()) break;  // the cut is in the last member found
      zip.fail();
    }
    char const* const name = archive_entry_pathname(entry);
    std::string path = name == nullptr ? "" : name;
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

class archive_source final : public base::byte_source {
 public:
  archive_source(std::unique_ptr<base::byte_source> bytes, int filter, archive_options options)
      : bytes_(std::move(bytes)),
        options_(std::move(options)),
        is_zip_(filter == ARCHIVE_FILTER_NONE) {
    // A compressed file has one member; looking for another would decode all of it.
    std::size_t wanted = 0;
    if (is_zip_) {
      if (!bytes_->size()) spooled_ = base::file_source::spool(*bytes_);
      reader listing(seekable(), filter);
      wanted = choose_member(listing, options_.is_cut_allowed);
      if (!seekable().seek(0)) listing.fail();
    }
    reader_ = std::make_unique<reader>(is_zip_ ? seekable() : *bytes_, filter);
    archive_entry* entry = nullptr;
    for (std::size_t row = 0; row <= wanted; ++row) {
      int const status = reader_->next_header(entry);
      if (status == ARCHIVE_EOF && !is_zip_) {  // nothing was compressed
        end();
      } else if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) {
        reader_->fail();
      }
    }
  }

  std::size_t read(std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size() && !has_ended_) {
      if (block_.empty()) next_block();
      std::size_t const count = std::min(into.size() - done, block_.size());
      std::copy_n(block_.data(), count, into.data() + done);
      block_ = block_.subspan(count);
      done += count;
    }
    return done;
  }

 private:
  [[nodiscard]] base::byte_source& seekable() const { return spooled_ ? *spooled_ : *bytes_; }

  void next_block() {
    has_ended_ = true;  // whatever is thrown from here
    int const status = reader_->next_block(block_);
    if (status == ARCHIVE_EOF) return end();
    if (status < ARCHIVE_WARN) {
      if (options_.is_cut_allowed && total_ > 0) return end();
      reader_->fail();
    }
    total_ += block_.size();
    if (total_ > options_.limit()) {
      throw error(error_code::refused, "the file decompresses to more than 200 times its size",
                  "unpack it yourself if you trust it");
    }
    has_ended_ = false;
  }

  void end() {
    has_ended_ = true;
    block_ = {};
    // Of a zip, other members are nobody's business.
    if (!is_zip_) base::drain(*bytes_);
  }

  std::unique_ptr<base::byte_source> bytes_;
  std::unique_ptr<base::byte_source> spooled_;  ///< holds a zip that cannot be sought in
  archive_options options_;
  bool is_zip_;
  std::unique_ptr<reader> reader_;
  std::span<std::byte const> block_;  ///< decoded and not yet read
  std::uint64_t total_ = 0;           ///< decoded
  bool has_ended_ = false;
};

}  // namespace

std::string_view archive_format(std::span<std::byte const> start) noexcept {
  std::string_view const text(reinterpret_cast<char const*>(start.data()), start.size());
  for (magic const& each : magics) {
    if (text.starts_with(each.start)) return each.format;
  }
  return {};
}

std::unique_ptr<base::byte_source> open_archive(std::unique_ptr<base::byte_source> bytes,
                                                std::string_view format, archive_options options) {
  return std::make_unique<archive_source>(std::move(bytes), filter_of(format), std::move(options));
}

}  // namespace memreplay::input
