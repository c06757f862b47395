// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Whole commands, from the file to the written answer; the start of the process is not in it.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/input_files.hpp"
#include "cli/commands.hpp"
#include "cli/request.hpp"

namespace memreplay {
namespace {

using command = cli::exit_status (*)(cli::request const&);

void run(benchmark::State& state, command what, std::vector<std::string> const& arguments,
         std::size_t threads) {
  cli::parsed const line = cli::parse_command_line(arguments);
  if (!line.is_request) {
    state.SkipWithError(line.text.c_str());
    return;
  }
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, threads);
  for (auto _ : state) {
    if (what(line.asked) != cli::exit_status::done) {
      state.SkipWithError("the command failed");
      break;
    }
  }
  std::int64_t bytes = 0;
  for (std::string const& file : line.asked.inputs)
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(file));
  state.SetBytesProcessed(state.iterations() * bytes);
}

void add(std::string const& name, command what, bench::input_file const& input,
         std::string const& out, std::vector<std::string> const& options = {}) {
  for (int const threads : {1, 2}) {
    std::string const count = std::to_string(threads);
    std::vector<std::string> arguments{name,    "--quiet", "--force",   "--backend", "host",
                                       "--out", out,       "--threads", count};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(input.path);
    std::string full_name = name;
    for (std::string const& option : options)
      full_name += " " + (option == input.path ? input.name : option);
    full_name += "/" + input.name + "/threads:" + count;
    benchmark::RegisterBenchmark(full_name.c_str(), run, what, arguments,
                                 static_cast<std::size_t>(threads))
        ->MeasureProcessCPUTime()
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace memreplay

int main(int argc, char** argv) {
  using namespace memreplay;
  // A folder of this process alone: two may run at once.
  std::string folder = (std::filesystem::temp_directory_path() / "memreplay_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  std::string const out = folder + "/out";
  for (bench::input_file const& input : bench::input_files()) {
    add("report", cli::run_report, input, out);
    add("report", cli::run_report, input, out, {"--sizes", "block"});
    add("info", cli::run_info, input, out);
    add("at", cli::run_at, input, out, {"--peak", "1"});
    add("steps", cli::run_steps, input, out, {"--by", "whole"});
    add("leaks", cli::run_leaks, input, out, {"--by", "time"});
    add("compare", cli::run_compare, input, out, {"--by", "whole", input.path});
    add("oom", cli::run_oom, input, out);
    add("segments", cli::run_segments, input, out, {"--peak", "1"});
    add("check", cli::run_check, input, out, {"--limit", "peak=1EiB"});
  }
  benchmark::Initialize(&argc, argv);
  bool const is_known = !benchmark::ReportUnrecognizedArguments(argc, argv);
  if (is_known) benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  std::filesystem::remove_all(folder);
  return is_known ? 0 : 1;
}
