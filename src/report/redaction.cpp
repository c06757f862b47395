// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Takes names of people and machines out of what a report shows.
#include "report/redaction.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memreplay::reporting {
namespace {

constexpr std::array<std::string_view, 3> home_parents = {"home", "Users", "users"};
constexpr std::size_t not_a_home = 0;

bool is_separator(char value) { return value == '/' || value == '\\'; }

/// Characters that end a path inside running text. A blank does not: user names may hold one on
/// Windows, but hiding a little more is the safe side only inside the component, so the next
/// separator still ends it.
bool ends_component(char value) {
  return is_separator(value) || value == '"' || value == '\'' || value == '\n' || value == ':' ||
         value == ',' || value == ';' || value == ')' || value == ']' || value == '>' ||
         value == '|' || value == '`';
}

std::size_t component_end(std::string_view text, std::size_t first) {
  while (first < text.size() && !ends_component(text[first])) ++first;
  return first;
}

/// End of the home directory whose parent's separator stands at `at`, or `not_a_home`.
std::size_t home_end(std::string_view text, std::size_t at) {
  std::size_t const name_end = component_end(text, at + 1);
  std::string_view const name = text.substr(at + 1, name_end - at - 1);
  bool const is_parent =
      std::find(home_parents.begin(), home_parents.end(), name) != home_parents.end();
  if (is_parent && name_end < text.size() && is_separator(text[name_end])) {
    std::size_t const user_end = component_end(text, name_end + 1);
    return user_end > name_end + 1 ? user_end : not_a_home;
  }
  // Only the root user's home itself: a folder called `root` elsewhere names nobody.
  bool const at_top = at == 0 || ends_component(text[at - 1]) || text[at - 1] == ' ' ||
                      text[at - 1] == '=' || text[at - 1] == '(' || text[at - 1] == '[' ||
                      text[at - 1] == '<';
  return name == "root" && at_top ? name_end : not_a_home;
}

bool is_path_character(char value) {
  return !ends_component(value) && value != ' ' && value != '=' && value != '(' && value != '[' &&
         value != '<' && value != '@';
}

/// Takes back the folders above a home (`/nfs`, `C:`) that are already in the output.
void drop_path_before(std::string& out) {
  std::size_t keep = out.size();
  while (keep > 0 && (is_path_character(out[keep - 1]) || is_separator(out[keep - 1]))) --keep;
  bool const has_drive = keep >= 2 && out[keep - 1] == ':' && is_path_character(out[keep - 2]) &&
                         (keep == 2 || !is_path_character(out[keep - 3]));
  if (has_drive) keep -= 2;
  out.resize(keep);
}

}  // namespace

std::string redact_homes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = is_separator(text[at]) ? home_end(text, at) : not_a_home;
    if (end == not_a_home) {
      out += text[at++];
      continue;
    }
    drop_path_before(out);
    out += '~';
    at = end;
  }
  return out;
}

std::string redact_outside(path_parts const& parts) {
  return path_parts(redact_homes(parts.text())).last(2);
}

void redact(std::vector<site_row>& rows) {
  for (site_row& row : rows) {
    row.site = redact_homes(row.site);
    row.label = redact_homes(row.label);
    row.file = redact_homes(row.file);
    row.chain = redact_homes(row.chain);
    row.link.clear();
  }
}

void redact(std::vector<finding>& rows) {
  for (finding& row : rows) row.text = redact_homes(row.text);
}

void redact(audit& rows) {
  for (audit_row& row : rows) {
    row.message = redact_homes(row.message);
    row.advice = redact_homes(row.advice);
  }
}

void redact(report_header& header) {
  if (header.file != "-") header.file = redact_outside(path_parts(header.file));
  header.backend_reason = redact_homes(header.backend_reason);
  header.rule_note = redact_homes(header.rule_note);
  header.project_root = redact_outside(path_parts(header.project_root));
  for (auto& [key, value] : header.settings) value = redact_homes(value);
  redact(header.defects);
}

void redact(report& model) {
  redact(static_cast<report_header&>(model));
  for (annotation_row& row : model.annotations) row.name = redact_homes(row.name);
  for (device_report& device : model.devices) {
    for (peak_report& peak : device.peaks) {
      peak.within = redact_homes(peak.within);
      redact(peak.sites);
    }
    redact(device.top_allocators);
    for (oom_row& row : device.ooms) {
      row.site = redact_homes(row.site);
      row.within = redact_homes(row.within);
    }
    redact(device.findings);
    redact(device.defects);
  }
}

void redact(segments_report& model) {
  redact(static_cast<report_header&>(model));
  for (device_segments& device : model.devices) {
    device.within = redact_homes(device.within);
    for (segment_row& row : device.rows) redact(row.owners);
  }
}

}  // namespace memreplay::reporting
