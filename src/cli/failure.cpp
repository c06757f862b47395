// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Wording of failures.
#include "cli/failure.hpp"

#include <fmt/format.h>

#include <utility>

namespace memreplay::cli {

std::string failure_line(std::string const& file, error const& problem) {
  std::string const what = problem.what();
  std::string const shown = file == "-" ? "standard input" : file;
  std::string line = "memreplay: ";
  // Errors of opening and writing begin with their path.
  bool const is_named =
      problem.code() == error_code::cannot_write || what.starts_with(shown + ": ");
  if (!shown.empty() && !is_named) line += shown + ": ";
  line += what;
  if (auto const at = problem.byte_offset()) line += fmt::format(" (at byte {})", *at);
  if (!problem.hint().empty()) line += "; " + problem.hint();
  return one_line(std::move(line)) + "\n";
}

error named_error(std::string const& file, error const& problem) {
  std::string const what = problem.what();
  std::string const shown = file == "-" ? "standard input" : file;
  if (what.starts_with(shown + ": ")) return problem;
  std::string const named = shown + ": " + what;
  if (auto const at = problem.byte_offset()) return {problem.code(), named, *at, problem.hint()};
  return {problem.code(), named, problem.hint()};
}

std::string one_line(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const byte = static_cast<unsigned char>(text[at]);
    if (byte < ' ' || byte == 0x7f) text[at] = ' ';
    // U+0080 to U+009F, the second set of control characters.
    if (byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0) {
      text[at] = ' ';
      text[at + 1] = ' ';
    }
  }
  return text;
}

}  // namespace memreplay::cli
