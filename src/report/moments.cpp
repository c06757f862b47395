// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which event a question about a moment means.
#include "report/moments.hpp"

#include <cmath>

#include <fmt/format.h>
#include <memreplay/error.hpp>

#include "report/trace_clock.hpp"

namespace memreplay::reporting {
namespace {

[[noreturn]] void refuse(std::string const& what, std::string const& hint) {
  throw error(error_code::bad_request, what, hint);
}

event_index event_at_time(trace_clock const& clock, std::int32_t device, double seconds) {
  if (clock.events() == 0) {
    refuse(fmt::format("device {} has no events, so there is no time to go to", device),
           "--end shows what its segments hold");
  }
  if (!clock.has_times()) {
    refuse("this file's events carry no times",
           fmt::format("use --event N, from -1 to {}", clock.events() - 1));
  }
  double const span_us =
      static_cast<double>(*clock.latest_us()) - static_cast<double>(*clock.earliest_us());
  double const wanted_us = std::round(seconds * 1e6);
  if (wanted_us < 0 || wanted_us > span_us) {
    refuse(fmt::format("{} s is outside of the trace of device {}", seconds, device),
           fmt::format("it spans 0 to {:.6f} s", span_us / 1e6));
  }
  return clock.first_from(*clock.earliest_us() + static_cast<std::int64_t>(wanted_us) + 1) - 1;
}

}  // namespace

event_index find_moment(snapshot const& input, std::int32_t device, moment_request const& asked) {
  trace_clock const clock(input, device);
  switch (asked.how) {
    case moment_request::kind::end: return clock.events() - 1;
    case moment_request::kind::peak: return before_trace;
    case moment_request::kind::time: return event_at_time(clock, device, asked.seconds);
    case moment_request::kind::event: break;
  }
  if (asked.number < before_trace || asked.number >= clock.events()) {
    refuse(fmt::format("device {} has no event {}", device, asked.number),
           clock.events() == 0 ? "it has no events; --end shows what its segments hold"
                               : fmt::format("its events are 0 to {}, and -1 is before the first",
                                             clock.events() - 1));
  }
  return asked.number;
}

}  // namespace memreplay::reporting
