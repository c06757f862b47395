// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Part by part, so that a failure says where.
#include "results_equal.hpp"

#include <algorithm>
#include <string>

namespace memreplay::test {
namespace {

bool same(curve_summary const& a, curve_summary const& b) {
  return a.start_bytes == b.start_bytes && a.peak_bytes == b.peak_bytes &&
         a.peak_event == b.peak_event && a.end_bytes == b.end_bytes;
}

bool same(peak const& a, peak const& b) {
  return a.event == b.event && a.bytes == b.bytes && a.carried_in_bytes == b.carried_in_bytes &&
         a.allocated_bytes == b.allocated_bytes && a.active_bytes == b.active_bytes &&
         a.reserved_bytes == b.reserved_bytes && a.holders == b.holders;
}

bool same(kernels::live_lifetimes const& a, kernels::live_lifetimes const& b) {
  return a.event == b.event && a.address == b.address && a.birth == b.birth &&
         a.allocated_end == b.allocated_end && a.active_end == b.active_end && a.stack == b.stack;
}

}  // namespace

::testing::AssertionResult results_equal(kernels::kernel_result const& left,
                                         kernels::kernel_result const& right) {
  auto const differ = [](std::string const& what) {
    return ::testing::AssertionFailure() << what << " differ";
  };
  if (!std::equal(std::begin(left.action_counts), std::end(left.action_counts),
                  std::begin(right.action_counts))) {
    return differ("action counts");
  }
  if (!same(left.allocated, right.allocated)) return differ("allocated curves");
  if (!same(left.active, right.active)) return differ("active curves");
  if (!same(left.reserved, right.reserved)) return differ("reserved curves");
  if (!same(left.measured, right.measured)) return differ("measured curves");
  if (!(left.counts == right.counts)) return differ("counts");
  if (left.peaks.size() != right.peaks.size()) return differ("numbers of peaks");
  for (std::size_t row = 0; row < left.peaks.size(); ++row) {
    if (!same(left.peaks[row], right.peaks[row])) return differ("peaks " + std::to_string(row));
  }
  if (left.timeline != right.timeline) return differ("timelines");
  if (left.curves.allocated != right.curves.allocated ||
      left.curves.active != right.curves.active || left.curves.reserved != right.curves.reserved) {
    return differ("timelines of all measures");
  }
  if (left.largest != right.largest) return differ("largest lifetimes");
  if (left.throughput != right.throughput) return differ("throughputs");
  if (left.ranges != right.ranges) return differ("ranges");
  if (left.history.moments != right.history.moments) return differ("moments");
  if (left.history.changes != right.history.changes) return differ("changes of the live set");
  if (!std::equal(left.maps.begin(), left.maps.end(), right.maps.begin(), right.maps.end(),
                  [](auto const& a, auto const& b) { return same(a, b); })) {
    return differ("maps");
  }
  return ::testing::AssertionSuccess();
}

}  // namespace memreplay::test
