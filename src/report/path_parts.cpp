// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A recorded file path cut into its components, so that paths are compared by component and never
// as text.
#include "report/path_parts.hpp"

#include <algorithm>

namespace memreplay::reporting {
namespace {

bool is_letter(char value) {
  return (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z');
}

bool has_drive(std::string_view path) {
  return path.size() >= 3 && is_letter(path[0]) && path[1] == ':' &&
         (path[2] == '\\' || path[2] == '/');
}

}  // namespace

bool looks_like_windows_path(std::string_view path) noexcept {
  return has_drive(path) || path.substr(0, 2) == "\\\\";
}

path_parts::path_parts(std::string_view path) {
  // A backslash is an ordinary character of a POSIX name, so it separates only where the rest says
  // Windows.
  bool const is_windows =
      looks_like_windows_path(path) ||
      (path.find('\\') != std::string_view::npos && path.find('/') == std::string_view::npos);
  auto const is_separator = [is_windows](char value) {
    return value == '/' || (is_windows && value == '\\');
  };

  if (has_drive(path)) {
    anchor_ = {static_cast<char>(path[0] & ~0x20), ':', '/'};
    path.remove_prefix(3);
  } else if (looks_like_windows_path(path)) {
    anchor_ = "//";
    path.remove_prefix(2);
  } else if (!path.empty() && is_separator(path.front())) {
    anchor_ = "/";
  }

  while (!path.empty()) {
    auto const end = std::find_if(path.begin(), path.end(), is_separator);
    std::string_view const name = path.substr(0, static_cast<std::size_t>(end - path.begin()));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (name.empty() || name == ".") continue;
    if (name == ".." && !names_.empty() && names_.back() != "..") {
      names_.pop_back();
    } else if (name != ".." || anchor_.empty()) {
      names_.emplace_back(name);
    }
  }
}

std::string_view path_parts::file_name() const noexcept {
  return names_.empty() ? std::string_view{} : std::string_view{names_.back()};
}

bool path_parts::is_under(path_parts const& folder) const {
  return anchor_ == folder.anchor_ && names_.size() >= folder.names_.size() &&
         std::equal(folder.names_.begin(), folder.names_.end(), names_.begin());
}

std::string path_parts::tail_from(std::size_t first) const {
  std::string text;
  for (std::size_t index = first; index < names_.size(); ++index) {
    if (index > first) text += '/';
    text += names_[index];
  }
  return text;
}

std::string path_parts::last(std::size_t count) const {
  return tail_from(names_.size() > count ? names_.size() - count : 0);
}

std::string path_parts::text() const { return anchor_ + tail_from(0); }

}  // namespace memreplay::reporting
