// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Drawing the progress line.
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/byte_text.hpp"

namespace memreplay::cli {

using namespace std::chrono_literals;

progress::progress(std::string what, bool quiet)
    : what_(std::move(what)), is_on_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

progress::~progress() {
  if (is_drawn_) std::fputs("\r\033[K", stderr);
}

void progress::show(std::uint64_t done_bytes, std::uint64_t all_bytes) {
  clock::time_point const now = clock::now();
  if (!is_on_ || now - started_ < 500ms || now - drawn_ < 100ms) return;
  drawn_ = now;
  is_drawn_ = true;
  double const seconds = std::chrono::duration<double>(now - started_).count();
  double const rate = static_cast<double>(done_bytes) / seconds;
  std::string const rate_text = base::byte_text(static_cast<std::int64_t>(rate));
  if (all_bytes == 0) {
    fmt::print(stderr, "\r\033[K{} {}  {}/s", what_,
               base::byte_text(static_cast<std::int64_t>(done_bytes)), rate_text);
  } else {
    // A file may grow while it is read.
    double const share =
        std::min(1.0, static_cast<double>(done_bytes) / static_cast<double>(all_bytes));
    double const left = rate > 0 ? (1 - share) * static_cast<double>(all_bytes) / rate : 0;
    constexpr int width = 24;
    int const filled = static_cast<int>(share * width);
    fmt::print(stderr, "\r\033[K{} [{:=<{}}{: <{}}] {:3.0f} %  {}/s  {:.0f} s left", what_, "",
               filled, "", width - filled, 100 * share, rate_text, left);
  }
  std::fflush(stderr);
}

}  // namespace memreplay::cli
