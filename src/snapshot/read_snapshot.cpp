// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From a path to a snapshot: open, unwrap, decode, check.
#include <memreplay/read_snapshot.hpp>

#include <memory>
#include <optional>
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

/// Reads, then drains: what is damaged only behind the snapshot is found, too. What a damaged
/// wrapper lets through looks damaged itself; the wrapper's own error says more.
template <class ReadT, class DrainT>
void read_to_the_end(bool is_wrapped, ReadT read, DrainT drain) {
  try {
    read();
  } catch (error const& problem) {
    if (is_wrapped && problem.code() == error_code::damaged) drain();
    throw;
  }
  drain();
}

/// Reads the snapshot into `rows`. The offset at which a salvaged one was cut off; none when it was
/// not.
std::optional<std::uint64_t> read_rows(input::unwrapped const& found, reading::row_sink& rows,
                                       snapshot& result, read_options const& options) {
  bool const is_wrapped = found.bytes.get() != found.file;
  auto const on_read = [&] {
    if (options.on_progress)
      options.on_progress(found.file->position(), found.file->size().value_or(0));
  };
  if (found.what == input::encoding::json) {
    input::json_feed feed;
    read_to_the_end(
        is_wrapped,
        [&] {
          rows.finish(
              feed.run(*found.bytes, rows, {.salvage = options.salvage, .on_read = on_read}));
        },
        [&] { base::drain(*found.bytes); });
    return feed.is_cut() ? std::optional(found.bytes->position()) : std::nullopt;
  }
  pickle::part_feed feed(*found.bytes, {.threads = options.threads, .on_read = on_read});
  pickle::machine machine(feed, rows, {.salvage = options.salvage});
  read_to_the_end(
      is_wrapped, [&] { rows.finish(machine.run()); }, [&] { feed.drain(); });
  result.pickle_protocol = machine.protocol();
  return machine.cut_at();
}

snapshot decode(std::unique_ptr<base::byte_source> file, read_options const& options) {
  input::unwrapped const found = input::unwrap(std::move(file), options.salvage);
  snapshot result;
  result.container = found.description;
  reading::row_sink rows(result, options.on_rows);
  std::optional<std::uint64_t> const cut_at = read_rows(found, rows, result, options);
  result.file_bytes = found.file_bytes();
  result.snapshot_bytes = found.bytes->position();

  reading::check_sanity(result, rows.odd());
  if (cut_at) {
    result.is_salvaged = true;
    result.defects.push_back(
        {"file_cut", severity::data_loss, 1, 0,
         fmt::format("the file is cut off at byte {}; what follows is missing, and the end "
                     "state does not belong to the last event read",
                     *cut_at),
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
