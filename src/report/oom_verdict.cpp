// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Why a request failed: the rules, in the order in which they are asked.
#include "report/oom_verdict.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "report/saturating.hpp"

namespace memreplay::reporting {
namespace {

using base::byte_text;

// The part of a device that the CUDA context and libraries take in any process.
constexpr std::int64_t context_part = 32;
// Free bytes below this part of the reserved ones are what every full device has.
constexpr std::int64_t usual_loss_part = 33;

class judge {
 public:
  judge(oom_device_report const& device, free_space const& space)
      : device_(device), memory_(device.memory), space_(space) {
    request_ = device.request.bytes.value_or(0);
    driver_ = device.request.driver_bytes.value_or(0);
  }

  oom_verdict decide() {
    if (!device_.request.bytes) return without_request();
    if (space_.largest_usable_bytes >= request_ && would_fit()) return found_;
    ask_limit();
    ask_outside();
    ask_whole_device();
    ask_elsewhere();
    ask_fragmentation();
    ask_huge();
    ask_scattered();
    ask_capacity();
    return found_;
  }

 private:
  void say(oom_cause cause, confidence sure, std::string text) {
    if (found_.cause == oom_cause::none) {
      found_.cause = cause;
      found_.sure = sure;
      found_.text = std::move(text);
    } else if (found_.cause != cause &&
               std::ranges::find(found_.secondary, cause) == found_.secondary.end()) {
      found_.secondary.push_back(cause);
    }
  }

  std::string asked() const { return fmt::format("The request of {}", byte_text(request_)); }
  std::int64_t driver_free() const { return memory_.driver_free_bytes.value_or(0); }
  /// The same where nobody knows it: at most what the device has beside the reserved bytes.
  std::int64_t perhaps_driver_free() const {
    if (memory_.driver_free_bytes || !memory_.capacity_bytes) return driver_free();
    std::int64_t const context = *memory_.capacity_bytes / context_part;
    return excess(excess(*memory_.capacity_bytes, memory_.reserved_bytes), context);
  }
  /// What could ever have been this process's; 0 where neither the file nor the user tells.
  std::int64_t whole() const {
    if (memory_.capacity_bytes) return *memory_.capacity_bytes;
    if (!memory_.driver_free_bytes || !device_.has_map) return 0;
    return std::max(add_saturated(memory_.reserved_bytes, driver_free()),
                    memory_.available_earlier_bytes);
  }

  oom_verdict without_request() {
    bool const has_burst = device_.before && device_.before->burst_frees > 0;
    if (has_burst && device_.empty_segments == 0) {
      say(oom_cause::unknown_request, confidence::likely,
          fmt::format("The trace ends with {} returned to the driver in {} and no allocation "
                      "behind them: so the allocator acts before it gives up, but the file does "
                      "not name the request. Give its size with --request.",
                      byte_text(device_.before->burst_bytes),
                      device_.before->burst_frees == 1
                          ? std::string("1 piece")
                          : fmt::format("{} pieces", device_.before->burst_frees)));
      return found_;
    }
    found_.text = device_.events < 2
                      ? std::string(
                            "The file holds no history of this device, and nothing in its "
                            "state says that a request failed.")
                      : std::string(
                            "Nothing says that a request failed: the trace holds no "
                            "out-of-memory event and does not end as one does.");
    if (device_.has_map) {
      found_.text += fmt::format(" {} of {} reserved are free; the largest hole is {} (stream {}).",
                                 byte_text(memory_.inactive_bytes.value_or(0)),
                                 byte_text(memory_.reserved_bytes),
                                 byte_text(space_.largest_usable_bytes), device_.request.stream);
    }
    return found_;
  }

  /// True when that is the answer.
  bool would_fit() {
    bool const has_fit = std::ranges::any_of(
        space_.rows, [](free_space_row const& row) { return row.why == "would_fit"; });
    if (!has_fit) return false;
    if (device_.request.origin == request_origin::given) {
      found_.sure = memory_.exact ? confidence::certain : confidence::likely;
      found_.text = fmt::format(
          "{} would not have failed at this moment: a free block of {} of its stream and pool "
          "serves it.",
          asked(), byte_text(space_.largest_usable_bytes));
      return true;
    }
    if (memory_.private_pool_bytes == 0) return false;
    say(oom_cause::private_pool, confidence::likely,
        fmt::format("{} failed although a free block of {} of the default pool would have served "
                    "it: so it asked for memory of a private pool (a graph's capture, or a "
                    "MemPool); private pools hold {}.",
                    asked(), byte_text(space_.largest_usable_bytes),
                    byte_text(memory_.private_pool_bytes)));
    return true;
  }

  void ask_limit() {
    if (memory_.driver_free_bytes) {
      if (*memory_.driver_free_bytes < driver_) return;
      say(oom_cause::memory_limit, confidence::likely,
          fmt::format("{} needed {} of the driver, which had {} free: so a limit of the process "
                      "stopped it (set_per_process_memory_fraction), or the memory was given back "
                      "by another process just after.",
                      asked(), byte_text(driver_), byte_text(*memory_.driver_free_bytes)));
      return;
    }
    if (!memory_.capacity_bytes || is_taken_since()) return;
    std::int64_t const needed = add_saturated(add_saturated(memory_.reserved_bytes, driver_),
                                              *memory_.capacity_bytes / context_part);
    if (needed > *memory_.capacity_bytes) return;
    say(oom_cause::memory_limit, confidence::likely,
        fmt::format("With {} reserved, {} more would have fitted into the device of {}: so a limit "
                    "of the process stopped it (set_per_process_memory_fraction), or others held "
                    "the rest; the file does not say what the driver had left.",
                    byte_text(memory_.reserved_bytes), byte_text(driver_),
                    byte_text(*memory_.capacity_bytes)));
    say(oom_cause::outside, confidence::likely, {});
  }

  bool is_taken_since() const {
    return memory_.taken_since_bytes &&
           add_saturated(memory_.reserved_bytes, driver_) <= memory_.available_earlier_bytes;
  }

  void ask_outside() {
    if (memory_.driver_free_bytes && *memory_.driver_free_bytes >= driver_) return;
    if (is_taken_since()) {
      say(oom_cause::outside, memory_.driver_free_bytes ? confidence::certain : confidence::likely,
          fmt::format("This process had {} at its disposal at event {}, now it has {} reserved and "
                      "could not get {} more: others (another process, NCCL, libraries) took at "
                      "least {} since.",
                      byte_text(memory_.available_earlier_bytes), memory_.available_earlier_event,
                      byte_text(memory_.reserved_bytes), byte_text(driver_),
                      byte_text(*memory_.taken_since_bytes)));
      return;
    }
    if (!memory_.outside_bytes || !memory_.capacity_bytes) return;
    std::int64_t const needed = add_saturated(add_saturated(memory_.reserved_bytes, driver_),
                                              *memory_.capacity_bytes / context_part);
    if (needed > *memory_.capacity_bytes) return;
    say(oom_cause::outside, confidence::certain,
        fmt::format("Of the device's {} this process had {} reserved and the driver {} free: {} "
                    "are held by others (another process, the CUDA context, NCCL), without which "
                    "the request of {} would have fitted.",
                    byte_text(*memory_.capacity_bytes), byte_text(memory_.reserved_bytes),
                    byte_text(driver_free()), byte_text(*memory_.outside_bytes),
                    byte_text(request_)));
  }

  void ask_whole_device() {
    if (request_ <= whole() || whole() == 0) return;
    say(oom_cause::huge_request,
        memory_.capacity_bytes || memory_.driver_free_bytes ? confidence::certain
                                                            : confidence::likely,
        fmt::format("{} is larger than all that this process could have had ({}): look at the "
                    "shapes of that line.",
                    asked(), byte_text(whole())));
  }

  /// A hole elsewhere is the cause unless the own stream's pieces are worth more.
  void ask_elsewhere() {
    bool const own_are_more = space_.own_bytes >= request_;
    if (space_.other_pool_hole > 0 &&
        !(own_are_more && space_.own_bytes > space_.other_pool_bytes)) {
      say(oom_cause::private_pool, memory_.exact ? confidence::certain : confidence::likely,
          fmt::format(
              "{} found no place of its own pool, while another pool has a free block of {}: "
              "memory of a private pool (a CUDA graph, a MemPool) serves that pool alone.",
              asked(), byte_text(space_.other_pool_hole)));
    }
    if (space_.other_stream_hole > 0 &&
        !(own_are_more && space_.own_bytes > space_.other_stream_bytes)) {
      say(oom_cause::other_stream, memory_.exact ? confidence::certain : confidence::likely,
          fmt::format(
              "{} on stream {} found no place, while another stream has a free block of {}: "
              "cached memory serves the stream alone that it was allocated on.",
              asked(), device_.request.stream, byte_text(space_.other_stream_hole)));
    }
  }

  bool is_worth_a_word(std::int64_t bytes) const {
    return bytes >= memory_.reserved_bytes / usual_loss_part;
  }

  void ask_fragmentation() {
    if (space_.own_bytes < request_ || !is_worth_a_word(space_.own_bytes)) return;
    say(oom_cause::fragmentation, memory_.exact ? confidence::certain : confidence::likely,
        fmt::format("{} of its stream and pool were free, enough for {}, but in pieces of at most "
                    "{}: the memory is fragmented.",
                    byte_text(space_.own_bytes), byte_text(request_),
                    byte_text(space_.largest_usable_bytes)));
  }

  void ask_huge() {
    std::int64_t largest = 0;
    for (site_row const& row : device_.holders) {
      largest = std::max(largest, row.tensors > 0 ? row.bytes / row.tensors : 0);
    }
    if (whole() == 0 || request_ <= whole() / 2 || request_ / 4 <= largest) return;
    say(oom_cause::huge_request, confidence::likely,
        fmt::format("{} is more than half of the {} that this process could have had, and more "
                    "than four times what any line holds in one tensor: look at its shapes.",
                    asked(), byte_text(whole())));
  }

  void ask_scattered() {
    std::int64_t const all = add_saturated(space_.free_bytes, perhaps_driver_free());
    bool const elsewhere =
        std::max(space_.other_stream_bytes, space_.other_pool_bytes) >= request_ &&
        is_worth_a_word(space_.free_bytes);
    if (elsewhere) {
      say(space_.other_pool_bytes > space_.other_stream_bytes ? oom_cause::private_pool
                                                              : oom_cause::other_stream,
          confidence::likely,
          fmt::format("{} found {} free on its own stream and pool, while other pools have {} and "
                      "other streams {} free, in pieces: cached memory serves its own stream and "
                      "pool alone.",
                      asked(), byte_text(space_.own_bytes), byte_text(space_.other_pool_bytes),
                      byte_text(space_.other_stream_bytes)));
    } else if (all >= request_ && is_worth_a_word(space_.free_bytes)) {
      say(oom_cause::fragmentation, confidence::likely,
          fmt::format("{}{} were free or left with the driver, enough for {}, but spread over "
                      "segments, streams and pools: no piece was large enough.",
                      memory_.driver_free_bytes ? "" : "Up to ", byte_text(all),
                      byte_text(request_)));
    }
  }

  void ask_capacity() {
    if (found_.cause != oom_cause::none) return;
    if (!device_.has_map) {
      say(oom_cause::capacity, confidence::likely,
          fmt::format("{} failed. The file has no segments of this device, so nothing is known of "
                      "its free memory, and fragmentation cannot be excluded.",
                      asked()));
      return;
    }
    std::string text = fmt::format("{} found no place: {} of {} reserved were in use", asked(),
                                   byte_text(excess(memory_.reserved_bytes, space_.free_bytes)),
                                   byte_text(memory_.reserved_bytes));
    bool const knows_rest = memory_.driver_free_bytes.has_value();
    text += knows_rest ? fmt::format(" and the driver had {} left: live tensors fill the device.",
                                     byte_text(driver_free()))
            : memory_.capacity_bytes
                ? fmt::format(" on a device of {}: live tensors fill it.",
                              byte_text(*memory_.capacity_bytes))
                : std::string(
                      ". Whether the driver had memory left the file does not say; "
                      "--capacity tells more.");
    bool const is_proved =
        knows_rest && memory_.exact && add_saturated(space_.free_bytes, driver_free()) < request_;
    say(oom_cause::capacity, is_proved ? confidence::certain : confidence::likely, std::move(text));
  }

  oom_device_report const& device_;
  oom_memory const& memory_;
  free_space const& space_;
  std::int64_t request_ = 0;
  std::int64_t driver_ = 0;
  oom_verdict found_;
};

}  // namespace

oom_verdict find_verdict(oom_device_report const& device, free_space const& space) {
  return judge(device, space).decide();
}

}  // namespace memreplay::reporting
