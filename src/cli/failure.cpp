// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Wording of failures.
#include "cli/failure.hpp"

#include <fmt/format.h>

namespace memreplay::cli {

std::string failure_line(std::string const& file, error const& problem) {
  std::string const what = problem.what();
  std::string line = "memreplay: ";
  // Errors of opening and writing name their path themselves.
  if (!file.empty() && what.find(file) == std::string::npos) {
    line += (file == "-" ? "standard input" : file) + ": ";
  }
  line += what;
  if (auto const at = problem.byte_offset()) line += fmt::format(" (at byte {})", *at);
  if (!problem.hint().empty()) line += "; " + problem.hint();
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  return line + "\n";
}

}  // namespace memreplay::cli
