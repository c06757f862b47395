// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Turns a frame's file and line into a link that opens it, and answers which files are the
// project's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <memreplay/report.hpp>

namespace memreplay::reporting {

// Paths here are compared and linked as text, resolved lexically as `path_parts` does: but for
// `git_head`, nothing is looked up on disk.

/// Where links lead.
struct link_options {
  link_style style = link_style::none;
  /// Of `github` alone: the address of the repository's page, the commit to show, and the folder on
  /// this machine that is the top of the repository.
  std::string repo_url;
  std::string commit;
  std::string project_root;
};

/// The URL for a line of a file; empty when there is none to give: style `none`, a path that is not
/// absolute (hence `<frozen runpy>`, `??` and the empty path) or on another host (UNC), and for
/// `github` a path outside the project root or an option that is missing. A line below 1 is unknown
/// and left out. Of the Windows path `C:\x\y.py` it is `vscode://file/C:/x/y.py:3`.
///
/// Every byte of the path that is not an unreserved character of RFC 3986 is percent-encoded, so
/// the URL can stand unquoted as a target in Markdown, within a table too, and in HTML.
[[nodiscard]] std::string make_link_target(link_options const& options, std::string_view path,
                                           std::int64_t line);

/// Whether the file lies in the folder `root` or below, component by component: `/proj2/x.py` is
/// not under `/proj`. True of the root itself, false of an empty root and of names in place of a
/// file (`<string>`, `??`, the empty path). A relative path is under no absolute root, nor an
/// absolute path under a relative one.
[[nodiscard]] bool is_under(std::string_view path, std::string_view root);

/// The path from `root` to the file, with `/` between the components; empty when `is_under` is
/// false, and of the root itself.
[[nodiscard]] std::string relative_to(std::string_view path, std::string_view root);

/// The commit that is checked out in the git repository or worktree whose top is `project_root`, in
/// hexadecimal digits; empty when there is no repository (or no path), when the branch has no
/// commit yet, or when the references are kept in a way that we do not read (reftable). It reads
/// files and runs nothing.
[[nodiscard]] std::string git_head(std::string const& project_root);

}  // namespace memreplay::reporting
