// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The stop-watch of chain.py: does one thing once in a fresh process and prints what it took.
//
//   time_once parse FILE THREADS    reads the snapshot
//   time_once copy FILE             memcpy of the file's bytes between two touched buffers
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <memreplay/read_snapshot.hpp>
#include <string_view>
#include <vector>

namespace {

/// CPU time of all threads of the process.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Runs `work`, which returns a number of events, and prints one line of JSON.
template <class WorkT>
void measure(WorkT const& work) {
  auto const start = std::chrono::steady_clock::now();
  double const cpu_start = cpu_seconds();
  std::int64_t const events = work();
  double const cpu = cpu_seconds() - cpu_start;
  std::chrono::duration<double> const wall = std::chrono::steady_clock::now() - start;
  std::printf("{\"cpu_seconds\": %.9f, \"wall_seconds\": %.9f, \"events\": %lld}\n", cpu,
              wall.count(), static_cast<long long>(events));
}

void parse(char const* path, int threads) {
  memreplay::read_options options;
  options.threads = threads;
  measure([&] {
    memreplay::snapshot const input = memreplay::read_snapshot(std::string(path), options);
    return static_cast<std::int64_t>(input.events.size_rows());
  });
}

bool copy(char const* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return false;
  std::vector<char> from(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  if (!file.read(from.data(), static_cast<std::streamsize>(from.size()))) return false;
  std::vector<char> to(from.size(), '\1');
  measure([&] {
    std::memcpy(to.data(), from.data(), from.size());
    return std::int64_t{0};
  });
  // The copy is used, so that it is made.
  return to == from;
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const what = argc > 1 ? argv[1] : "";
  try {
    if (what == "parse" && argc == 4) {
      parse(argv[2], std::atoi(argv[3]));
      return 0;
    }
    if (what == "copy" && argc == 3) return copy(argv[2]) ? 0 : 1;
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "time_once: %s\n", problem.what());
    return 1;
  }
  std::fputs("usage: time_once parse FILE THREADS | copy FILE\n", stderr);
  return 2;
}
