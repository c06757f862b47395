// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which devices a list of compiled architectures covers; plain text work, testable without CUDA.
#include <charconv>

#include "replay/device_probe.hpp"

namespace memreplay {
namespace {

bool one_runs_on(std::string_view architecture, int major, int minor) {
  int number = 0;
  auto const [rest, failure] =
      std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  if (failure != std::errc{}) return false;
  std::string_view suffix =
      architecture.substr(static_cast<std::size_t>(rest - architecture.data()));
  int const compiled_major = number / 10;
  int const compiled_minor = number % 10;
  if (!suffix.empty() && suffix.front() == 'a')
    return major == compiled_major && minor == compiled_minor;
  if (!suffix.empty() && suffix.front() == 'f')
    return major == compiled_major && minor >= compiled_minor;
  bool const has_machine_code = suffix != "-virtual";
  bool const has_portable_code = suffix != "-real";
  if (has_machine_code && major == compiled_major && minor >= compiled_minor) return true;
  return has_portable_code &&
         (major > compiled_major || (major == compiled_major && minor >= compiled_minor));
}

}  // namespace

bool runs_on(std::string_view architectures, int major, int minor) {
  while (!architectures.empty()) {
    std::string_view const one = architectures.substr(0, architectures.find(','));
    if (one_runs_on(one, major, minor)) return true;
    architectures.remove_prefix(one.size() < architectures.size() ? one.size() + 1 : one.size());
  }
  return false;
}

}  // namespace memreplay
