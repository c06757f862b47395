// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The URLs of files and lines, and the few files of a git repository that name its commit.

#include "report/links.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "report/path_parts.hpp"

namespace memreplay::reporting {
namespace {

[[nodiscard]] bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

[[nodiscard]] bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// Python and PyTorch put such names where a frame has no file: `<string>`, `<eval_with_key>.12`.
[[nodiscard]] bool is_pseudo_file(std::string_view path) {
  return path.empty() || path == "??" || path[0] == '<';
}

/// Percent-encodes all but the unreserved characters of RFC 3986 and those in `kept`.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view kept) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view unreserved_marks = "-._~";
  std::string encoded;
  encoded.reserve(text.size());
  for (char const letter : text) {
    if (is_letter(letter) || is_digit(letter) ||
        unreserved_marks.find(letter) != std::string_view::npos ||
        kept.find(letter) != std::string_view::npos) {
      encoded.push_back(letter);
    } else {
      auto const byte = static_cast<unsigned char>(letter);
      encoded.push_back('%');
      encoded.push_back(digits[byte >> 4U]);
      encoded.push_back(digits[byte & 0xFU]);
    }
  }
  return encoded;
}

/// `/a/b.py` or `/C:/a/b.py`, encoded; empty for a path that is relative or on another host.
[[nodiscard]] std::string absolute_url_path(std::string_view path) {
  path_parts const parts{path};
  if (!parts.is_absolute() || parts.empty() || parts.anchor() == "//") {
    return {};
  }
  auto const anchor = parts.anchor() == "/" ? "/" : "/" + parts.anchor();
  return anchor + percent_encode(parts.tail_from(0), "/");
}

[[nodiscard]] std::string line_suffix(std::string_view mark, std::int64_t line) {
  return line < 1 ? std::string{} : std::string{mark} + std::to_string(line);
}

[[nodiscard]] std::string make_editor_link(std::string_view scheme, std::string_view path,
                                           std::int64_t line) {
  auto const url_path = absolute_url_path(path);
  if (url_path.empty()) {
    return {};
  }
  return std::string{scheme} + "://file" + url_path + line_suffix(":", line);
}

[[nodiscard]] std::string make_file_link(std::string_view path, std::int64_t line) {
  auto const url_path = absolute_url_path(path);
  if (url_path.empty()) {
    return {};
  }
  // The line is a fragment: what opens the URL may use it, and opens the file in any case.
  return "file://" + url_path + line_suffix("#L", line);
}

[[nodiscard]] std::string make_github_link(link_options const& options, std::string_view path,
                                           std::int64_t line) {
  auto const relative = relative_to(path, options.project_root);
  std::string_view repo_url = options.repo_url;
  // Forgives the address that `git clone` takes: the page does not end in `.git`.
  while (repo_url.ends_with('/')) {
    repo_url.remove_suffix(1);
  }
  if (repo_url.ends_with(".git")) {
    repo_url.remove_suffix(4);
  }
  if (relative.empty() || repo_url.empty() || options.commit.empty()) {
    return {};
  }
  return percent_encode(repo_url, ":/@%") + "/blob/" + percent_encode(options.commit, "/") + "/" +
         percent_encode(relative, "/") + line_suffix("#L", line);
}

/// The first line of a file, without white space at its end; empty when it cannot be read.
[[nodiscard]] std::string read_first_line(std::filesystem::path const& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) {
    return {};
  }
  std::ifstream file{path, std::ios::binary};
  // Git writes one short line into each of these files; more than this is not git's.
  constexpr std::size_t longest_line = 8192;
  std::string line(longest_line, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.erase(std::min(line.find('\n'), line.size()));
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line;
}

[[nodiscard]] bool is_object_id(std::string_view text) {
  auto const is_hex = [](char byte) { return is_digit(byte) || (byte >= 'a' && byte <= 'f'); };
  constexpr std::size_t sha1_digits = 40;
  constexpr std::size_t sha256_digits = 64;
  return (text.size() == sha1_digits || text.size() == sha256_digits) &&
         std::ranges::all_of(text, is_hex);
}

/// What follows `key` in a line that starts with it; empty for other lines.
[[nodiscard]] std::string_view value_after(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) {
    return {};
  }
  line.remove_prefix(key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

/// The object id of a reference that git has moved into its one file for all of them.
[[nodiscard]] std::string find_packed_ref(std::filesystem::path const& packed_refs,
                                          std::string_view name) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(packed_refs, failed)) {
    return {};
  }
  std::ifstream file{packed_refs, std::ios::binary};
  for (std::string row; std::getline(file, row);) {  // OBJECT_ID NAME
    if (row.ends_with('\r')) {
      row.pop_back();
    }
    auto const gap = std::min(row.find(' '), row.size());
    auto const id = std::string_view{row}.substr(0, gap);
    if (value_after(row, id) == name && is_object_id(id)) {
      return std::string{id};
    }
  }
  return {};
}

/// The folder that holds HEAD: `.git` itself, or where the file `.git` of a worktree points.
[[nodiscard]] std::filesystem::path find_git_folder(std::filesystem::path const& project_root) {
  if (project_root.empty()) {
    return {};
  }
  auto dot_git = project_root / ".git";
  std::error_code failed;
  if (std::filesystem::is_directory(dot_git, failed)) {
    return dot_git;
  }
  auto const line = read_first_line(dot_git);
  auto const target = value_after(line, "gitdir:");
  return target.empty() ? std::filesystem::path{} : project_root / target;
}

}  // namespace

std::string make_link_target(link_options const& options, std::string_view path,
                             std::int64_t line) {
  switch (options.style) {
    case link_style::vscode: return make_editor_link("vscode", path, line);
    case link_style::cursor: return make_editor_link("cursor", path, line);
    case link_style::github: return make_github_link(options, path, line);
    case link_style::file: return make_file_link(path, line);
    case link_style::none: break;
  }
  return {};
}

bool is_under(std::string_view path, std::string_view root) {
  if (is_pseudo_file(path) || root.empty()) {
    return false;
  }
  path_parts const parts{path};
  path_parts const root_parts{root};
  // `../x` starts with all the components of `.`, which are none, and still lies outside.
  return parts.is_under(root_parts) &&
         (parts.size() == root_parts.size() || parts[root_parts.size()] != "..");
}

std::string relative_to(std::string_view path, std::string_view root) {
  return is_under(path, root) ? path_parts{path}.tail_from(path_parts{root}.size()) : std::string{};
}

std::string git_head(std::string const& project_root) {
  auto const git_folder = find_git_folder(project_root);
  if (git_folder.empty()) {
    return {};
  }
  // A worktree has its own HEAD and shares its branches with the repository it was made from.
  auto const common = read_first_line(git_folder / "commondir");
  auto const common_folder = common.empty() ? git_folder : git_folder / common;

  auto value = read_first_line(git_folder / "HEAD");
  constexpr int longest_chain = 5;  // of references to references, as in git
  for (int step = 0; step < longest_chain && !is_object_id(value); ++step) {
    std::string const name{value_after(value, "ref:")};
    // Names outside refs/ are no branches, and could lead us to any file.
    if (!name.starts_with("refs/") || !is_under(name, "refs")) {
      return {};
    }
    value = read_first_line(git_folder / name);
    if (value.empty()) {
      value = read_first_line(common_folder / name);
    }
    if (value.empty()) {
      value = find_packed_ref(common_folder / "packed-refs", name);
    }
  }
  return is_object_id(value) ? value : std::string{};
}

}  // namespace memreplay::reporting
