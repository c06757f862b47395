// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Says which line of code a stack is blamed on, once per distinct stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <memreplay/ids.hpp>
#include <memreplay/report.hpp>
#include <memreplay/snapshot.hpp>
#include <memreplay/timeline_report.hpp>

#include "report/internal_frames.hpp"
#include "report/links.hpp"
#include "report/path_parts.hpp"
#include "report/python_labels.hpp"

namespace memreplay::reporting {

/// Row of a `site_table`.
enum class site_id : std::uint32_t {};

struct site {
  std::string text;       ///< `model.py:42`, `forward@model.py:42`, or frames joined by ` -> `
  std::string label;      ///< `Class.method`, else the function's name
  std::string file;       ///< as shown; empty when unknown
  std::int64_t line = 0;  ///< 0 = unknown
  std::string link;
  /// What the site is called wherever its line may have moved to, and its file alone.
  std::string function_key, file_key;
};

/// The text of the two sites that are no place in the code.
inline constexpr char const* no_frames_text = "<no frames>";
inline constexpr char const* before_trace_text = "before the trace";

/// Sites of one snapshot. Two stacks have one site exactly when the files and lines of the chosen
/// frames are equal (the functions, where a line is unknown). The snapshot must outlive the table.
class site_table {
 public:
  /// Applies `default_rule` when the options name none, or the user rule when the default is
  /// `project` and no frame of the whole file lies under the project's root (`rule_note` then says
  /// so).
  site_table(snapshot const& input, site_options const& options, site_rule default_rule);

  [[nodiscard]] site_rule rule() const noexcept { return rule_; }
  [[nodiscard]] std::string const& rule_note() const noexcept { return rule_note_; }
  /// Absolute.
  [[nodiscard]] std::string const& project_root() const noexcept { return roots_.front(); }

  [[nodiscard]] site_id site_of(stack_id stack);
  [[nodiscard]] site const& operator[](site_id id) const noexcept {
    return sites_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::size_t size() const noexcept { return sites_.size(); }

  /// The frame as it is shown, with its link.
  [[nodiscard]] shown_frame frame_of(frame_id id) const;

  /// Up to five frames of the project (rule `project`) or of the user (rule `user`), innermost
  /// first.
  [[nodiscard]] std::string chain_of(stack_id stack);
  [[nodiscard]] bool has_python_frame(stack_id stack) const;
  [[nodiscard]] bool has_any_frame(stack_id stack) const;

 private:
  struct file_info {
    std::string path;  ///< mapped, not redacted
    path_parts parts;
    file_kind kind = file_kind::native;
    bool is_known = false;  ///< not `??`
    bool in_project = false;
    bool has_lines = false;
    std::string shown;       ///< for `site::file`
    std::string short_path;  ///< identifies the file within this snapshot, unless redacted
  };
  struct frame_info {
    std::uint32_t file = 0;
    std::uint8_t rank = 0;  ///< how well the frame suits as a site; 0 is best
  };

  void read_files(site_options const& options);
  void rank_frames();
  [[nodiscard]] file_info make_file(std::string_view recorded, site_options const& options) const;
  [[nodiscard]] std::uint8_t rank_of(file_info const& file, std::string_view function) const;
  [[nodiscard]] bool is_in_chain(file_info const& file) const;

  [[nodiscard]] std::vector<frame_id> frames_of_site(stack_id stack) const;
  [[nodiscard]] site_id intern(std::vector<frame_id> const& frames);
  [[nodiscard]] site make_site(std::vector<frame_id> const& frames);
  [[nodiscard]] std::string text_of(frame_id id) const;
  [[nodiscard]] std::string file_name_of(frame_id id) const;
  [[nodiscard]] std::string label_of(frame_id id);
  [[nodiscard]] std::string chain_text_of(frame_id id);
  [[nodiscard]] std::int64_t line_of(frame_id id) const;
  [[nodiscard]] std::string_view function_of(frame_id id) const;
  [[nodiscard]] file_info const& file_of(frame_id id) const;

  snapshot const& input_;
  std::vector<std::string> roots_;  ///< as given and with symbolic links resolved
  std::int64_t frame_depth_;
  bool is_redacted_;
  link_options links_;
  site_rule rule_;
  std::string rule_note_;
  python_labels labels_;
  std::vector<file_info> files_;
  std::vector<frame_info> frames_;  ///< by frame id
  std::vector<site> sites_;
  std::unordered_map<std::string, site_id> site_by_key_;
  std::vector<std::uint32_t> site_by_stack_;  ///< by stack id, `unknown_site` until asked for
};

}  // namespace memreplay::reporting
