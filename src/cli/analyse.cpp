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

analysed analyse(std::string const& path, common_request const& common,
                 plan_maker const& plan_for) {
  analysed result;
  replayer engine(common.plan.backend);
  {
    progress bar("reading " + std::filesystem::path(path).filename().string(), common.quiet);
    result.input = read_snapshot(
        path, {.salvage = common.salvage,
               .threads = common.threads > 0 ? common.threads : all_cores(),
               .on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.show(done, all); },
               .on_rows = [&](event_columns const& events,
                              std::size_t rows) { engine.take_rows(events, rows); }});
  }
  for (std::int32_t const device : choose_devices(result.input, common.device)) {
    replay_result one = engine.replay(result.input, {device}, plan_for(result.input, device));
    result.replayed.backend = std::move(one.backend);
    result.replayed.backend_reason = std::move(one.backend_reason);
    std::move(one.devices.begin(), one.devices.end(), std::back_inserter(result.replayed.devices));
  }
  return result;
}

}  // namespace memreplay::cli
