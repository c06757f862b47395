// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// How much of a device is drawn where several share one page.
#include <memreplay/timeline_report.hpp>

#include <algorithm>

namespace memreplay {

timeline_budget share_of(timeline_budget const& whole, std::int64_t shares) noexcept {
  auto const part = [shares](std::int64_t amount, std::int64_t least) {
    return std::max(amount / std::max<std::int64_t>(shares, 1), std::min(amount, least));
  };
  timeline_budget made = whole;
  made.buckets = part(whole.buckets, 1024);
  made.moments = part(whole.moments, 128);
  made.lifetimes = part(whole.lifetimes, 200);
  made.vertices = part(whole.vertices, 4000);
  made.flame_moments = part(whole.flame_moments, 8);
  made.flame_rows = part(whole.flame_rows, 50);
  made.segments = part(whole.segments, 100);
  made.blocks = part(whole.blocks, 1000);
  made.marks = part(whole.marks, 100);
  made.text_bytes = part(whole.text_bytes, 60'000);
  return made;
}

}  // namespace memreplay
