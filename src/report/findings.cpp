// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Sentences worth a reader's time, what to attack first at the top.
#include "report/findings.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "report/saturating.hpp"
#include "report/sites.hpp"

namespace memreplay::reporting {
namespace {

using base::byte_text;

// From which share on a number is worth a sentence, in percent.
constexpr double carried_in_matters = 10.0;
constexpr double gap_matters = 10.0;
constexpr double pending_matters = 1.0;
constexpr double private_pools_matter = 5.0;
constexpr double missing_stacks_matter = 50.0;
constexpr std::int64_t fewest_events_of_a_history = 2;  // enabled="state" keeps one

enum class switch_state { on, off, unknown };

switch_state expandable_segments(report const& model) {
  for (auto const& [key, value] : model.settings) {
    if (key == "expandable_segments") {
      return value == "true" || value == "True" || value == "1" ? switch_state::on
                                                                : switch_state::off;
    }
  }
  return switch_state::unknown;
}

peak_report const* global_peak(device_report const& device) {
  auto const found = std::find_if(device.peaks.begin(), device.peaks.end(),
                                  [](peak_report const& peak) { return peak.is_global; });
  return found == device.peaks.end() ? nullptr : &*found;
}

bool is_place(site_row const& row) {
  return row.site != no_frames_text && row.site != before_trace_text;
}

site_row const* top_place(peak_report const& peak) {
  auto const found = std::find_if(peak.sites.begin(), peak.sites.end(), is_place);
  return found == peak.sites.end() ? nullptr : &*found;
}

std::string name_of(site_row const& row) {
  bool const adds_something = !row.label.empty() && row.site.find(row.label) == std::string::npos;
  return adds_something ? fmt::format("{} ({})", row.site, row.label) : row.site;
}

std::string plural(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void add_oom(device_report const& device, std::vector<finding>& out) {
  if (device.oom_count == 0) return;
  oom_row const& last = device.ooms.back();
  std::string text =
      fmt::format("The trace holds {}; the last is event {}: {} requested (rounded)",
                  plural(device.oom_count, "out-of-memory event", "out-of-memory events"),
                  last.event, byte_text(last.requested_bytes));
  if (!last.site.empty()) text += fmt::format(" by {}", last.site);
  text += fmt::format(" while the driver had {} free.", byte_text(last.device_free_bytes));
  out.push_back({"oom", text, last.requested_bytes});
}

void add_top_site(peak_report const& peak, std::vector<finding>& out) {
  site_row const* const top = top_place(peak);
  if (top == nullptr || top->bytes <= 0) return;
  out.push_back(
      {"top_site",
       fmt::format("{} holds {}, {:.1f} % of the global peak, in {}.", name_of(*top),
                   byte_text(top->bytes), top->share, plural(top->tensors, "tensor", "tensors")),
       top->bytes});
}

void add_same_site(device_report const& device, peak_report const& global,
                   std::vector<finding>& out) {
  site_row const* const top = top_place(global);
  if (top == nullptr || device.peaks.size() < 2) return;
  bool const is_same =
      std::all_of(device.peaks.begin(), device.peaks.end(), [top](peak_report const& peak) {
        site_row const* const other = top_place(peak);
        return other != nullptr && other->site == top->site && other->file == top->file &&
               other->line == top->line;
      });
  if (!is_same) return;
  out.push_back({"same_site_at_all_peaks",
                 fmt::format("{} is the largest holder at each of the {} peaks: less memory there "
                             "lowers all of them.",
                             top->site, device.peaks.size()),
                 top->bytes});
}

void add_carried_in(device_report const& device, peak_report const& peak,
                    std::vector<finding>& out) {
  double const share = percent(peak.carried_in_bytes, peak.bytes);
  if (share < carried_in_matters) return;
  std::string const advice =
      device.ring_truncated
          ? "record with a larger max_entries, or dump earlier, to see where it comes from"
          : "start recording before the model is built to see where it comes from";
  out.push_back({"carried_in",
                 fmt::format("{} of the global peak ({:.1f} %) is older than the trace: {}.",
                             byte_text(peak.carried_in_bytes), share, advice),
                 peak.carried_in_bytes});
}

void add_gap(report const& model, peak_report const& peak, std::vector<finding>& out) {
  std::int64_t const gap = excess(peak.reserved_bytes, peak.allocated_bytes);
  double const share = percent(gap, peak.reserved_bytes);
  if (share <= gap_matters) return;
  std::string text = fmt::format(
      "At the global peak {} of the {} reserved from the driver ({:.1f} %) {} allocated",
      byte_text(gap), byte_text(peak.reserved_bytes), share, "were not");
  switch (expandable_segments(model)) {
    case switch_state::off:
      text +=
          ": cached or fragmented blocks; expandable_segments is off, try "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
      break;
    case switch_state::unknown:
      text +=
          ": cached or fragmented blocks; if expandable_segments is off, try "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
      break;
    case switch_state::on:
      text +=
          " although expandable_segments is on: cached blocks of another stream, pool or size "
          "class.";
      break;
  }
  out.push_back({"reserved_not_allocated", text, gap});
}

void add_pending(peak_report const& peak, std::vector<finding>& out) {
  double const share = percent(peak.pending_bytes,
                               peak.reserved_bytes > 0 ? peak.reserved_bytes : peak.active_bytes);
  if (peak.pending_bytes <= 0 || share < pending_matters) return;
  out.push_back(
      {"pending_free",
       fmt::format(
           "{} at the global peak were freed already but wait for another stream (record_stream): "
           "they count as active, not as allocated.",
           byte_text(peak.pending_bytes)),
       peak.pending_bytes});
}

void add_missing_stacks(stack_coverage const& coverage, std::vector<finding>& out) {
  if (coverage.bytes <= 0) return;
  double const no_frames = percent(coverage.without_frames_bytes, coverage.bytes);
  double const no_python = percent(coverage.without_python_bytes, coverage.bytes);
  if (no_frames >= missing_stacks_matter) {
    out.push_back(
        {"no_frames",
         fmt::format(
             "{} ({:.1f} %) have no recorded stack: record with context=\"all\"; with "
             "stacks=\"python\" backward passes have none, stacks=\"all\" adds their C++ frames.",
             byte_text(coverage.without_frames_bytes), no_frames),
         coverage.without_frames_bytes});
  } else if (no_python >= missing_stacks_matter) {
    out.push_back(
        {"no_python_frames",
         fmt::format(
             "{} ({:.1f} %) have no Python frame, so no line of a model can be blamed: backward "
             "passes run on C++ threads; elsewhere record with stacks=\"all\" or \"python\".",
             byte_text(coverage.without_python_bytes), no_python),
         coverage.without_python_bytes});
  }
}

void add_end_state(device_report const& device, std::vector<finding>& out) {
  segment_summary const& end = device.segments;
  if (end.inactive_bytes > 0 && end.fragmentation > gap_matters) {
    out.push_back(
        {"inactive_at_end",
         fmt::format(
             "At the end {} of {} reserved ({:.1f} %) are inactive; the largest free block is {}.",
             byte_text(end.inactive_bytes), byte_text(end.total_bytes), end.fragmentation,
             byte_text(end.largest_inactive_bytes)),
         end.inactive_bytes});
  }
  if (end.private_pool_bytes > 0 &&
      percent(end.private_pool_bytes, end.total_bytes) > private_pools_matter) {
    out.push_back(
        {"private_pools",
         fmt::format(
             "Private pools (CUDA graphs, user pools) hold {} of {} reserved: other allocations "
             "cannot use them.",
             byte_text(end.private_pool_bytes), byte_text(end.total_bytes)),
         end.private_pool_bytes});
  }
}

void add_recording(device_report const& device, std::vector<finding>& out) {
  if (device.ring_truncated) {
    out.push_back(
        {"ring_truncated",
         fmt::format(
             "The beginning of the trace is lost ({}): peaks before its first event are unknown. "
             "Record with a larger max_entries or dump earlier.",
             device.ring_reason),
         0});
  }
  if (device.events < fewest_events_of_a_history && device.segments.count > 0) {
    out.push_back(
        {"no_history",
         fmt::format(
             "The file holds {} of this device, so only its end state is known: record with "
             "torch.cuda.memory._record_memory_history(enabled=\"all\") and dump before stopping.",
             plural(device.events, "event", "events")),
         0});
  }
}

}  // namespace

std::vector<finding> make_findings(report const& model, device_report const& device,
                                   stack_coverage const& coverage) {
  std::vector<finding> out;
  add_oom(device, out);
  if (peak_report const* const peak = global_peak(device)) {
    add_top_site(*peak, out);
    add_same_site(device, *peak, out);
    add_carried_in(device, *peak, out);
    add_gap(model, *peak, out);
    add_pending(*peak, out);
  }
  add_missing_stacks(coverage, out);
  add_end_state(device, out);
  add_recording(device, out);
  return out;
}

}  // namespace memreplay::reporting
