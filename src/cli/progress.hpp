// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A progress line on a terminal for work that takes longer than half a second; silent everywhere
// else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace memreplay::cli {

class progress {
 public:
  /// `what` stands before the bar.
  progress(std::string what, bool quiet);
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  /// Wipes the line.
  ~progress();

  /// `all_bytes`: 0 when nobody knows.
  void show(std::uint64_t done_bytes, std::uint64_t all_bytes);

 private:
  using clock = std::chrono::steady_clock;
  std::string what_;
  bool is_on_;
  bool is_drawn_ = false;
  clock::time_point started_ = clock::now();
  clock::time_point drawn_ = started_;
};

}  // namespace memreplay::cli
