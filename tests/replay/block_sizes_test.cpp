// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Holds the found block sizes to those of a small caching allocator that shares no line with the
// engine.
#include "replay/block_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "replay/allocator_model.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

// --- a trace written as sentences ---

class file_builder {
 public:
  file_builder() {
    input_.has_traces = true;
    input_.has_segments = true;
    input_.streams = {0};
    input_.pools = {pool_id{}};
    input_.settings = {{"PYTORCH_CUDA_ALLOC_CONF", "\"\""}};  // a file of PyTorch 2.3 or later
  }
  file_builder& event(action what, std::uint64_t address, std::uint64_t size) {
    input_.events.what.push_back(what);
    input_.events.address.push_back(address);
    input_.events.size.push_back(size);
    input_.events.stream.push_back(stream_id{0});
    input_.events.stack.push_back(no_stack);
    return *this;
  }
  file_builder& alloc(std::uint64_t address, std::uint64_t size) {
    return event(action::alloc, address, size);
  }
  file_builder& request(std::uint64_t address, std::uint64_t size) {
    return event(action::free_requested, address, size);
  }
  file_builder& complete(std::uint64_t address, std::uint64_t size) {
    return event(action::free_completed, address, size);
  }
  file_builder& free(std::uint64_t address, std::uint64_t size) {
    return request(address, size).complete(address, size);
  }
  file_builder& segment_alloc(std::uint64_t address, std::uint64_t size) {
    return event(action::segment_alloc, address, size);
  }
  file_builder& segment_free(std::uint64_t address, std::uint64_t size) {
    return event(action::segment_free, address, size);
  }
  file_builder& end_segment(std::uint64_t address, std::uint64_t size, bool is_expandable = false,
                            bool is_small = false) {
    segment made;
    made.address = address;
    made.total_size = size;
    made.is_expandable = is_expandable;
    made.is_small = is_small;
    if (!is_2_0_) made.stack = stack_id{0};
    made.first_block = static_cast<std::int64_t>(input_.blocks.size());
    input_.segments.push_back(made);
    return *this;
  }
  // A block of the latest end segment.
  file_builder& end_block(std::uint64_t address, std::uint64_t size, std::uint64_t requested,
                          block_state state = block_state::active_allocated) {
    input_.blocks.push_back({address, size, requested, state, no_stack});
    ++input_.segments.back().block_count;
    return *this;
  }
  file_builder& set(std::string key, std::string value) {
    input_.settings.push_back({std::move(key), std::move(value)});
    return *this;
  }
  // As 2.1 and Ascend write it.
  file_builder& without_settings() {
    input_.settings.clear();
    return *this;
  }
  file_builder& as_2_0() {
    is_2_0_ = true;
    return without_settings();
  }
  snapshot& input() { return input_; }
  block_sizes sizes() {
    input_.traces = {{0, static_cast<std::int64_t>(input_.events.size_rows())}};
    return find_block_sizes(input_, 0);
  }

 private:
  snapshot input_;
  bool is_2_0_ = false;
};

using sizes = size_column;

std::int64_t count_of(block_sizes const& found, std::string const& kind) {
  std::int64_t count = 0;
  for (audit_row const& row : found.defects) count += row.kind == kind ? row.count : 0;
  return count;
}

void expect_exact_peak(block_sizes const& found, std::uint64_t bytes) {
  EXPECT_TRUE(found.peak_allocated.exact) << found.peak_allocated.reason;
  EXPECT_EQ(found.peak_allocated.low, static_cast<std::int64_t>(bytes));
  EXPECT_EQ(found.peak_allocated.high, static_cast<std::int64_t>(bytes));
  EXPECT_EQ(found.peak_allocated.reason, "");
}

// --- rules ---

TEST(allocator_rules, rounds_to_multiples_of_512) {
  allocator_rules const rules;
  for (auto const& [requested, rounded] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 512},
                                                            {1, 512},
                                                            {512, 512},
                                                            {513, 1024},
                                                            {mib, mib},
                                                            {mib + 1, mib + 512},
                                                            {3 * mib - 1, 3 * mib}}) {
    EXPECT_EQ(rules.round_size(requested), rounded) << requested;
  }
  EXPECT_EQ(rules.round_size(~std::uint64_t{0}), size_cap_bytes);
}

TEST(allocator_rules, adds_32_first_on_ascend) {
  allocator_rules rules;
  rules.added_bytes = 32;
  EXPECT_EQ(rules.round_size(480), 512u);
  EXPECT_EQ(rules.round_size(481), 1024u);
  EXPECT_EQ(rules.round_size(1024), 1536u);
  EXPECT_EQ(rules.round_size(mib), mib + 512);
}

TEST(allocator_rules, rounds_to_divisions_of_a_power_of_two) {
  allocator_rules rules;
  rules.power2_divisions.fill(4);
  rules.has_divisions = true;
  EXPECT_EQ(rules.round_size(1200), 1536u);  // not more than 512 * 4: multiples of 512
  EXPECT_EQ(rules.round_size(2048), 2048u);
  EXPECT_EQ(rules.round_size(2049), 2560u);  // steps of 2048 / 4
  EXPECT_EQ(rules.round_size(1200 * kib),
            1280 * kib);  // the manual's example: 1024, 1280, 1536, 1792
  EXPECT_EQ(rules.round_size(1793 * kib), 2048 * kib);
  EXPECT_EQ(rules.round_size(2 * mib), 2 * mib);
}

TEST(allocator_rules, splits_a_large_range_when_more_than_one_mebibyte_is_left) {
  allocator_rules rules;
  EXPECT_EQ(rules.large_block_size(2 * mib, 20 * mib), 2 * mib);
  EXPECT_EQ(rules.large_block_size(2 * mib, 3 * mib + 512), 2 * mib);
  EXPECT_EQ(rules.large_block_size(2 * mib, 3 * mib), 3 * mib);
  EXPECT_EQ(rules.large_block_size(2 * mib, 2 * mib), 2 * mib);
  rules.max_split_size = 2 * mib;
  EXPECT_EQ(rules.large_block_size(2 * mib, 20 * mib), 20 * mib);
}

TEST(allocator_rules, reads_the_settings) {
  std::vector<setting> const settings{
      {"PYTORCH_CUDA_ALLOC_CONF",
       "\"expandable_segments:True,roundup_power2_divisions:[4:2,16:8,>:1],max_split_size_mb:64\""},
  };
  allocator_rules rules = read_allocator_rules(settings);
  EXPECT_EQ(rules.expandable, true);
  EXPECT_EQ(rules.max_split_size, 64 * mib);
  EXPECT_TRUE(rules.has_divisions);
  EXPECT_EQ(rules.power2_divisions[0], 2u);  // the first one sets those below it
  EXPECT_EQ(rules.power2_divisions[2], 2u);
  EXPECT_EQ(rules.power2_divisions[3], 0u);
  EXPECT_EQ(rules.power2_divisions[4], 8u);
  EXPECT_EQ(rules.power2_divisions[15], 0u);

  std::vector<setting> const parsed{{"PYTORCH_CUDA_ALLOC_CONF", "\"max_split_size_mb:64\""},
                                    {"max_split_size", "-1"},
                                    {"expandable_segments", "false"},
                                    {"roundup_power2_divisions.1", "0"},
                                    {"roundup_power2_divisions.32768", "4"},
                                    {"unknown", "[1, 2"},
                                    {"roundup_power2_divisions.x", "\"\""}};
  rules = read_allocator_rules(parsed);
  EXPECT_EQ(rules.max_split_size, ~std::uint64_t{0});
  EXPECT_EQ(rules.expandable, false);
  EXPECT_EQ(rules.power2_divisions[15], 4u);
  EXPECT_EQ(rules.power2_divisions[0], 0u);
  EXPECT_FALSE(read_allocator_rules({}).expandable.has_value());
}

// --- containers against the standard library's ---

TEST(ordered_bits, finds_the_predecessor_as_a_set_does) {
  std::mt19937_64 random(7);
  for (std::size_t const size : {std::size_t{1}, std::size_t{64}, std::size_t{65},
                                 std::size_t{5000}, std::size_t{300'000}}) {
    ordered_bits bits(size);
    std::set<std::size_t> model;
    for (int step = 0; step < 4000; ++step) {
      std::size_t const bit = random() % size;
      if (random() % 3 == 0) {
        bits.set(bit);
        model.insert(bit);
      } else if (random() % 2 == 0) {
        bits.clear(bit);
        model.erase(bit);
      }
      std::size_t const asked = random() % size;
      auto const above = model.upper_bound(asked);
      std::size_t const expected = above == model.begin() ? ordered_bits::none : *std::prev(above);
      ASSERT_EQ(bits.at_or_below(asked), expected) << size << ' ' << asked;
    }
  }
}

TEST(flat_map, does_as_a_map_does) {
  std::mt19937_64 random(11);
  flat_map map;
  std::map<std::uint64_t, std::uint64_t> model;
  for (int step = 0; step < 60'000; ++step) {
    std::uint64_t const key = random() % 6000 * 512;
    flat_map::entry& entry = map.find(key);
    auto const known = model.find(key);
    ASSERT_EQ(entry.value, known == model.end() ? 0 : known->second);
    if (entry.value == 0) {
      map.fill(entry, key, random() | 1);
      model[key] = map.value_of(key);
    } else if (random() % 2 == 0) {
      map.erase(entry);
      model.erase(key);
    }
    ASSERT_EQ(map.size(), model.size());
  }
}

TEST(page_map, does_as_a_map_does_inside_its_array_and_beyond) {
  std::mt19937_64 random(12);
  for (std::uint64_t const near : {0U, 1U, 100U}) {
    page_map pages(1000, near);
    std::map<std::uint64_t, std::uint64_t> model;
    for (int step = 0; step < 20'000; ++step) {
      std::uint64_t const page = 950 + random() % 200;
      ASSERT_EQ(pages.value_of(page), model.contains(page) ? model[page] : 0) << page;
      if (model.contains(page)) {
        pages.erase(page);
        model.erase(page);
      } else {
        model[page] = 1 + random() % 1000;
        pages.set(page, model[page]);
      }
    }
  }
}

TEST(segment_set, finds_the_segment_however_the_bases_are_spread) {
  std::mt19937_64 random(13);
  for (int const spread : {0, 3, 20, 44}) {
    std::map<std::uint64_t, std::uint64_t> model;  // base -> end
    std::vector<std::uint64_t> bases{5 * mib};
    for (int row = 0; row < 40; ++row) {
      bases.push_back((5 + random() % 64) * mib + (random() % 2 << (20 + spread)));
    }
    segment_set segments(bases);
    for (int step = 0; step < 20'000; ++step) {
      std::uint64_t const at = bases[random() % bases.size()];
      if (random() % 3 == 0) {
        ASSERT_EQ(segments.release(at), model.erase(at) == 1);
      } else {
        ASSERT_EQ(segments.hold(at, mib, false), model.insert({at, at + mib}).second);
      }
      std::uint64_t const asked = bases[random() % bases.size()] + random() % (3 * mib) - mib;
      auto const above = model.upper_bound(asked);
      bool const is_inside = above != model.begin() && asked < std::prev(above)->second;
      std::size_t const found = segments.find(asked);
      ASSERT_EQ(found != segment_set::none, is_inside) << asked;
      if (!is_inside) continue;
      ASSERT_EQ(segments[found].base, std::prev(above)->first);
    }
  }
}

// --- single situations ---

constexpr std::uint64_t base = 0x7f00'0000'0000;

TEST(find_block_sizes, a_large_block_keeps_a_short_rest) {
  block_sizes const found = file_builder()
                                .segment_alloc(base, 20 * mib)
                                .alloc(base, 9 * mib)
                                .alloc(base + 9 * mib, 10 * mib + 5)
                                .free(base, 9 * mib)
                                .alloc(base, 8 * mib + 100)
                                .end_segment(base, 20 * mib)
                                .end_block(base, 9 * mib, 8 * mib + 100)
                                .end_block(base + 9 * mib, 11 * mib, 10 * mib + 5)
                                .sizes();
  EXPECT_EQ(found.size, (sizes{20 * mib, 9 * mib, 11 * mib, 9 * mib, 9 * mib, 9 * mib}));
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.reason, "allocator replayed from an empty start");
  EXPECT_TRUE(found.defects.empty());
  expect_exact_peak(found, 20 * mib);
}

TEST(find_block_sizes, small_pools_and_expandable_segments_cut_to_the_request) {
  block_sizes const found =
      file_builder()
          .set("expandable_segments", "true")
          .event(action::segment_map, base, 20 * mib)
          .alloc(base, 19 * mib + 1)
          .alloc(base + 19 * mib + 512, 1)
          .end_segment(base, 20 * mib, true)
          .end_block(base, 19 * mib + 512, 19 * mib + 1)
          .end_block(base + 19 * mib + 512, 512, 1)
          .end_block(base + 19 * mib + 1024, mib - 1024, 0, block_state::inactive)
          .sizes();
  EXPECT_EQ(found.size, (sizes{20 * mib, 19 * mib + 512, 512}));
  EXPECT_TRUE(found.exact);
  expect_exact_peak(found, 19 * mib + 1024);
}

TEST(find_block_sizes, an_expandable_segment_may_be_unmapped_and_mapped_again) {
  block_sizes const found = file_builder()
                                .set("expandable_segments", "true")
                                .event(action::segment_map, base, 40 * mib)
                                .alloc(base, 30 * mib)
                                .free(base, 30 * mib)
                                .event(action::segment_unmap, base, 40 * mib)
                                .event(action::segment_map, base, 20 * mib)
                                .alloc(base, 19 * mib + 512)
                                .free(base, 19 * mib + 512)
                                .event(action::segment_unmap, base, 20 * mib)
                                .sizes();
  EXPECT_EQ(found.size[1], 30 * mib);
  EXPECT_EQ(found.size[6], 19 * mib + 512);
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.reason, "allocator replayed from an empty start");
  expect_exact_peak(found, 30 * mib);
}

TEST(find_block_sizes, a_delayed_completion_keeps_the_range_short) {
  block_sizes const found = file_builder()
                                .segment_alloc(base, 20 * mib)
                                .alloc(base, 4 * mib)
                                .alloc(base + 4 * mib, 4 * mib)
                                .request(base + 4 * mib, 4 * mib)
                                .free(base, 4 * mib)
                                .alloc(base, 3 * mib + 1)  // the pending block bounds its range
                                .complete(base + 4 * mib, 4 * mib)
                                .free(base, 3 * mib + 1)
                                .alloc(base, 3 * mib + 1)  // now it is all one range
                                .end_segment(base, 20 * mib)
                                .end_block(base, 3 * mib + 512, 3 * mib + 1)
                                .sizes();
  EXPECT_EQ(found.size[6], 4 * mib);
  EXPECT_EQ(found.size[10], 3 * mib + 512);
  EXPECT_TRUE(found.exact);
  expect_exact_peak(found, 8 * mib);
}

TEST(find_block_sizes, two_segments_side_by_side_are_not_one_range) {
  block_sizes const found = file_builder()
                                .segment_alloc(base, 10 * mib)
                                .segment_alloc(base + 10 * mib, 10 * mib)
                                .alloc(base, 9 * mib + 512)
                                .free(base, 9 * mib + 512)
                                .segment_free(base, 10 * mib)
                                .segment_free(base + 10 * mib, 10 * mib)
                                .sizes();
  EXPECT_EQ(found.size[2], 10 * mib);
  EXPECT_TRUE(found.exact);
}

TEST(find_block_sizes, an_unsplit_block_above_max_split_size_is_the_whole_segment) {
  block_sizes const found = file_builder()
                                .set("max_split_size", std::to_string(16 * mib))
                                .segment_alloc(base, 32 * mib)
                                .alloc(base, 17 * mib)
                                .free(base, 17 * mib)
                                .alloc(base, 30 * mib)
                                .free(base, 30 * mib)
                                .end_segment(base, 32 * mib)
                                .end_block(base, 32 * mib, 30 * mib, block_state::inactive)
                                .sizes();
  EXPECT_EQ(found.size[1], 32 * mib);
  EXPECT_TRUE(found.exact);
  expect_exact_peak(found, 32 * mib);
}

TEST(find_block_sizes, a_block_older_than_the_trace_is_bounded) {
  // It may reach up to 1 MiB beyond its request; the next block leaves 256 KiB of that.
  block_sizes const found =
      file_builder()
          .free(base + 2 * mib, 3 * mib)
          .end_segment(base, 20 * mib)
          .end_block(base, 2 * mib, 2 * mib)
          .end_block(base + 2 * mib, 3 * mib + 256 * kib, 0, block_state::inactive)
          .end_block(base + 5 * mib + 256 * kib, 4 * mib, 4 * mib)
          .sizes();
  EXPECT_EQ(found.size, (sizes{3 * mib, 3 * mib}));
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(found.reason, "block sizes estimated: 1 block is older than the trace");
  EXPECT_FALSE(found.peak_allocated.exact);
  EXPECT_EQ(found.peak_allocated.reason, found.reason);
  EXPECT_EQ(found.peak_allocated.low, static_cast<std::int64_t>(9 * mib));
  EXPECT_EQ(found.peak_allocated.high, static_cast<std::int64_t>(9 * mib + 256 * kib));
}

TEST(find_block_sizes, a_block_cut_right_above_proves_the_size_of_an_older_one) {
  block_sizes const found = file_builder()
                                .alloc(base + 5 * mib + 512 * kib, 2 * mib)
                                .free(base + 2 * mib, 5 * mib - 1536 * kib)
                                .end_segment(base, 20 * mib)
                                .end_block(base, 2 * mib, 2 * mib)
                                .end_block(base + 5 * mib + 512 * kib, 2 * mib, 2 * mib)
                                .sizes();
  EXPECT_EQ(found.size, (sizes{2 * mib, 3 * mib + 512 * kib, 3 * mib + 512 * kib}));
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.reason, "allocator replayed backwards from the end state");
  expect_exact_peak(found, 7 * mib + 512 * kib);
}

TEST(find_block_sizes, a_pending_block_older_than_the_trace_is_in_the_end_state) {
  block_sizes const found =
      file_builder()
          .request(base, 3 * mib)
          .free(base + 16 * mib, 512)
          .end_segment(base, 20 * mib)
          .end_block(base, 3 * mib + 512 * kib, 3 * mib, block_state::active_pending_free)
          .sizes();
  EXPECT_EQ(found.size, (sizes{3 * mib + 512 * kib, 512, 512}));
  EXPECT_TRUE(found.exact);
  expect_exact_peak(found, 3 * mib + 512 * kib + 512);
}

TEST(find_block_sizes, a_completion_without_request_was_not_allocated_any_more) {
  block_sizes const found = file_builder()
                                .complete(base, 512)
                                .alloc(base, 100)
                                .free(base, 100)
                                .end_segment(base, 2 * mib, false, true)
                                .sizes();
  EXPECT_EQ(found.size, (sizes{512, 512, 512, 512}));
  expect_exact_peak(found, 512);
}

TEST(find_block_sizes, without_requests_a_completion_is_the_free) {
  block_sizes const found = file_builder()
                                .complete(base, 1024)
                                .alloc(base, 100)
                                .complete(base, 100)
                                .end_segment(base, 2 * mib, false, true)
                                .sizes();
  expect_exact_peak(found, 1024);
}

TEST(find_block_sizes, without_completions_a_request_returns_the_block) {
  block_sizes const found = file_builder()
                                .segment_alloc(base, 20 * mib)
                                .alloc(base, 4 * mib)
                                .alloc(base + 4 * mib, 4 * mib)
                                .request(base + 4 * mib, 4 * mib)
                                .request(base, 4 * mib)
                                .alloc(base, 3 * mib + 1)
                                .request(base, 3 * mib + 1)
                                .end_segment(base, 20 * mib)
                                .sizes();
  EXPECT_EQ(found.size,
            (sizes{20 * mib, 4 * mib, 4 * mib, 4 * mib, 4 * mib, 3 * mib + 512, 3 * mib + 512}));
  EXPECT_TRUE(found.exact);
  EXPECT_TRUE(found.defects.empty());
}

TEST(find_block_sizes, a_second_alloc_closes_the_first) {
  block_sizes const found = file_builder()
                                .segment_alloc(base, 2 * mib)
                                .alloc(base, 1000)
                                .alloc(base, 2000)
                                .free(base, 2000)
                                .end_segment(base, 2 * mib, false, true)
                                .sizes();
  EXPECT_EQ(found.size, (sizes{2 * mib, 1024, 2048, 2048, 2048}));
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(count_of(found, "allocator_contradiction"), 1);
  EXPECT_EQ(found.peak_allocated.low, 2048);
  EXPECT_EQ(found.peak_allocated.high, 2048);
}

TEST(find_block_sizes, lost_events_give_bounds_in_their_segment_only) {
  std::uint64_t const other = base + 100 * mib;
  block_sizes const found = file_builder()
                                .segment_alloc(base, 20 * mib)
                                .segment_alloc(other, 20 * mib)
                                .alloc(base, 4 * mib)
                                .alloc(base + 6 * mib, 4 * mib)  // the block between is missing
                                .alloc(other, 19 * mib)
                                .free(base + 6 * mib, 4 * mib)
                                .free(base, 4 * mib)
                                .free(other, 19 * mib)
                                .end_segment(base, 20 * mib)
                                .end_segment(other, 20 * mib)
                                .sizes();
  EXPECT_EQ(found.size[4], 20 * mib);
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(count_of(found, "allocator_contradiction"), 1);
  EXPECT_EQ(found.peak_allocated.low, static_cast<std::int64_t>(28 * mib));
  EXPECT_EQ(found.peak_allocated.high, static_cast<std::int64_t>(30 * mib));
}

TEST(find_block_sizes, an_end_state_of_other_rules_is_reported) {
  // As a pool that hands out whole segments does: nothing is split, whatever the rest.
  block_sizes const found = file_builder()
                                .segment_alloc(base, 20 * mib)
                                .segment_alloc(base + 20 * mib, 20 * mib)
                                .alloc(base, 4 * mib)
                                .alloc(base + 20 * mib, 4 * mib)
                                .free(base + 20 * mib, 4 * mib)
                                .end_segment(base, 20 * mib)
                                .end_block(base, 20 * mib, 4 * mib)
                                .end_segment(base + 20 * mib, 20 * mib)
                                .sizes();
  EXPECT_EQ(found.size[2], 20 * mib);
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(count_of(found, "block_size_mismatch"), 1);
  EXPECT_LE(found.peak_allocated.low, static_cast<std::int64_t>(40 * mib));
  EXPECT_EQ(found.peak_allocated.high, static_cast<std::int64_t>(40 * mib));
}

TEST(find_block_sizes, without_segments_only_the_rounding_is_known) {
  file_builder file;
  file.alloc(base, 100).alloc(base + 2 * mib, 3 * mib).free(base, 100);
  file.input().has_segments = false;
  block_sizes const found = file.sizes();
  EXPECT_EQ(found.size, (sizes{512, 3 * mib, 512, 512}));
  EXPECT_FALSE(found.exact);
  EXPECT_FALSE(found.peak_allocated.exact);
  EXPECT_EQ(found.peak_allocated.low, static_cast<std::int64_t>(3 * mib + 512));
  EXPECT_EQ(found.peak_allocated.high, static_cast<std::int64_t>(4 * mib + 512));
}

TEST(find_block_sizes, files_of_pytorch_2_0_hide_the_frees_of_older_memory) {
  file_builder file;
  file.as_2_0()
      .alloc(base, 3 * mib)
      .free(base, 3 * mib)
      .end_segment(base, 20 * mib)
      .end_block(base + 16 * mib, 4 * mib, 4 * mib);
  block_sizes const found = file.sizes();
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(found.peak_allocated.low, static_cast<std::int64_t>(7 * mib));
  EXPECT_EQ(found.peak_allocated.high,
            static_cast<std::int64_t>(20 * mib));  // all that was reserved
  EXPECT_NE(found.reason.find("older than the trace are not recorded"), std::string::npos);
}

TEST(find_block_sizes, live_blocks_show_the_rounding_of_ascend) {
  file_builder file;
  file.without_settings()
      .segment_alloc(base, 2 * mib)
      .alloc(base, 1024)
      .alloc(base + 1536, 512)
      .free(base + 1536, 512);
  file.end_segment(base, 2 * mib, false, true).end_block(base, 1536, 1024);
  file.input().streams = {0x5555'0000};
  block_sizes const found = file.sizes();
  EXPECT_EQ(found.size, (sizes{2 * mib, 1536, 1024, 1024, 1024}));
  EXPECT_TRUE(found.exact);
}

TEST(find_block_sizes, addresses_show_the_rounding_of_ascend_when_nothing_is_live) {
  file_builder file;
  file.without_settings()
      .segment_alloc(base, 20 * mib)
      .alloc(base, 2 * mib)
      .alloc(base + 2 * mib + 512, 2 * mib)
      .free(base, 2 * mib)
      .free(base + 2 * mib + 512, 2 * mib)
      .end_segment(base, 20 * mib);
  file.input().streams = {0x5555'0000};
  block_sizes const found = file.sizes();
  EXPECT_EQ(found.size[1], 2 * mib + 512);
  EXPECT_TRUE(found.exact);
}

TEST(find_block_sizes, a_device_without_a_trace_has_its_end_state) {
  file_builder file;
  file.end_segment(base, 20 * mib).end_block(base, 3 * mib, 3 * mib - 1);
  file.end_block(base + 3 * mib, 2 * mib, 2 * mib, block_state::active_pending_free);
  block_sizes const found = file.sizes();
  EXPECT_TRUE(found.size.empty());
  EXPECT_TRUE(found.exact);
  expect_exact_peak(found, 3 * mib);
  expect_exact_peak(find_block_sizes(file.input(), 1), 0);
  expect_exact_peak(find_block_sizes(file.input(), -1), 0);
}

TEST(find_block_sizes, a_trace_of_another_device_is_not_read) {
  file_builder file;
  file.alloc(base, 7).alloc(base, 512);
  file.sizes();
  file.input().traces = {{0, 1}, {1, 1}};
  EXPECT_EQ(find_block_sizes(file.input(), 1).size, (sizes{512}));
}

// --- against a caching allocator ---

struct toy_settings {
  bool is_expandable = false;
  std::uint64_t max_split_size = ~std::uint64_t{0};
  std::uint64_t divisions = 0;
  std::uint64_t added_bytes = 0;
};

// Names the test; without it GoogleTest prints the bytes, padding included.
void PrintTo(toy_settings const& settings, std::ostream* out) {
  *out << (settings.is_expandable ? "expandable" : "segments") << ", max_split "
       << settings.max_split_size << ", divisions " << settings.divisions << ", added "
       << settings.added_bytes;
}

// Straight from the description of the format, with maps of blocks and no thought of speed. A pool
// here stands for a (pool, stream) pair: that is how the allocator keeps its free blocks apart.
class toy_allocator {
 public:
  struct piece {
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    int state = 0;  // 0 free, 1 allocated, 2 pending
  };
  struct area {  // a segment; of an expandable one, a contiguous mapped range
    std::uint64_t size = 0;
    int pool = 0;
    bool is_small = false;
    std::map<std::uint64_t, piece> pieces;
  };
  struct recorded {
    action what;
    std::uint64_t address;
    std::uint64_t bytes;
    std::uint64_t block_bytes;
    std::uint64_t allocated_before;
    std::uint64_t allocated_after;
  };

  toy_allocator(toy_settings settings, std::mt19937_64& random)
      : settings_(settings), random_(random) {}

  std::uint64_t malloc(std::uint64_t requested, int pool) {
    complete_some();
    std::uint64_t const need = rounded(requested);
    bool const is_small = need <= mib;
    std::uint64_t address = best_fit(need, pool, is_small);
    if (address == 0) address = more_memory(need, pool, is_small);
    area& in = area_of(address);
    piece& cut = in.pieces.at(address);
    std::uint64_t const rest = cut.size - need;
    bool const splits = is_small || settings_.is_expandable
                            ? rest >= 512
                            : need < settings_.max_split_size && rest > mib;
    if (splits) {
      in.pieces[address + need] = {rest, cut.requested, 0};
      cut.size = need;
    }
    cut.requested = requested;
    cut.state = 1;
    std::uint64_t const before = allocated_;
    allocated_ += cut.size;
    active_ += cut.size;
    log_.push_back({action::alloc, address, requested, cut.size, before, allocated_});
    return address;
  }

  void free(std::uint64_t address, bool is_deferred) {
    piece& freed = area_of(address).pieces.at(address);
    freed.state = 2;
    std::uint64_t const before = allocated_;
    allocated_ -= freed.size;
    log_.push_back(
        {action::free_requested, address, freed.requested, freed.size, before, allocated_});
    deferred_.push_back(address);
    if (!is_deferred) complete(deferred_.size() - 1);
  }

  void empty_cache() {
    while (!deferred_.empty()) complete(0);
    for (auto one = areas_.begin(); one != areas_.end();) {
      bool const is_unused =
          one->second.pieces.size() == 1 && one->second.pieces.begin()->second.state == 0;
      if (!is_unused || one->second.pool != 0) {
        ++one;
        continue;
      }
      action const what = settings_.is_expandable ? action::segment_unmap : action::segment_free;
      log_.push_back(
          {what, one->first, one->second.size, one->second.size, allocated_, allocated_});
      if (!settings_.is_expandable) spare_[one->second.size].push_back(one->first);
      one = areas_.erase(one);
    }
  }

  void mark() { log_.push_back({action::snapshot, 0, active_, 0, allocated_, allocated_}); }

  // The file whose ring buffer kept the events from `first` on.
  file_builder file(std::size_t first) const {
    file_builder made;
    if (settings_.added_bytes != 0) {
      made.without_settings();
      made.input().streams = {0x5555'0000};
    }
    if (settings_.is_expandable) made.set("expandable_segments", "true");
    if (settings_.max_split_size != ~std::uint64_t{0}) {
      made.set("max_split_size", std::to_string(settings_.max_split_size));
    }
    if (settings_.divisions != 0) {
      for (int log2 = 0; log2 < 16; ++log2) {
        made.set("roundup_power2_divisions." + std::to_string(1 << log2),
                 std::to_string(settings_.divisions));
      }
    }
    for (std::size_t row = first; row < log_.size(); ++row)
      made.event(log_[row].what, log_[row].address, log_[row].bytes);
    for (auto const& [address, one] : areas_) {
      made.end_segment(address, one.size, settings_.is_expandable, one.is_small);
      for (auto const& [at, held] : one.pieces) {
        made.end_block(at, held.size, held.requested,
                       held.state == 1   ? block_state::active_allocated
                       : held.state == 2 ? block_state::active_pending_free
                                         : block_state::inactive);
      }
    }
    return made;
  }

  std::vector<recorded> const& log() const { return log_; }

 private:
  std::uint64_t rounded(std::uint64_t requested) const {
    std::uint64_t const bytes = requested + settings_.added_bytes;
    if (bytes < 512) return 512;
    if (settings_.divisions > 1 && bytes > 512 * settings_.divisions) {
      std::uint64_t floor = 1;
      while (floor * 2 <= bytes) floor *= 2;
      std::uint64_t step = floor / settings_.divisions;
      return (bytes + step - 1) / step * step;
    }
    return (bytes + 511) / 512 * 512;
  }
  area& area_of(std::uint64_t address) { return std::prev(areas_.upper_bound(address))->second; }

  std::uint64_t best_fit(std::uint64_t need, int pool, bool is_small) const {
    std::tuple<std::uint64_t, std::uint64_t> best{~std::uint64_t{0}, 0};
    for (auto const& [start, one] : areas_) {
      if (one.pool != pool || one.is_small != is_small) continue;
      for (auto const& [address, held] : one.pieces) {
        if (held.state == 0 && held.size >= need)
          best = std::min(best, std::tuple{held.size, address});
      }
    }
    auto const [size, address] = best;
    if (need < settings_.max_split_size && size >= settings_.max_split_size) return 0;
    if (need >= settings_.max_split_size && size >= need + 20 * mib) return 0;
    return address;
  }

  std::uint64_t more_memory(std::uint64_t need, int pool, bool is_small) {
    std::uint64_t bytes = is_small          ? 2 * mib
                          : need < 10 * mib ? 20 * mib
                                            : (need + 2 * mib - 1) / (2 * mib) * (2 * mib);
    if (settings_.is_expandable)
      bytes = is_small ? 2 * mib : (need + 20 * mib - 1) / (20 * mib) * (20 * mib);
    std::uint64_t address = next_;
    if (auto& spare = spare_[bytes]; !spare.empty()) {
      address = spare.back();
      spare.pop_back();
    } else {
      next_ += bytes + (random_() % 2 == 0 ? 0 : 2 * mib);
    }
    action const what = settings_.is_expandable ? action::segment_map : action::segment_alloc;
    log_.push_back({what, address, bytes, bytes, allocated_, allocated_});
    areas_[address] = {bytes, pool, is_small, {{address, piece{bytes, 0, 0}}}};
    return address;
  }

  void complete(std::size_t index) {
    std::uint64_t const address = deferred_[index];
    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(index));
    area& in = area_of(address);
    auto at = in.pieces.find(address);
    log_.push_back({action::free_completed, address, at->second.requested, at->second.size,
                    allocated_, allocated_});
    active_ -= at->second.size;
    at->second.state = 0;
    if (auto const above = std::next(at); above != in.pieces.end() && above->second.state == 0) {
      at->second.size += above->second.size;
      in.pieces.erase(above);
    }
    if (at != in.pieces.begin()) {
      if (auto const below = std::prev(at); below->second.state == 0) {
        below->second.size += at->second.size;
        in.pieces.erase(at);
      }
    }
  }
  void complete_some() {
    while (!deferred_.empty() && random_() % 3 == 0) complete(random_() % deferred_.size());
  }

  toy_settings settings_;
  std::mt19937_64& random_;
  std::map<std::uint64_t, area> areas_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> spare_;
  std::deque<std::uint64_t> deferred_;
  std::uint64_t next_ = base;
  std::uint64_t allocated_ = 0;
  std::uint64_t active_ = 0;
  std::vector<recorded> log_;
};

toy_allocator run_toy(toy_settings settings, std::mt19937_64& random, int calls) {
  toy_allocator toy(settings, random);
  std::vector<std::uint64_t> live;
  for (int call = 0; call < calls; ++call) {
    if (live.size() < 5 || (live.size() < 60 && random() % 2 == 0)) {
      std::uint64_t const scale = std::uint64_t{1} << (random() % 26);
      std::uint64_t requested = 1 + scale + random() % scale;
      if (random() % 3 == 0) requested = (requested + mib / 2) / (mib / 2) * (mib / 2);
      live.push_back(toy.malloc(requested, random() % 8 == 0 ? 1 : 0));
    } else {
      std::size_t const index = random() % live.size();
      toy.free(live[index], random() % 6 == 0);
      live[index] = live.back();
      live.pop_back();
    }
    if (random() % 150 == 0) toy.empty_cache();
    if (random() % 100 == 0) toy.mark();
  }
  return toy;
}

class against_a_toy_allocator : public testing::TestWithParam<toy_settings> {};

TEST_P(against_a_toy_allocator, a_complete_history_gives_every_size) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::mt19937_64 random(seed);
    toy_allocator const toy = run_toy(GetParam(), random, 900);
    block_sizes const found = toy.file(0).sizes();
    std::uint64_t peak = 0;
    for (std::size_t row = 0; row < toy.log().size(); ++row) {
      ASSERT_EQ(found.size[row], toy.log()[row].block_bytes) << "seed " << seed << " row " << row;
      peak = std::max(peak, toy.log()[row].allocated_after);
    }
    EXPECT_TRUE(found.exact) << found.reason;
    EXPECT_EQ(found.reason, "allocator replayed from an empty start");
    EXPECT_TRUE(found.defects.empty()) << found.defects.front().kind;
    expect_exact_peak(found, peak);
  }
}

TEST_P(against_a_toy_allocator, a_ring_buffer_gives_every_size_that_began_in_it) {
  for (std::uint64_t seed = 21; seed <= 44; ++seed) {
    std::mt19937_64 random(seed);
    toy_allocator const toy = run_toy(GetParam(), random, 900);
    std::size_t const first = 1 + random() % (toy.log().size() - 1);
    block_sizes const found = toy.file(first).sizes();
    std::uint64_t peak = toy.log()[first].allocated_before;
    bool is_exact = true;
    std::set<std::uint64_t> born;
    for (std::size_t row = first; row < toy.log().size(); ++row) {
      toy_allocator::recorded const& event = toy.log()[row];
      peak = std::max(peak, event.allocated_after);
      if (event.what == action::alloc) born.insert(event.address);
      std::uint64_t const size = found.size[row - first];
      if (born.count(event.address) != 0) {
        ASSERT_EQ(size, event.block_bytes) << "seed " << seed << " row " << row - first;
      } else {
        ASSERT_LE(size, event.block_bytes) << "seed " << seed << " row " << row - first;
        is_exact = is_exact && size == event.block_bytes;
      }
    }
    EXPECT_LE(found.peak_allocated.low, static_cast<std::int64_t>(peak)) << "seed " << seed;
    EXPECT_GE(found.peak_allocated.high, static_cast<std::int64_t>(peak)) << "seed " << seed;
    EXPECT_TRUE(!found.exact || is_exact) << "seed " << seed;
    EXPECT_TRUE(!found.peak_allocated.exact ||
                found.peak_allocated.low == static_cast<std::int64_t>(peak));
    EXPECT_TRUE(found.defects.empty()) << "seed " << seed << ' ' << found.defects.front().kind;
  }
}

class against_a_damaged_trace : public testing::TestWithParam<toy_settings> {};

TEST_P(against_a_damaged_trace, lost_events_are_noticed) {
  for (std::uint64_t seed = 61; seed <= 84; ++seed) {
    std::mt19937_64 random(seed);
    toy_allocator const toy = run_toy(GetParam(), random, 700);
    file_builder damaged = toy.file(toy.log().size());
    for (toy_allocator::recorded const& event : toy.log()) {
      if (random() % 20 != 0) damaged.event(event.what, event.address, event.bytes);
    }
    block_sizes const found = damaged.sizes();
    EXPECT_FALSE(found.exact) << "seed " << seed;
    EXPECT_FALSE(found.peak_allocated.exact) << "seed " << seed;
    EXPECT_FALSE(found.defects.empty()) << "seed " << seed;
    EXPECT_LE(found.peak_allocated.low, found.peak_allocated.high) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(settings, against_a_toy_allocator,
                         testing::Values(toy_settings{}, toy_settings{true},
                                         toy_settings{false, 30 * mib},
                                         toy_settings{false, ~std::uint64_t{0}, 4},
                                         toy_settings{true, ~std::uint64_t{0}, 8},
                                         toy_settings{false, ~std::uint64_t{0}, 0, 32}));
// In expandable segments every size is the request and the layout is not followed.
INSTANTIATE_TEST_SUITE_P(settings, against_a_damaged_trace,
                         testing::Values(toy_settings{}, toy_settings{false, 30 * mib},
                                         toy_settings{false, ~std::uint64_t{0}, 4},
                                         toy_settings{false, ~std::uint64_t{0}, 0, 32}));

// --- hostile input ---

TEST(find_block_sizes, any_values_in_any_order_are_accepted) {
  std::mt19937_64 random(99);
  std::vector<std::uint64_t> const odd{0,
                                       1,
                                       511,
                                       512,
                                       mib,
                                       mib + 1,
                                       20 * mib,
                                       ~std::uint64_t{0},
                                       ~std::uint64_t{0} - mib,
                                       std::uint64_t{1} << 63,
                                       std::uint64_t{1} << 60,
                                       (std::uint64_t{1} << 60) - mib};
  auto const value = [&](std::uint64_t spread) {
    return random() % 4 == 0 ? odd[random() % odd.size()] : base + random() % spread * 512;
  };
  auto const bytes = [&] {
    return random() % 3 == 0 ? odd[random() % odd.size()] : random() % (30 * mib);
  };
  for (int round = 0; round < 400; ++round) {
    std::uint64_t const spread = std::uint64_t{1} << (2 + random() % 16);
    file_builder file;
    if (random() % 2 == 0) file.without_settings();
    if (random() % 2 == 0) file.as_2_0();
    if (random() % 3 == 0) file.set("max_split_size", std::to_string(random() % (40 * mib)));
    if (random() % 3 == 0) file.set("expandable_segments", random() % 2 == 0 ? "true" : "false");
    if (random() % 4 == 0) file.set("roundup_power2_divisions.1", std::to_string(random()));
    if (random() % 4 == 0)
      file.set("PYTORCH_CUDA_ALLOC_CONF", "[:,]a:[1,2:>,>:3,roundup_power2_divisions:[:,9:9");
    std::size_t const events = random() % 300;
    for (std::size_t row = 0; row < events; ++row) {
      file.event(static_cast<action>(random() % action_count), value(spread), bytes());
    }
    std::size_t const segments = random() % 6;
    for (std::size_t row = 0; row < segments; ++row) {
      file.end_segment(value(spread), bytes(), random() % 3 == 0, random() % 3 == 0);
      for (std::size_t piece = random() % 8; piece-- > 0;) {
        file.end_block(value(spread), bytes(), bytes(), static_cast<block_state>(random() % 3));
      }
    }
    file.input().has_segments = random() % 8 != 0;
    if (random() % 2 == 0) file.input().streams = {5};
    block_sizes const found = file.sizes();
    ASSERT_EQ(found.size.size(), events);
    EXPECT_LE(found.peak_allocated.low, found.peak_allocated.high);
    EXPECT_FALSE(found.reason.empty());
    EXPECT_EQ(found.peak_allocated.exact, found.peak_allocated.reason.empty());
  }
}

}  // namespace
}  // namespace memreplay
