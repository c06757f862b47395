// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A recorded file path cut into its components, so that paths are compared by component and never
// as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay::reporting {

/// The components of a path as some machine wrote it: POSIX, or Windows (`C:\a\b`), which this
/// machine need not be (the drive in upper case). `.` is dropped and `name/..` folded without
/// asking the file system. Owns its text.
class path_parts {
 public:
  explicit path_parts(std::string_view path);

  /// `/`, `C:/`, `//`, or empty for a relative path.
  [[nodiscard]] std::string const& anchor() const noexcept { return anchor_; }
  [[nodiscard]] bool is_absolute() const noexcept { return !anchor_.empty(); }
  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] std::string const& operator[](std::size_t index) const noexcept {
    return names_[index];
  }
  /// The last component; empty for a bare anchor.
  [[nodiscard]] std::string_view file_name() const noexcept;

  /// Whether `folder` is this path or one of its ancestors.
  [[nodiscard]] bool is_under(path_parts const& folder) const;
  /// Components from `first` on, joined by `/`.
  [[nodiscard]] std::string tail_from(std::size_t first) const;
  /// The last `count` components, joined by `/`.
  [[nodiscard]] std::string last(std::size_t count) const;
  /// Anchor and all components, joined by `/`.
  [[nodiscard]] std::string text() const;

 private:
  std::string anchor_;
  std::vector<std::string> names_;
};

/// Whether the text is spelled like a Windows path: a drive letter or a leading `\\`.
[[nodiscard]] bool looks_like_windows_path(std::string_view path) noexcept;

}  // namespace memreplay::reporting
