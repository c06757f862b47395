// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What the questions about a snapshot are asked with: a moment, parts of a trace, what counts as
// the same site, a failed request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <memreplay/ids.hpp>

namespace memreplay {

/// One moment of a trace.
struct moment_request {
  enum class kind {
    end,    ///< after the last event
    time,   ///< `seconds` after the earliest event: the last event not later than that
    event,  ///< after event `number`; -1 = before the first
    peak,   ///< the `number`-th largest distinct peak, 1 = the largest
  };
  kind how = kind::end;
  double seconds = 0.0;
  std::int64_t number = 0;
};

/// Into which parts a trace is cut.
struct span_request {
  enum class kind {
    automatic,   ///< profiler steps if there are any, else as the command says
    steps,       ///< `ProfilerStep#N`
    annotation,  ///< the ranges of the annotation `name`
    period,      ///< the repetitions of the curve
    time,        ///< windows of equal time since the earliest event
    whole,       ///< the trace as one part
  };
  kind by = kind::automatic;
  std::string name;
};

/// What makes a site of one snapshot the same as one of another.
enum class site_match {
  site,      ///< function, file and line; lines that moved within their function are followed
  function,  ///< function and file
  file,
};

/// A request that failed, where the file does not tell it.
struct failed_request {
  std::optional<std::int64_t> bytes;
  std::optional<std::uint64_t> stream;         ///< raw value; the default stream when unset
  std::optional<std::int64_t> capacity_bytes;  ///< of the device
  std::optional<event_index> event;            ///< look after this one instead of the last `oom`
  double seconds_before = 10.0;                ///< how far "the last seconds" reach back
};

}  // namespace memreplay
