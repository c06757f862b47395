// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Holds the found block sizes to the known answers of the snapshot maker, over many settings.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <memreplay/read_snapshot.hpp>
#include <nlohmann/json.hpp>

#include "replay/block_sizes.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

// A file of the maker: how it was made, what its trace allows.
struct maker_case {
  char const* name;
  char const* options;
  bool has_exact_sizes;  // every size, not only those of blocks born in the trace
  bool has_exact_peak;
  friend void PrintTo(maker_case const& one, std::ostream* out) { *out << one.options; }
};

fs::path source_folder() {
#ifdef MEMREPLAY_SOURCE_DIR
  return MEMREPLAY_SOURCE_DIR;
#else
  return fs::absolute(__FILE__).parent_path().parent_path().parent_path();
#endif
}

class snapshots_of_the_maker : public testing::TestWithParam<maker_case> {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'") != 0) {
      GTEST_SKIP() << "no python3 to make snapshots with";
    }
    folder_ = fs::temp_directory_path() /
              ("memreplay_block_sizes_" + std::to_string(::getpid()) + GetParam().name);
    fs::create_directories(folder_);
    fs::path const maker = source_folder() / "tools" / "make_snapshot.py";
    std::string const command = "python3 -B '" + maker.string() + "' -o '" + file().string() +
                                "' --truth '" + truth_file().string() + "' " + GetParam().options;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream(truth_file()) >> truth_;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  fs::path file() const { return folder_ / "snapshot.pickle"; }
  fs::path truth_file() const { return folder_ / "truth.json"; }

  fs::path folder_;
  nlohmann::json truth_;
};

TEST_P(snapshots_of_the_maker, give_max_memory_allocated) {
  snapshot const input = read_snapshot(file().string());
  for (nlohmann::json const& device : truth_.at("devices")) {
    block_sizes const found = find_block_sizes(input, device.at("device").get<std::int32_t>());
    std::int64_t const peak = device.at("max_memory_allocated").get<std::int64_t>();
    EXPECT_LE(found.peak_allocated.low, peak);
    EXPECT_GE(found.peak_allocated.high, peak);
    EXPECT_EQ(found.peak_allocated.exact, GetParam().has_exact_peak) << found.peak_allocated.reason;
    EXPECT_EQ(found.exact, GetParam().has_exact_sizes) << found.reason;
    if (found.peak_allocated.exact) {
      EXPECT_EQ(found.peak_allocated.low, peak);
      EXPECT_EQ(found.peak_allocated.high, peak);
    }
    // Not tight enough to be of use would be a failure, too: 1 % of the peak.
    EXPECT_LE(found.peak_allocated.high - found.peak_allocated.low, peak / 100);
    for (audit_row const& row : found.defects) ADD_FAILURE() << row.kind << ": " << row.message;
    if (device.at("complete_history").get<bool>()) {
      EXPECT_EQ(found.reason, "allocator replayed from an empty start");
    }
  }
}

constexpr maker_case cases[] = {
    {"whole", "--steps 4", true, true},
    {"streams", "--steps 3 --streams 3 --private-pool", true, true},
    {"devices", "--steps 2 --devices 2", true, true},
    {"expandable", "--steps 3 --streams 2 --expandable", true, true},
    {"expandable_ring", "--steps 3 --expandable --max-entries 4000", true, true},
    {"ascend", "--steps 3 --ascend --layout 2.1", true, true},
    {"ascend_ring", "--steps 6 --ascend --layout 2.1 --max-entries 4000", false, false},
    {"split", "--steps 4 --max-split-size-mb 64", true, true},
    {"split_ring", "--steps 6 --max-split-size-mb 64 --max-entries 3000", false, true},
    {"power2_ring", "--steps 6 --roundup-power2-divisions 4 --max-entries 3000", false, true},
    {"ring", "--steps 8 --max-entries 10000", false, true},
    {"ring_streams", "--steps 8 --streams 3 --private-pool --max-entries 3000", false, true},
    {"late", "--steps 5 --record-from-step 2 --seed 5", false, true},
    {"oom", "--steps 6 --capacity 3GiB --max-entries 5000", false, true},
    {"no_requests", "--steps 5 --skip-actions free_requested --max-entries 4000", false, true},
    {"no_completions", "--steps 5 --skip-actions free_completed --max-entries 4000", false, true},
    {"state_only", "--steps 3 --state-only", true, true},
};

INSTANTIATE_TEST_SUITE_P(options, snapshots_of_the_maker, testing::ValuesIn(cases),
                         [](auto const& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace memreplay
