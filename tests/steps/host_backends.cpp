// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The back ends of the host tests: the serial one, and the threaded one with several numbers of
// threads, for parallel scans have been wrong only beyond the cores of the machine that tested
// them.
#include <memory>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "tested_backend.hpp"

namespace memreplay::test {
namespace {

constexpr int most_threads = 7;

/// A number of threads, more of them than cores if need be, which an arena alone would not get.
class threads {
 public:
  explicit threads(int count) : arena_(count) {}
  void run(std::function<void()> const& work) { arena_.execute(work); }

 private:
  tbb::global_control allow_{tbb::global_control::max_allowed_parallelism, most_threads};
  tbb::task_arena arena_;
};

}  // namespace

std::vector<tested_backend> backends_under_test() {
  std::vector<tested_backend> all;
  all.push_back({"serial", &kernels::serial_backend(), "", [](auto const& work) { work(); }});
  for (int const count : {1, 2, 3, most_threads}) {
    auto const pool = std::make_shared<threads>(count);
    all.push_back({"host_" + std::to_string(count) + "_threads", &kernels::host_backend(), "",
                   [pool](std::function<void()> const& work) { pool->run(work); }});
  }
  return all;
}

}  // namespace memreplay::test
