// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Where the answer of a command goes: standard output, or the file of --out.
#include "cli/print_answer.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "cli/output.hpp"

namespace memreplay::cli {

void print_answer(std::string const& content, common_request const& common, char const* schema,
                  char const* signature) {
  if (common.out.empty() || common.out == "-") {
    write_standard_output(content);
    return;
  }
  write_file(common.out, content, common.json ? schema : signature, common.force);
  if (!common.quiet) fmt::print(stderr, "Wrote {}\n", common.out);
}

}  // namespace memreplay::cli
