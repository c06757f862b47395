// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Spelling out columns.
#include "support/snapshot_text.hpp"

#include <sstream>

namespace memreplay::testing {

std::string stack_text(snapshot const& input, stack_id stack) {
  if (stack == no_stack) return "-";
  std::ostringstream out;
  char const* arrow = "";
  for (frame_id const id : input.stacks[stack]) {
    frame const& part = input.frames[to_row(id)];
    out << arrow << input.strings[part.function] << '@' << input.strings[part.file] << ':'
        << part.line;
    arrow = " <- ";
  }
  return "[" + out.str() + "]";
}

std::string snapshot_text(snapshot const& input) {
  std::ostringstream out;
  event_columns const& events = input.events;
  out << "traces " << input.has_traces << " segments " << input.has_segments << '\n';
  for (std::size_t device = 0; device < input.traces.size(); ++device) {
    trace_range const trace = input.traces[device];
    out << "device " << device << '\n';
    for (auto row = static_cast<std::size_t>(trace.first);
         row < static_cast<std::size_t>(trace.first + trace.count); ++row) {
      out << "  " << to_string(events.what[row]) << ' ' << events.address[row] << ' '
          << events.size[row] << " stream " << input.streams[to_row(events.stream[row])];
      if (!events.time_us.empty()) out << " time " << events.time_us[row];
      if (!events.pool.empty()) out << " pool " << to_row(events.pool[row]);
      if (!events.user_metadata.empty())
        out << " metadata '" << input.strings[events.user_metadata[row]] << "'";
      if (!events.compile_context.empty())
        out << " context '" << input.strings[events.compile_context[row]] << "'";
      out << ' ' << stack_text(input, events.stack[row]) << '\n';
    }
  }
  for (segment const& part : input.segments) {
    pool_id const pool = input.pools[to_row(part.pool)];
    out << "segment " << part.device << ' ' << part.address << ' ' << part.total_size << ' '
        << part.allocated_size << ' ' << part.active_size << ' ' << part.requested_size
        << " stream " << input.streams[to_row(part.stream)] << " pool " << pool.first << ','
        << pool.second << (part.is_small ? " small" : " large")
        << (part.is_expandable ? " expandable " : " ") << stack_text(input, part.stack) << '\n';
    for (std::int64_t row = 0; row < part.block_count; ++row) {
      block const& piece = input.blocks[static_cast<std::size_t>(part.first_block + row)];
      out << "  block " << piece.address << ' ' << piece.size << ' ' << piece.requested_size
          << " state " << static_cast<int>(piece.state) << ' ' << stack_text(input, piece.stack)
          << '\n';
    }
  }
  for (annotation const& mark : input.annotations) {
    out << "annotation " << input.strings[mark.name] << (mark.is_start ? " start " : " end ")
        << mark.device << ' ' << mark.time_us << '\n';
  }
  for (setting const& entry : input.settings) out << entry.key << " = " << entry.value << '\n';
  for (audit_row const& defect : input.defects)
    out << "audit " << defect.kind << ' ' << defect.count << '\n';
  return out.str();
}

}  // namespace memreplay::testing
