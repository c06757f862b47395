// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What would have helped a failed request: settings and actions that apply and are not there yet.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "report/oom_verdict.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

using base::byte_text;

bool is_among(oom_verdict const& verdict, oom_cause cause) {
  return verdict.cause == cause ||
         std::ranges::find(verdict.secondary, cause) != verdict.secondary.end();
}

/// A setting of its own, or a word of the configuration string.
bool is_set(report_header const& header, std::string_view name) {
  return std::ranges::any_of(header.settings, [name](auto const& setting) {
    auto const& [key, value] = setting;
    if (key.ends_with("_ALLOC_CONF")) return value.find(name) != std::string::npos;
    return key == name && value != "0" && value != "0.0" && value != "-1" && value != "null";
  });
}

void advise_on_fragments(report_header const& header, oom_device_report const& device,
                         free_space const& space, allocator_rules const& rules,
                         std::vector<oom_advice>& out) {
  bool const is_fragmented = is_among(device.verdict, oom_cause::fragmentation);
  if (is_fragmented && !rules.expandable.value_or(false)) {
    out.push_back({"expandable_segments", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                   "segments that grow and give back single pages leave fewer holes that nothing "
                   "fits into",
                   space.own_bytes});
    if (!is_set(header, "max_split_size")) {
      out.push_back(
          {"max_split_size", "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:...",
           "large cached blocks are then not split, so that small tensors do not pin them",
           device.pinned_bytes});
    }
  }
  if (is_fragmented && !is_set(header, "garbage_collection_threshold")) {
    out.push_back({"garbage_collection", "PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8",
                   "unused segments are returned before the device is full, while they are whole "
                   "(works with a memory fraction set)",
                   std::nullopt});
  }
  if (is_fragmented && !device.pinners.empty()) {
    pinner_row const& top = device.pinners.front();
    out.push_back(
        {"pinner", fmt::format("allocate earlier, or free, what {} keeps", top.site),
         fmt::format("its {} keep {} nearly empty segment{} from being reused as a whole",
                     byte_text(top.live_bytes), top.segments, top.segments == 1 ? "" : "s"),
         top.stranded_bytes});
  }
}

void advise_on_places(oom_device_report const& device, free_space const& space,
                      std::vector<oom_advice>& out) {
  if (is_among(device.verdict, oom_cause::other_stream)) {
    out.push_back({"one_stream", "allocate on the stream that uses the memory",
                   "cached memory of another stream cannot serve the request; free it, or hand the "
                   "tensors over with record_stream",
                   space.other_stream_bytes});
  }
  if (is_among(device.verdict, oom_cause::private_pool)) {
    out.push_back(
        {"private_pools", "share one pool among graphs, or drop graphs no longer replayed",
         "free memory in a private pool serves that pool alone",
         space.other_pool_bytes > 0 ? space.other_pool_bytes : device.memory.private_pool_bytes});
  }
  std::int64_t const pending = device.memory.pending_bytes.value_or(0);
  if (pending > 0 && device.verdict.cause != oom_cause::none) {
    out.push_back({"record_stream", "wait for the other stream before more is allocated",
                   "memory that was freed but is still used by another stream (record_stream) "
                   "cannot be reused yet",
                   pending});
  }
}

void advise_on_demand(oom_device_report const& device, std::vector<oom_advice>& out) {
  oom_verdict const& verdict = device.verdict;
  if (is_among(verdict, oom_cause::memory_limit)) {
    out.push_back({"memory_fraction", "raise set_per_process_memory_fraction",
                   "the driver had memory left that this process may not take",
                   device.memory.driver_free_bytes});
  }
  if (is_among(verdict, oom_cause::outside)) {
    out.push_back({"other_process", "find and stop what else runs on the device (nvidia-smi)",
                   "the request would fit without it",
                   device.memory.taken_since_bytes ? device.memory.taken_since_bytes
                                                   : device.memory.outside_bytes});
  }
  if (verdict.cause == oom_cause::huge_request) {
    out.push_back({"split_request", "check the shapes at the failing line, or work in chunks",
                   "no setting makes room for a request of this size", device.request.bytes});
  }
  if (verdict.cause != oom_cause::capacity) return;
  out.push_back({"smaller_batch", "a smaller batch, or the request in chunks",
                 "live tensors fill the device", device.request.bytes});
  if (!device.holders.empty()) {
    site_row const& top = device.holders.front();
    out.push_back({"top_holder",
                   fmt::format("checkpoint, shard or offload what {} holds", top.site),
                   "it is the largest holder", top.bytes});
  }
}

}  // namespace

std::vector<oom_advice> find_advice(report_header const& header, oom_device_report const& device,
                                    free_space const& space, allocator_rules const& rules) {
  std::vector<oom_advice> out;
  if (!device.request.bytes) return out;
  advise_on_demand(device, out);
  advise_on_places(device, space, out);
  advise_on_fragments(header, device, space, rules, out);
  return out;
}

}  // namespace memreplay::reporting
