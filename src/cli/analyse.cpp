// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Reading and replaying one input.
#include "cli/analyse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memreplay/error.hpp>
#include <memreplay/make_report.hpp>
#include <memreplay/read_snapshot.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "cli/progress.hpp"

namespace memreplay::cli {
namespace {

std::vector<std::int32_t> choose_devices(snapshot const& input, std::string const& asked) {
  if (asked == "busiest") return {busiest_device(input)};
  std::vector<std::int32_t> present = devices_in(input);
  if (asked == "all") return present;
  std::int32_t ordinal = 0;
  std::from_chars(asked.data(), asked.data() + asked.size(), ordinal);
  if (std::ranges::find(present, ordinal) != present.end()) return {ordinal};
  std::string list;
  for (std::int32_t const device : present) {
    list += (list.empty() ? "" : ", ") + std::to_string(device);
  }
  throw error(error_code::bad_request, fmt::format("no device {} in this file", ordinal),
              fmt::format("it has device {}", list));
}

int all_cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace

opened open_snapshot(std::string const& path, common_request const& common) {
  opened file;
  file.engine = std::make_unique<replayer>(common.plan.backend);
  {
    progress bar("reading " + std::filesystem::path(path).filename().string(), common.quiet);
    file.input = read_snapshot(
        path, {.salvage = common.salvage,
               .threads = common.threads > 0 ? common.threads : all_cores(),
               .on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.show(done, all); },
               .on_rows = [&](event_columns const& events,
                              std::size_t rows) { file.engine->take_rows(events, rows); }});
  }
  file.devices = choose_devices(file.input, common.device);
  return file;
}

replay_result replay_devices(opened& file, plan_maker const& plan_for) {
  replay_result all;
  for (std::int32_t const device : file.devices) {
    replay_result one = file.engine->replay(file.input, {device}, plan_for(file.input, device));
    all.backend = std::move(one.backend);
    all.backend_reason = std::move(one.backend_reason);
    std::move(one.devices.begin(), one.devices.end(), std::back_inserter(all.devices));
  }
  return all;
}

analysed analyse(std::string const& path, common_request const& common,
                 plan_maker const& plan_for) {
  opened file = open_snapshot(path, common);
  replay_result replayed = replay_devices(file, plan_for);
  return {std::move(file.input), std::move(replayed)};
}

}  // namespace memreplay::cli
