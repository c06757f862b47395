// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The back ends of the host tests: the serial one, and the threaded one with several numbers of threads, for
// parallel scans have been wrong only beyond the cores of the machine that tested them.
#include <memory>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "tested_backend.hpp"

namespace memreplay::test {

std::vector<tested_backend> backends_under_test() {
  std::vector<tested_backend> all;
  all.push_back({"serial", &kernels::serial_backend(), "", [](auto const& work) { work(); }});
  for (int const threads : {1, 2, 3, 7}) {
    auto const inside = [threads](std::function<void()> const& work) {
      tbb::global_control const control(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(threads));
      tbb::task_arena arena(threads);
      arena.execute(work);
    };
    all.push_back({"host_" + std::to_string(threads) + "_threads", &kernels::host_backend(), "", inside});
  }
  return all;
}

}  // namespace memreplay::test
