// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Collects the stacks, frames and sites that a page names, each once, as long as there is room.
#include "report/shown_stacks.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/redaction.hpp"

namespace memreplay::reporting {
namespace {

// What a row takes in JSON beside its texts: the keys; a row number in base64.
constexpr std::int64_t bytes_of_keys = 56;
constexpr std::int64_t bytes_of_number = 6;

constexpr std::int64_t bytes_of_escape = 6;

/// Of the text in JSON that stands in a page.
std::int64_t length(std::string_view text) {
  auto const escapes = std::count_if(text.begin(), text.end(), [](char letter) {
    return letter == '<' || letter == '"' || letter == '\\' ||
           static_cast<unsigned char>(letter) < ' ';
  });
  return static_cast<std::int64_t>(text.size()) + escapes * (bytes_of_escape - 1);
}

}  // namespace

stack_collector::stack_collector(snapshot const& input, site_table& sites, std::int64_t most_bytes,
                                 bool is_redacted)
    : input_(input), sites_(sites), room_(most_bytes), is_redacted_(is_redacted) {
  made_.first.push_back(0);
}

std::uint32_t stack_collector::row_of(stack_id stack) {
  auto const known = row_by_stack_.find(to_row(stack));
  if (known != row_by_stack_.end()) return known->second;
  bool const is_marker = stack == no_stack || stack == before_trace_stack;
  std::uint32_t row = no_row;
  if (is_marker || has_room_for(stack)) {
    row = static_cast<std::uint32_t>(made_.site.size());
    if (!is_marker) {
      for (frame_id const frame : input_.stacks[stack]) made_.frame.push_back(row_of(frame));
      room_ -= bytes_of_number * static_cast<std::int64_t>(input_.stacks[stack].size());
    }
    made_.first.push_back(static_cast<std::int64_t>(made_.frame.size()));
    made_.site.push_back(row_of(sites_.site_of(stack)));
    room_ -= 2 * bytes_of_number;
  }
  row_by_stack_.emplace(to_row(stack), row);
  return row;
}

bool stack_collector::has_room_for(stack_id stack) const {
  std::int64_t needed = 0;
  for (frame_id const id : input_.stacks[stack]) {
    needed += bytes_of_number;
    if (!row_by_frame_.contains(to_row(id))) {
      // A link repeats the path.
      frame const& row = input_.frames[to_row(id)];
      needed += bytes_of_keys + 2 * length(input_.strings[row.file]);
    }
    if (needed > room_) return false;
  }
  return room_ > 0;
}

std::uint32_t stack_collector::row_of(frame_id frame) {
  auto const [known, is_new] =
      row_by_frame_.try_emplace(to_row(frame), static_cast<std::uint32_t>(made_.frames.size()));
  if (is_new) {
    shown_frame shown = sites_.frame_of(frame);
    if (is_redacted_) {
      shown.function = redact_homes(shown.function);
      shown.file = redact_homes(shown.file);
    }
    room_ -= bytes_of_keys + length(shown.function) + length(shown.file) + length(shown.link);
    made_.frames.push_back(std::move(shown));
  }
  return known->second;
}

std::uint32_t stack_collector::row_of(site_id id) {
  auto const [known, is_new] = row_by_site_.try_emplace(
      static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(made_.sites.size()));
  if (is_new) {
    site const& from = sites_[id];
    shown_site shown{from.text, from.label, from.file, from.line, from.link};
    if (is_redacted_) {
      shown.site = redact_homes(shown.site);
      shown.label = redact_homes(shown.label);
      shown.file = redact_homes(shown.file);
      shown.link.clear();
    }
    room_ -= bytes_of_keys + length(shown.site) + length(shown.label) + length(shown.file) +
             length(shown.link);
    made_.sites.push_back(std::move(shown));
  }
  return known->second;
}

}  // namespace memreplay::reporting
