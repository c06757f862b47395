// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Says which line of code a stack is blamed on, once per distinct stack.
#include "report/sites.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "report/redaction.hpp"

namespace memreplay::reporting {
namespace {

constexpr std::uint32_t unknown_site = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint8_t unfit = std::numeric_limits<std::uint8_t>::max();
constexpr std::size_t chain_length = 5;
constexpr std::size_t longest_function = 120;  // bytes; demangled templates run to kilobytes
constexpr std::size_t short_path_parts = 3;

/// Folder names as absolute paths, when they are paths of this machine at all.
std::vector<std::string> find_roots(std::string const& given) {
  if (looks_like_windows_path(given)) return {given};
  std::error_code failed;
  std::filesystem::path absolute = std::filesystem::absolute(given.empty() ? "." : given, failed);
  if (failed) return {given};
  absolute = absolute.lexically_normal();
  std::vector<std::string> roots = {path_parts(absolute.string()).text()};
  std::filesystem::path const resolved = std::filesystem::weakly_canonical(absolute, failed);
  if (!failed && path_parts(resolved.string()).text() != roots.front()) {
    roots.push_back(path_parts(resolved.string()).text());
  }
  return roots;
}

/// The folder whose `.git` holds the project: the root itself or the nearest one above it.
std::string find_repository_top(std::string const& root) {
  std::error_code failed;
  for (std::filesystem::path folder = root;; folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / ".git", failed)) return folder.string();
    if (!folder.has_relative_path()) return root;
  }
}

std::string apply_path_map(std::string_view path, site_options const& options) {
  std::pair<std::string, std::string> const* best = nullptr;
  std::size_t best_depth = 0;
  for (auto const& entry : options.path_map) {
    std::size_t const depth = path_parts(entry.first).size();
    if (is_under(path, entry.first) && (best == nullptr || depth > best_depth)) {
      best = &entry;
      best_depth = depth;
    }
  }
  if (best == nullptr) return std::string(path);
  return path_parts(find_roots(best->second).front() + '/' + relative_to(path, best->first)).text();
}

bool is_pseudo_file(std::string_view path) { return path.starts_with('<'); }

std::string shorten(std::string_view function) {
  if (function.size() <= longest_function) return std::string(function);
  std::size_t end = longest_function;
  while (end > 0 && (static_cast<unsigned char>(function[end]) & 0xC0U) == 0x80U) --end;
  return std::string(function.substr(0, end)) + "...";
}

bool is_named(std::string_view function) { return !function.empty() && function != "??"; }

std::string_view last_name(std::string_view qualified) {
  return qualified.substr(qualified.rfind('.') + 1);  // npos + 1 is 0
}

}  // namespace

site_table::site_table(snapshot const& input, site_options const& options, site_rule default_rule)
    : input_(input),
      roots_(find_roots(options.project_root)),
      frame_depth_(std::max<std::int64_t>(options.frame_depth, 1)),
      is_redacted_(options.redact),
      rule_(options.rule.value_or(default_rule)) {
  links_.style = options.redact ? link_style::none : options.links;
  links_.repo_url = options.repo_url;
  links_.commit = options.commit;
  if (links_.style == link_style::github) {
    links_.project_root = find_repository_top(roots_.front());
    if (links_.commit.empty()) links_.commit = git_head(links_.project_root);
  }
  read_files(options);
  bool const has_project_frame = std::any_of(files_.begin(), files_.end(),
                                             [](file_info const& file) { return file.in_project; });
  if (!options.rule && rule_ == site_rule::project && !has_project_frame) {
    rule_ = site_rule::user;
    if (!input_.frames.empty()) {
      rule_note_ = "no recorded frame lies under the project root " +
                   (is_redacted_ ? redact_homes(project_root()) : project_root()) +
                   ": sites follow the user rule (innermost frame that is not machinery)";
    }
  }
  rank_frames();
  site_by_stack_.assign(input_.stacks.size(), unknown_site);
}

void site_table::read_files(site_options const& options) {
  std::unordered_map<std::uint32_t, std::uint32_t> file_by_string;
  std::unordered_map<std::string, std::uint32_t> file_by_path;
  frames_.resize(input_.frames.size());
  for (std::size_t row = 0; row < input_.frames.size(); ++row) {
    string_id const name = input_.frames[row].file;
    auto const [known, is_new] = file_by_string.try_emplace(to_row(name), 0);
    if (is_new) {
      file_info file = make_file(input_.strings[name], options);
      auto const next = static_cast<std::uint32_t>(files_.size());
      auto const [same, is_new_path] = file_by_path.try_emplace(file.path, next);
      if (is_new_path) files_.push_back(std::move(file));
      known->second = same->second;
    }
    frames_[row].file = known->second;
  }

  // A short path is worth something only while it names one file.
  if (is_redacted_) return;
  std::unordered_map<std::string, int> uses;
  for (file_info const& file : files_) ++uses[file.short_path];
  for (file_info& file : files_) {
    if (uses[file.short_path] > 1 && !file.in_project) file.short_path = file.path;
  }
}

site_table::file_info site_table::make_file(std::string_view recorded,
                                            site_options const& options) const {
  std::string path = apply_path_map(recorded, options);
  path_parts parts(path);
  file_kind const kind = kind_of_file(path, parts);
  bool const is_known = !path.empty() && path != "??";
  // A script started as `python train.py` is recorded relative to its working directory.
  if (is_known && kind != file_kind::native && !is_pseudo_file(path) && !parts.is_absolute() &&
      !parts.empty() && parts[0] != "..") {
    path = path_parts(project_root() + '/' + path).text();
    parts = path_parts(path);
  }

  file_info file{path, parts, kind, is_known, false, false, {}, {}};
  std::string relative;
  for (std::string const& root : roots_) {
    if (!is_under(path, root)) continue;
    relative = relative_to(path, root);
    break;
  }
  std::size_t const below = relative.empty() ? 0 : parts.size() - path_parts(relative).size();
  file.has_lines = is_known && has_source_lines(parts);
  file.in_project = !relative.empty() && file.has_lines && !is_foreign_below(parts, below);

  std::size_t const library = library_tail(parts);
  if (!is_known) return file;
  if (is_pseudo_file(path)) {
    file.short_path = path;
  } else if (file.in_project) {
    file.short_path = relative;
  } else if (is_redacted_) {
    file.short_path = redact_outside(parts);
  } else if (library > 0) {
    file.short_path = parts.tail_from(library);
  } else {
    file.short_path =
        parts.size() > short_path_parts ? ".../" + parts.last(short_path_parts) : parts.text();
  }
  file.shown = is_redacted_ ? file.short_path : path;
  return file;
}

void site_table::rank_frames() {
  for (std::size_t row = 0; row < frames_.size(); ++row) {
    std::string_view const function = input_.strings[input_.frames[row].function];
    frames_[row].rank = rank_of(files_[frames_[row].file], function);
  }
}

std::uint8_t site_table::rank_of(file_info const& file, std::string_view function) const {
  bool const is_python = file.kind != file_kind::native;
  if (rule_ == site_rule::project) {
    if (file.in_project) return 0;
    if (is_python && (!is_pseudo_file(file.path) || file.kind == file_kind::user)) return 1;
  } else if (is_python) {
    bool const is_place = !is_machinery_function(function);
    if (file.kind == file_kind::user) return is_place ? 0 : 1;
    return is_place ? 2 : 3;
  }
  if (!is_named(function)) return unfit;
  return is_recorder_function(function) ? 5 : 4;
}

bool site_table::is_in_chain(file_info const& file) const {
  return rule_ == site_rule::project ? file.in_project : file.kind == file_kind::user;
}

site_id site_table::site_of(stack_id stack) {
  if (stack == no_stack || stack == before_trace_stack) {
    char const* const text = stack == no_stack ? no_frames_text : before_trace_text;
    auto const [known, is_new] =
        site_by_key_.try_emplace(text, static_cast<site_id>(sites_.size()));
    if (is_new) sites_.push_back(site{text, {}, {}, 0, {}, text, text});
    return known->second;
  }
  std::uint32_t& known = site_by_stack_[to_row(stack)];
  if (known == unknown_site) {
    std::vector<frame_id> const frames = frames_of_site(stack);
    known = static_cast<std::uint32_t>(frames.empty() ? site_of(no_stack) : intern(frames));
  }
  return static_cast<site_id>(known);
}

std::vector<frame_id> site_table::frames_of_site(stack_id stack) const {
  auto const depth =
      rule_ == site_rule::user ? static_cast<std::size_t>(frame_depth_) : std::size_t{1};
  std::uint8_t best = unfit;
  std::vector<frame_id> chosen;
  for (frame_id const id : input_.stacks[stack]) {
    std::uint8_t const rank = frames_[to_row(id)].rank;
    if (rank < best) {
      best = rank;
      chosen.clear();
    }
    if (rank == best && rank != unfit && chosen.size() < depth) chosen.push_back(id);
    if (best == 0 && chosen.size() == depth) break;
  }
  return chosen;
}

site_id site_table::intern(std::vector<frame_id> const& frames) {
  std::string key;
  for (frame_id const id : frames) {
    std::int64_t const line = line_of(id);
    key += std::to_string(frames_[to_row(id)].file);
    key += line > 0 ? '#' + std::to_string(line) : '@' + std::string(function_of(id));
    key += '\n';
  }
  auto const [known, is_new] =
      site_by_key_.try_emplace(std::move(key), static_cast<site_id>(sites_.size()));
  if (is_new) sites_.push_back(make_site(frames));
  return known->second;
}

site site_table::make_site(std::vector<frame_id> const& frames) {
  frame_id const first = frames.front();
  file_info const& file = file_of(first);
  site made;
  for (frame_id const id : frames) {
    if (!made.text.empty()) made.text += " -> ";
    made.text += text_of(id);
    std::string const separator = made.function_key.empty() ? "" : " -> ";
    made.function_key += separator + shorten(function_of(id)) + '@' + file_name_of(id);
    made.file_key += separator + file_name_of(id);
  }
  made.label = label_of(first);
  made.file = file.shown;
  made.line = line_of(first);
  if (file.has_lines) made.link = make_link_target(links_, file.path, made.line);
  return made;
}

shown_frame site_table::frame_of(frame_id id) const {
  file_info const& file = file_of(id);
  shown_frame made{shorten(function_of(id)), file.is_known ? file.shown : "??", line_of(id), {}};
  if (file.has_lines) made.link = make_link_target(links_, file.path, made.line);
  return made;
}

std::string site_table::text_of(frame_id id) const {
  file_info const& file = file_of(id);
  std::int64_t const line = line_of(id);
  std::string function = shorten(function_of(id));  // may be moved out
  std::string const number = line > 0 ? ':' + std::to_string(line) : std::string{};
  if (!file.is_known) return function;
  if (rule_ == site_rule::project && (line > 0 || function.empty()))
    return file.short_path + number;
  std::string const name = file_name_of(id);
  return function.empty() ? name + number : function + '@' + name + number;
}

std::string site_table::file_name_of(frame_id id) const {
  file_info const& file = file_of(id);
  if (!file.is_known) return "??";
  return std::string(is_pseudo_file(file.path) ? std::string_view(file.path)
                                               : file.parts.file_name());
}

std::string site_table::label_of(frame_id id) {
  file_info const& file = file_of(id);
  std::string_view const function = function_of(id);
  std::int64_t const line = line_of(id);
  if (file.kind != file_kind::native && line > 0) {
    std::string label = labels_.label(file.path, line);
    // The source at hand may be newer than the recording: believe it only where it agrees with the
    // frame.
    bool const agrees =
        function.starts_with('<') ? function != "<module>" : last_name(label) == function;
    if (!label.empty() && agrees) return label;
  }
  return shorten(file.kind == file_kind::native ? cxx_name(function) : function);
}

std::string site_table::chain_text_of(frame_id id) {
  file_info const& file = file_of(id);
  std::int64_t const line = line_of(id);
  std::string name = label_of(id);
  if ((name.empty() || name == "<module>") && file.is_known) {
    name = is_pseudo_file(file.path) ? file.path : std::string(file.parts.file_name());
  }
  return line > 0 ? name + ':' + std::to_string(line) : name;
}

std::string site_table::chain_of(stack_id stack) {
  if (stack == no_stack || stack == before_trace_stack) return {};
  std::vector<frame_id> shown;
  std::uint8_t best = unfit;
  for (frame_id const id : input_.stacks[stack]) {
    best = std::min(best, frames_[to_row(id)].rank);
    if (shown.size() < chain_length && is_in_chain(file_of(id))) shown.push_back(id);
  }
  if (shown.empty() && best != unfit) {
    for (frame_id const id : input_.stacks[stack]) {
      if (shown.size() < chain_length && frames_[to_row(id)].rank == best) shown.push_back(id);
    }
  }
  std::string text;
  for (frame_id const id : shown) {
    if (!text.empty()) text += " <- ";
    text += chain_text_of(id);
  }
  return text;
}

bool site_table::has_python_frame(stack_id stack) const {
  if (stack == no_stack || stack == before_trace_stack) return false;
  auto const frames = input_.stacks[stack];
  return std::any_of(frames.begin(), frames.end(),
                     [this](frame_id id) { return file_of(id).kind != file_kind::native; });
}

bool site_table::has_any_frame(stack_id stack) const {
  return stack != no_stack && stack != before_trace_stack && !input_.stacks[stack].empty();
}

std::int64_t site_table::line_of(frame_id id) const {
  std::uint64_t const line = input_.frames[to_row(id)].line;
  bool const is_line = line <= std::numeric_limits<std::int32_t>::max() && file_of(id).has_lines;
  return is_line ? static_cast<std::int64_t>(line) : 0;
}

std::string_view site_table::function_of(frame_id id) const {
  return input_.strings[input_.frames[to_row(id)].function];
}

site_table::file_info const& site_table::file_of(frame_id id) const {
  return files_[frames_[to_row(id)].file];
}

}  // namespace memreplay::reporting
