// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What stands out between two runs, each with its numbers.
#include "report/comparison_findings.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

using base::byte_text;
using base::signed_byte_text;

constexpr double site_matters = 20.0;        // percent of the difference
constexpr double fragmentation_matters = 5;  // points
constexpr std::int64_t far_fewer = 4;        // times
constexpr double strange_matters = 50.0;     // percent of a side at sites that the other lacks

void add_settings(std::vector<setting_difference> const& settings, std::vector<finding>& out) {
  if (settings.empty()) return;
  std::string names;
  for (setting_difference const& row : settings) names += (names.empty() ? "" : ", ") + row.key;
  out.push_back(
      {"settings_differ",
       fmt::format("{} allocator setting{} differ{}: {}.", settings.size(),
                   settings.size() == 1 ? "" : "s", settings.size() == 1 ? "s" : "", names),
       0});
}

void add_sites(site_deltas const& sites, std::vector<finding>& out) {
  if (sites.delta_bytes == 0) return;
  // The site that moves the total most in the total's direction.
  site_delta_row const* most = nullptr;
  for (site_delta_row const& row : sites.rows) {
    bool const same_way = (row.delta_bytes > 0) == (sites.delta_bytes > 0) && row.delta_bytes != 0;
    if (!same_way) continue;
    if (most == nullptr || (row.delta_bytes > 0 ? row.delta_bytes > most->delta_bytes
                                                : row.delta_bytes < most->delta_bytes)) {
      most = &row;
    }
  }
  if (most == nullptr || percent(most->delta_bytes, sites.delta_bytes) < site_matters) return;
  std::string how;
  if (most->tensors_a == 0) {
    how = "only B has it";
  } else if (most->tensors_b == 0) {
    how = "only A has it";
  } else {
    how = fmt::format("{} from the number of tensors ({} to {}), {} from their size",
                      signed_byte_text(most->from_count_bytes), most->tensors_a, most->tensors_b,
                      signed_byte_text(most->from_size_bytes));
  }
  out.push_back({"largest_difference",
                 fmt::format("{}: {} of {}; {}.", most->site, signed_byte_text(most->delta_bytes),
                             signed_byte_text(sites.delta_bytes), how),
                 most->delta_bytes});
}

void add_graphs(trace_summary const& a, trace_summary const& b, std::vector<finding>& out) {
  auto const add = [&](char const* quiet, trace_summary const& fewer, trace_summary const& more) {
    bool const is_quiet =
        fewer.alloc_count > 0 && more.alloc_count / far_fewer >= fewer.alloc_count;
    if (!is_quiet || fewer.segments.private_pool_bytes <= more.segments.private_pool_bytes) return;
    out.push_back(
        {"cuda_graphs",
         fmt::format("{} allocates far less often ({} times against {}) and holds more in private "
                     "pools ({} against {}): it replays CUDA graphs, whose memory stays in their "
                     "pool and leaves no events.",
                     quiet, fewer.alloc_count, more.alloc_count,
                     byte_text(fewer.segments.private_pool_bytes),
                     byte_text(more.segments.private_pool_bytes)),
         fewer.segments.private_pool_bytes});
  };
  add("A", a, b);
  add("B", b, a);
}

void add_fragmentation(segment_summary const& a, segment_summary const& b,
                       std::vector<finding>& out) {
  double const points = b.fragmentation - a.fragmentation;
  if (points < fragmentation_matters && points > -fragmentation_matters) return;
  out.push_back({"fragmentation",
                 fmt::format("At the end {:.1f} % of B's reserved memory is inactive ({}), of A's "
                             "{:.1f} % ({}).",
                             b.fragmentation, byte_text(b.inactive_bytes), a.fragmentation,
                             byte_text(a.inactive_bytes)),
                 subtract_saturated(b.inactive_bytes, a.inactive_bytes)});
}

void add_carried_in(site_deltas const& sites, std::vector<finding>& out) {
  std::int64_t const more = subtract_saturated(sites.carried_in_b, sites.carried_in_a);
  if (more == 0 || sites.delta_bytes == 0 ||
      percent(more < 0 ? -more : more,
              sites.delta_bytes < 0 ? -sites.delta_bytes : sites.delta_bytes) < site_matters) {
    return;
  }
  out.push_back({"carried_in",
                 fmt::format("{} of the difference is older than the traces ({} in A, {} in B).",
                             signed_byte_text(more), byte_text(sites.carried_in_a),
                             byte_text(sites.carried_in_b)),
                 more});
}

void add_strangers(site_deltas const& sites, std::vector<finding>& out) {
  double const only_a = percent(sites.only_a.bytes, sites.total_a);
  double const only_b = percent(sites.only_b.bytes, sites.total_b);
  if (only_a < strange_matters || only_b < strange_matters) return;
  out.push_back(
      {"few_sites_in_common",
       fmt::format("{:.1f} % of A's bytes and {:.1f} % of B's are at sites that the other "
                   "does not have: another model, or code that moved (--match function, "
                   "--match file).",
                   only_a, only_b),
       0});
}

void add_spans(device_comparison const& device, std::vector<finding>& out) {
  if (device.only_a_spans == 0 && device.only_b_spans == 0) return;
  out.push_back(
      {"step_counts_differ",
       fmt::format("Of the {}, {} are in A alone and {} in B alone: they are not compared.",
                   device.by, device.only_a_spans, device.only_b_spans),
       0});
}

}  // namespace

std::vector<finding> make_comparison_findings(device_comparison const& device,
                                              std::vector<setting_difference> const& settings) {
  std::vector<finding> out;
  if (device.sites.delta_bytes == 0) {
    out.push_back({"no_difference", "Both sides hold the same number of bytes here.", 0});
  }
  add_sites(device.sites, out);
  add_carried_in(device.sites, out);
  add_graphs(device.a, device.b, out);
  add_fragmentation(device.a.segments, device.b.segments, out);
  add_settings(settings, out);
  add_spans(device, out);
  add_strangers(device.sites, out);
  return out;
}

}  // namespace memreplay::reporting
