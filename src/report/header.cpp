// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What every report says about its file, and about how it was asked.
#include "report/header.hpp"

#include <memreplay/make_report.hpp>

namespace memreplay::reporting {

report_header make_header(char const* schema, snapshot const& input, replay_result const& replayed,
                          replay_plan const& plan, site_table const& sites,
                          std::string const& file) {
  report_header made;
  made.schema = schema;
  made.file = file;
  made.file_bytes = input.file_bytes;
  made.snapshot_bytes = input.snapshot_bytes;
  made.container = input.container;
  made.pickle_protocol = input.pickle_protocol;
  made.has_traces = input.has_traces;
  made.has_segments = input.has_segments;
  made.is_salvaged = input.is_salvaged;
  made.backend = replayed.backend;
  made.backend_reason = replayed.backend_reason;
  made.plan = plan;
  made.rule = sites.rule();
  made.rule_note = sites.rule_note();
  made.project_root = sites.project_root();
  for (setting const& row : input.settings) made.settings.emplace_back(row.key, row.value);
  made.devices_in_file = devices_in(input);
  made.defects = input.defects;
  return made;
}

}  // namespace memreplay::reporting
