// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From a path to a snapshot: open, unwrap, decode, check.
#include <memreplay/read_snapshot.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "base/byte_source.hpp"
#include "input/json_feed.hpp"
#include "input/unwrap.hpp"
#include "pickle/machine.hpp"
#include "snapshot/row_sink.hpp"
#include "snapshot/sanity.hpp"

namespace memreplay {
namespace {

/// Reads the snapshot into `rows`. The offset at which a salvaged one was cut off; SIZE_MAX when it
/// was not.
std::size_t read_rows(input::unwrapped const& found, reading::row_sink& rows, snapshot& result,
                      read_options const& options) {
  std::function<void()> const on_read = [&] {
    if (options.on_progress)
      options.on_progress(found.file->position(), found.file->size().value_or(0));
  };
  if (found.what == input::encoding::json) {
    input::json_feed feed;
    rows.finish(feed.run(*found.bytes, rows, {.salvage = options.salvage, .on_read = on_read}));
    base::drain(*found.bytes);
    return feed.is_cut() ? found.bytes->position() : SIZE_MAX;
  }
  pickle::part_feed feed(*found.bytes,
                         {.threads = options.threads,
                          .on_progress = [&](std::uint64_t /*done*/) { on_read(); }});
  pickle::machine machine(feed, rows, {.salvage = options.salvage});
  rows.finish(machine.run());
  result.pickle_protocol = machine.protocol();
  return machine.cut_at().value_or(SIZE_MAX);
}

snapshot decode(std::unique_ptr<base::byte_source> file, read_options const& options) {
  input::unwrapped const found = input::unwrap(std::move(file), options.salvage);
  snapshot result;
  result.container = found.description;
  reading::row_sink rows(result);
  std::size_t cut_at = SIZE_MAX;
  try {
    cut_at = read_rows(found, rows, result, options);
  } catch (error const& problem) {
    // What a damaged wrapper lets through looks damaged too; the wrapper's own error says more.
    bool const is_wrapped = found.bytes.get() != found.file;
    if (is_wrapped && problem.code() == error_code::damaged) base::drain(*found.bytes);
    throw;
  }
  result.file_bytes = found.file_bytes();
  result.snapshot_bytes = found.bytes->position();

  reading::check_sanity(result, rows.odd());
  if (cut_at != SIZE_MAX) {
    result.is_salvaged = true;
    result.defects.push_back(
        {"file_cut", severity::data_loss, 1, 0,
         fmt::format("the file is cut off at byte {}; what follows is missing, and the end "
                     "state does not belong to the last event read",
                     cut_at),
         "dump again if the process still runs"});
  }
  if (found.other_members() > 0) {
    result.defects.push_back(
        {"other_snapshots_in_page", severity::notice,
         static_cast<std::int64_t>(found.other_members()), 0,
         fmt::format("the page embeds {} further snapshots, which were not read",
                     found.other_members()),
         ""});
  }
  if (options.on_progress) options.on_progress(result.file_bytes, result.file_bytes);
  return result;
}

}  // namespace

snapshot read_snapshot(std::string const& path, read_options const& options) {
  return decode(std::make_unique<base::file_source>(path), options);
}

snapshot read_snapshot(std::span<std::byte const> bytes, read_options const& options) {
  return decode(std::make_unique<base::memory_source>(bytes), options);
}

}  // namespace memreplay
