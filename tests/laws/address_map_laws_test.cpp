// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What no address map may break, on real files and on files of the snapshot maker.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <memreplay/make_report.hpp>
#include <memreplay/read_snapshot.hpp>
#include <memreplay/replay.hpp>

#include "kernels/kernel_api.hpp"
#include "replay/address_map.hpp"
#include "replay/device_input.hpp"
#include "support/temporary_folder.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

struct moment_map {
  address_map map;
  std::int64_t active_bytes = 0;  ///< of the curve, in block sizes
  std::int64_t reserved_bytes = 0;
};

/// Maps of evenly spaced events, the last one included, and what the curves say there.
std::vector<moment_map> make_maps(snapshot const& input, std::int32_t device) {
  block_sizes const sizes = find_block_sizes(input, device);
  device_input const columns = make_device_input(input, device, size_basis::block, sizes.size);
  replay_plan plan;
  plan.sizes = size_basis::block;
  constexpr std::int64_t parts = 9;
  for (std::int64_t part = 0; part <= parts; ++part) {
    plan.maps.push_back(columns.events * part / parts - 1);
  }
  plan.moments = plan.maps;
  kernels::kernel_result const found = kernels::host_backend().run(columns.view(), plan, nullptr);
  std::vector<moment_map> made;
  for (address_map& map : make_address_maps(input, device, found.maps, sizes)) {
    moment_values const& values = found.history.moments[found.history.row_of(map.event)];
    made.push_back({std::move(map), values.active_bytes, values.reserved_bytes});
  }
  return made;
}

void expect_filled(address_map const& map) {
  std::uint64_t last_end = 0;
  for (segment const& row : map.segments) {
    EXPECT_GE(row.address, last_end);
    std::uint64_t cursor = row.address;
    std::uint64_t active = 0;
    bool was_hole = false;
    for (std::int64_t at = row.first_block; at < row.first_block + row.block_count; ++at) {
      block const& piece = map.blocks[static_cast<std::size_t>(at)];
      EXPECT_EQ(piece.address, cursor);
      EXPECT_GT(piece.size, 0U);
      cursor += piece.size;
      bool const is_hole = piece.state == block_state::inactive;
      EXPECT_FALSE(is_hole && was_hole);
      was_hole = is_hole;
      if (!is_hole) active += piece.size;
    }
    last_end = row.address + row.total_size;
    EXPECT_EQ(cursor, last_end);
    EXPECT_EQ(row.active_size, active);
  }
}

void expect_sums(moment_map const& one) {
  std::int64_t reserved = 0;
  std::int64_t active = one.map.unplaced_bytes;
  for (segment const& row : one.map.segments) {
    reserved += static_cast<std::int64_t>(row.total_size);
    active += static_cast<std::int64_t>(row.active_size);
  }
  if (!one.map.exact) return;
  EXPECT_EQ(reserved, one.reserved_bytes);
  EXPECT_EQ(active, one.active_bytes);
}

void expect_equal(address_map const& made, address_map const& known) {
  ASSERT_EQ(made.segments.size(), known.segments.size());
  ASSERT_EQ(made.blocks.size(), known.blocks.size());
  for (std::size_t at = 0; at < made.segments.size(); ++at) {
    segment const& left = made.segments[at];
    segment const& right = known.segments[at];
    EXPECT_EQ(left.address, right.address);
    EXPECT_EQ(left.total_size, right.total_size);
    EXPECT_EQ(left.allocated_size, right.allocated_size);
    EXPECT_EQ(left.active_size, right.active_size);
    EXPECT_EQ(left.requested_size, right.requested_size);
    EXPECT_EQ(left.stream, right.stream);
    EXPECT_EQ(left.pool, right.pool);
    EXPECT_EQ(left.is_small, right.is_small);
    EXPECT_EQ(left.is_expandable, right.is_expandable);
    EXPECT_EQ(left.block_count, right.block_count);
  }
  for (std::size_t at = 0; at < made.blocks.size(); ++at) {
    block const& left = made.blocks[at];
    block const& right = known.blocks[at];
    EXPECT_EQ(left.address, right.address);
    EXPECT_EQ(left.size, right.size);
    EXPECT_EQ(left.state, right.state);
    if (left.state == block_state::inactive) continue;  // stale in the file
    EXPECT_EQ(left.requested_size, right.requested_size);
  }
}

/// Whether every moment of a device was exact.
bool check_device(snapshot const& input, std::int32_t device) {
  std::vector<moment_map> const moments = make_maps(input, device);
  for (moment_map const& one : moments) {
    SCOPED_TRACE("after event " + std::to_string(one.map.event) + ": " + one.map.reason);
    expect_filled(one.map);
    expect_sums(one);
  }
  address_map const& last = moments.back().map;
  if (last.exact) expect_equal(last, end_map(input, device));
  return std::all_of(moments.begin(), moments.end(),
                     [](moment_map const& one) { return one.map.exact; });
}

struct maker_case {
  char const* name;
  char const* options;
  bool is_exact;
  friend void PrintTo(maker_case const& one, std::ostream* out) { *out << one.options; }
};

class maps_of_the_maker : public ::testing::TestWithParam<maker_case> {};

TEST_P(maps_of_the_maker, hold) {
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'") != 0) {
    GTEST_SKIP() << "no python3 to make snapshots with";
  }
  testing::temporary_folder const folder;
  fs::path const file = folder.path() / "snapshot.pickle";
  std::string const command = "python3 -B '" MEMREPLAY_SOURCE_DIR "/tools/make_snapshot.py' -o '" +
                              file.string() + "' " + GetParam().options;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  snapshot const input = read_snapshot(file.string());
  bool is_exact = true;
  for (std::int32_t const device : devices_in(input)) is_exact &= check_device(input, device);
  EXPECT_EQ(is_exact, GetParam().is_exact);
}

constexpr maker_case cases[] = {
    {"whole", "--steps 3", true},
    {"streams", "--steps 3 --streams 3 --private-pool", true},
    {"pool_column", "--steps 3 --streams 2 --private-pool --layout 2.12", true},
    {"devices", "--steps 2 --devices 2", true},
    {"expandable", "--steps 3 --streams 2 --expandable", true},
    {"expandable_ring", "--steps 3 --expandable --max-entries 4000", true},
    {"ascend", "--steps 3 --ascend --layout 2.1", true},
    {"split", "--steps 4 --max-split-size-mb 64", true},
    {"ring_streams", "--steps 8 --streams 3 --private-pool --max-entries 3000", false},
    {"oom", "--steps 6 --capacity 3GiB --max-entries 5000", false},
    {"state_only", "--steps 3 --state-only", true},
};

INSTANTIATE_TEST_SUITE_P(options, maps_of_the_maker, ::testing::ValuesIn(cases),
                         [](auto const& one) { return std::string(one.param.name); });

fs::path corpus_folder() {
  char const* const named = std::getenv("MEMREPLAY_CORPUS");
  return fs::path(named != nullptr ? named : MEMREPLAY_CORPUS_FOLDER) / "real";
}

TEST(maps_of_real_files, hold) {
  if (!fs::exists(corpus_folder())) GTEST_SKIP() << "no corpus at " << corpus_folder();
  for (fs::directory_entry const& entry : fs::directory_iterator(corpus_folder())) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    snapshot const input = read_snapshot(entry.path().string());
    for (std::int32_t const device : devices_in(input)) check_device(input, device);
  }
}

}  // namespace
}  // namespace memreplay
