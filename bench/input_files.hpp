// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The snapshots that benchmarks read: those the build has made, and one that the caller names.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace memreplay::bench {

struct input_file {
  std::string name;  ///< as it stands in the names of benchmarks
  std::string path;
};

/// By name. The variable MEMREPLAY_BENCH_INPUTS names another folder (so that two builds read the
/// same files), MEMREPLAY_BENCH_SNAPSHOT a file, which comes last as "named_file".
[[nodiscard]] inline std::vector<input_file> input_files() {
  char const* const folder = std::getenv("MEMREPLAY_BENCH_INPUTS");
  std::vector<input_file> found;
  std::error_code no_folder;
  for (auto const& entry : std::filesystem::directory_iterator(
           folder != nullptr ? folder : MEMREPLAY_BENCH_INPUTS, no_folder)) {
    found.push_back({entry.path().stem().string(), entry.path().string()});
  }
  std::ranges::sort(found, {}, &input_file::name);
  if (char const* const path = std::getenv("MEMREPLAY_BENCH_SNAPSHOT")) {
    found.push_back({"named_file", path});
  }
  return found;
}

}  // namespace memreplay::bench
