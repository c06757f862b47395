// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A timeline as a page: its data, put into the template.
#include <memreplay/write_report.hpp>

#include <string>
#include <string_view>

#include "writers/page_template.hpp"

namespace memreplay {

using namespace writers;

namespace {

/// Where the data goes; it stands in the template once.
constexpr std::string_view page_data_mark = "@PAGE_DATA@";

}  // namespace

bool has_timeline_page() noexcept { return !page_template().empty(); }

std::string write_timeline_page(timeline_report const& model) {
  std::string_view const page = page_template();
  std::size_t const at = page.find(page_data_mark);
  if (at == std::string_view::npos) return {};
  std::string const data = write_timeline_json(model);
  std::string out;
  out.reserve(page.size() + data.size());
  out += page.substr(0, at);
  out += data;
  out += page.substr(at + page_data_mark.size());
  return out;
}

}  // namespace memreplay
