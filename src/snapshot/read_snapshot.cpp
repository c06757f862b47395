// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// From a path to a snapshot: open, unwrap, decode, check.
#include <memreplay/read_snapshot.hpp>

#include <utility>

#include <fmt/format.h>

#include <memreplay/error.hpp>

#include "base/byte_source.hpp"
#include "base/mapped_file.hpp"
#include "input/json_feed.hpp"
#include "input/unwrap.hpp"
#include "pickle/machine.hpp"
#include "snapshot/row_sink.hpp"
#include "snapshot/sanity.hpp"

namespace memreplay {
namespace {

/// `release` is told how far the snapshot's bytes were consumed.
snapshot decode(input::unwrapped const& found, std::uint64_t file_bytes,
                read_options const& options, std::function<void(std::size_t)> const& release) {
  snapshot result;
  result.file_bytes = file_bytes;
  result.snapshot_bytes = found.bytes.size();
  result.container = found.description;
  reading::row_sink rows(result);

  std::size_t cut_at = SIZE_MAX;
  if (found.what == input::encoding::json) {
    input::json_feed feed;
    rows.finish(feed.run(found.bytes, rows, {.salvage = options.salvage}));
    if (feed.is_cut()) cut_at = found.bytes.size();
  } else {
    base::memory_source source(found.bytes);
    pickle::part_feed feed(
        source, {.threads = options.threads, .on_progress = [&](std::uint64_t consumed) {
                   release(static_cast<std::size_t>(consumed));
                   if (options.on_progress) options.on_progress(consumed, found.bytes.size());
                 }});
    pickle::machine machine(feed, rows, {.salvage = options.salvage});
    rows.finish(machine.run());
    if (machine.cut_at()) cut_at = static_cast<std::size_t>(*machine.cut_at());
    result.pickle_protocol = machine.protocol();
  }

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
  if (found.other_members > 0) {
    result.defects.push_back(
        {"other_snapshots_in_page", severity::notice,
         static_cast<std::int64_t>(found.other_members), 0,
         fmt::format("the page embeds {} further snapshots, which were not read",
                     found.other_members),
         ""});
  }
  if (options.on_progress) options.on_progress(found.bytes.size(), found.bytes.size());
  return result;
}

}  // namespace

snapshot read_snapshot(std::string const& path, read_options const& options) {
  base::byte_buffer file = base::byte_buffer::open(path);
  std::uint64_t const file_bytes = file.bytes().size();
  input::unwrapped const found = input::unwrap(file.bytes(), options.salvage);
  return decode(found, file_bytes, options, [&](std::size_t consumed) {
    if (found.storage.bytes().empty()) file.advance_to(consumed);
  });
}

snapshot read_snapshot(std::span<std::byte const> bytes, read_options const& options) {
  input::unwrapped const found = input::unwrap(bytes, options.salvage);
  return decode(found, bytes.size(), options, [](std::size_t) {});
}

}  // namespace memreplay
