// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reading documents of tests, and looking into what came out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <memreplay/error.hpp>
#include <memreplay/read_snapshot.hpp>

#include "support/pickle_writer.hpp"
#include "support/snapshot_text.hpp"

namespace memreplay::reading {

inline snapshot read_bytes(std::string const& bytes, bool salvage = false) {
  return read_snapshot(testing::as_input(bytes), {.salvage = salvage});
}

inline snapshot read(testing::object_ptr const& document) {
  return read_bytes(testing::write_python_pickle(document, 4));
}

/// One trace of these events, and nothing else.
inline snapshot read_events(std::vector<testing::object_ptr> events) {
  return read(testing::snapshot_object({}, {testing::list(std::move(events))}));
}

inline error failure_of_bytes(std::string const& bytes, bool salvage = false) {
  try {
    (void)read_bytes(bytes, salvage);
    ADD_FAILURE() << "no error";
  } catch (error const& problem) {
    return problem;
  }
  return {error_code::cannot_read, "none"};
}

inline error failure_of(testing::object_ptr const& document) {
  return failure_of_bytes(testing::write_python_pickle(document, 4));
}

/// How often the audit counted `kind`; 0 when it did not.
inline std::int64_t defect(snapshot const& input, std::string_view kind) {
  auto const row =
      std::ranges::find_if(input.defects, [&](audit_row const& each) { return each.kind == kind; });
  return row == input.defects.end() ? 0 : row->count;
}

inline std::string defect_message(snapshot const& input, std::string_view kind) {
  auto const row =
      std::ranges::find_if(input.defects, [&](audit_row const& each) { return each.kind == kind; });
  return row == input.defects.end() ? "" : row->message;
}

inline std::string setting_of(snapshot const& input, std::string_view key) {
  for (setting const& entry : input.settings) {
    if (entry.key == key) return entry.value;
  }
  return "missing";
}

}  // namespace memreplay::reading
