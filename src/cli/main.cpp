// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The program: argv to request to exit status. The only room that prints or exits.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memreplay/error.hpp>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/request.hpp"

namespace memreplay::cli {
namespace {

exit_status run(request const& asked) {
  std::optional<tbb::global_control> threads;
  if (asked.common.threads > 0) {
    threads.emplace(tbb::global_control::max_allowed_parallelism,
                    static_cast<std::size_t>(asked.common.threads));
  }
  switch (asked.what) {
    case command::report: return run_report(asked);
    case command::info: return run_info(asked);
    case command::compare: return run_compare(asked);
    case command::at: return run_at(asked);
    case command::steps: return run_steps(asked);
    case command::leaks: return run_leaks(asked);
    case command::oom: return run_oom(asked);
    case command::segments: return run_segments(asked);
    case command::check: return run_check(asked);
    case command::timeline: return run_timeline(asked);
    case command::completion:
      write_standard_output(completion_script(asked.shell));
      return exit_status::done;
  }
  return exit_status::could_not_run;
}

exit_status run_guarded(std::vector<std::string> const& arguments) {
  parsed const line = parse_command_line(arguments);
  if (!line.is_request) {
    if (!line.is_error) {
      write_standard_output(line.text);
      return exit_status::done;
    }
    std::fputs(line.text.c_str(), stderr);
    return exit_status::could_not_run;
  }
  std::string const file = line.asked.inputs.size() == 1 ? line.asked.inputs.front() : "";
  try {
    return run(line.asked);
  } catch (error const& problem) {
    std::fputs(failure_line(file, problem).c_str(), stderr);
  } catch (std::bad_alloc const&) {
    std::fputs(failure_line(file, error(error_code::cannot_read, "not enough memory")).c_str(),
               stderr);
  } catch (std::exception const& bug) {
    fmt::print(stderr, "{}\n",
               one_line(fmt::format(
                   "memreplay: {}: {}; please report this with the file's `memreplay info`", file,
                   bug.what())));
  }
  return exit_status::could_not_run;
}

}  // namespace
}  // namespace memreplay::cli

int main(int argument_count, char** arguments) {
  // A closed pipe shows as an error of write(), so that nothing is half-written without notice.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> const words(arguments + 1, arguments + argument_count);
  try {
    return static_cast<int>(memreplay::cli::run_guarded(words));
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "memreplay: %s\n", problem.what());
    return static_cast<int>(memreplay::cli::exit_status::could_not_run);
  }
}
