// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What was wrong with, or missing from, the input: counted rows, never exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memreplay {

enum class severity {
  info,       ///< normal for this kind of file, worth knowing
  notice,     ///< a number may surprise the reader
  data_loss,  ///< something that happened is not in the file
  error,      ///< the file contradicts itself
};

[[nodiscard]] constexpr char const* to_string(severity value) noexcept {
  switch (value) {
    case severity::info: return "info";
    case severity::notice: return "notice";
    case severity::data_loss: return "data_loss";
    case severity::error: return "error";
  }
  return "error";
}

/// One kind of defect. `kind` is a stable snake_case name of the JSON schema; `count` says how
/// often it was met, `bytes` how much memory it concerns (0 when that makes no sense).
struct audit_row {
  std::string kind;
  severity level = severity::info;
  std::int64_t count = 1;
  std::int64_t bytes = 0;
  std::string message;  ///< one sentence: what, and what it means for the numbers
  std::string advice;   ///< one sentence or empty: what to do next time
};

using audit = std::vector<audit_row>;

}  // namespace memreplay
