// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Whole files: every encoding says the same, every layout is read, what is cut is salvaged.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "snapshot/read_object.hpp"
#include "support/temporary_folder.hpp"
#include "support/wrapped_bytes.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;
namespace fs = std::filesystem;

struct encoded {
  std::string name;
  std::string bytes;
};

std::vector<encoded> encodings_of(object_ptr const& document) {
  std::vector<encoded> all;
  for (int protocol = 0; protocol <= 5; ++protocol) {
    all.push_back(
        {"protocol " + std::to_string(protocol), write_python_pickle(document, protocol)});
  }
  all.push_back({"C++ pickler", write_cpp_pickle(document)});
  all.push_back({"JSON", write_json(document)});
  return all;
}

/// Events of all traces.
std::int64_t events_in(snapshot const& input) {
  std::int64_t count = 0;
  for (trace_range const trace : input.traces) count += trace.count;
  return count;
}

TEST(read_snapshot, every_encoding_says_the_same) {
  std::string const expected = snapshot_text(read_bytes(write_python_pickle(small_snapshot(), 4)));
  EXPECT_NE(expected.find("device 1"), std::string::npos);
  for (encoded const& each : encodings_of(small_snapshot()))
    EXPECT_EQ(snapshot_text(read_bytes(each.bytes)), expected) << each.name;
}

TEST(read_snapshot, what_the_file_is) {
  std::string const pickle = write_python_pickle(small_snapshot(), 4);
  snapshot const plain = read_bytes(pickle);
  EXPECT_EQ(plain.container, "pickle");
  EXPECT_EQ(plain.pickle_protocol, 4);
  EXPECT_EQ(plain.file_bytes, pickle.size());
  EXPECT_EQ(plain.snapshot_bytes, pickle.size());
  EXPECT_FALSE(plain.is_salvaged);
  std::string const wrapped = compressed(pickle, "gzip");
  snapshot const unzipped = read_bytes(wrapped);
  EXPECT_EQ(unzipped.container, "pickle in gzip");
  EXPECT_EQ(unzipped.file_bytes, wrapped.size());
  EXPECT_EQ(unzipped.snapshot_bytes, pickle.size());
  EXPECT_EQ(snapshot_text(unzipped), snapshot_text(plain));
  snapshot const json = read_bytes(write_json(small_snapshot()));
  EXPECT_EQ(json.container, "json");
  EXPECT_EQ(json.pickle_protocol, -1);
  EXPECT_EQ(read_bytes(write_python_pickle(small_snapshot(), 0)).pickle_protocol, -1);
}

TEST(read_snapshot, pages_with_further_snapshots) {
  std::string const pickle = write_python_pickle(small_snapshot(), 4);
  snapshot const input = read_bytes(page_of({pickle + std::string(2, '\0'), pickle}));
  EXPECT_EQ(input.container, "pickle in html");
  EXPECT_EQ(defect(input, "other_snapshots_in_page"), 1);
}

TEST(read_snapshot, files) {
  fs::path const path =
      fs::temp_directory_path() / ("memreplay_read_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << write_python_pickle(small_snapshot(), 4);
  std::uint64_t last_done = 0;
  std::uint64_t last_all = 0;
  snapshot const input = read_snapshot(
      path.string(), {.salvage = false, .on_progress = [&](std::uint64_t done, std::uint64_t all) {
                        last_done = done;
                        last_all = all;
                      }});
  fs::remove(path);
  EXPECT_EQ(events_in(input), 10);
  EXPECT_EQ(last_done, input.snapshot_bytes);
  EXPECT_EQ(last_all, input.snapshot_bytes);
  EXPECT_THROW((void)read_snapshot(path.string()), error);
}

TEST(read_snapshot, damaged_wrappers_are_named_before_what_they_let_through) {
  std::string const padded = write_json(small_snapshot()) + std::string(1 << 20, ' ') + "rubbish";
  std::string bytes = compressed(padded, "gzip");
  EXPECT_NE(std::string(failure_of_bytes(bytes).what()).find("damaged JSON"), std::string::npos);
  bytes.resize(bytes.size() - 4);
  EXPECT_NE(std::string(failure_of_bytes(bytes).what()).find("the compressed file is damaged"),
            std::string::npos);
}

TEST(read_snapshot, ascend) {
  // Ascend: no times, no contexts, an action of its own, rows out of order at the front.
  snapshot const input = read(snapshot_object(
      {},
      {list({event_object("workspace_snapshot", 0, 512),
             with(event_object("alloc", 4096, 544), {{"stream", integer(187'651)}}),
             with(event_object("free_requested", 4096, 544), {{"stream", integer(187'651)}})})}));
  EXPECT_EQ(events_in(input), 3);
  EXPECT_EQ(input.events.what[0], action::other);
  EXPECT_TRUE(input.events.time_us.empty());
  EXPECT_EQ(defect(input, "unknown_actions"), 1);
}

// ---- cut files

TEST(read_snapshot, salvage_keeps_the_events_before_the_cut) {
  std::vector<object_ptr> events;
  for (int row = 0; row < 300; ++row) {
    events.push_back(event_object("alloc", 4096 * row, 512,
                                  {{"time_us", integer(1'700'000'000'000'000 + row)},
                                   {"frames", list({frame_object("f", "a.py", row % 7)})}}));
  }
  object_ptr const one_device = snapshot_object({segment_object(0, {})}, {list(events)});
  object_ptr const two_devices =
      snapshot_object({}, {list({event_object("alloc", 1, 1)}), list(events)});
  for (object_ptr const& document : {one_device, two_devices}) {
    std::int64_t const others = document == two_devices ? 1 : 0;
    for (encoded const& each : encodings_of(document)) {
      std::int64_t last = 0;
      std::size_t const size = each.bytes.size();
      // Every byte of the last event, and samples before.
      for (std::size_t length = size / 2; length < size; length += length < size - 150 ? 97 : 1) {
        std::string const cut = each.bytes.substr(0, length);
        snapshot const input = read_bytes(cut, true);
        EXPECT_TRUE(input.is_salvaged);
        EXPECT_EQ(defect(input, "file_cut"), 1);
        EXPECT_EQ(defect(input, "foreign_items"), 0) << each.name << " at " << length;
        std::int64_t const found = events_in(input);
        EXPECT_GE(found, last) << each.name << " at " << length;
        ASSERT_EQ(static_cast<std::int64_t>(input.traces.size()), others + 1);
        for (std::int64_t row = 0; row < input.traces.back().count; ++row) {
          auto const at = static_cast<std::size_t>(input.traces.back().first + row);
          ASSERT_EQ(input.events.address[at], static_cast<std::uint64_t>(4096 * row));
          ASSERT_EQ(input.events.size[at], 512U);
        }
        last = found;
      }
      EXPECT_GE(last, others + 299) << each.name;
      EXPECT_GT(last, 0);
    }
  }
}

TEST(read_snapshot, salvage_at_every_byte) {
  for (encoded const& each : encodings_of(small_snapshot())) {
    snapshot const whole = read_bytes(each.bytes, true);
    EXPECT_FALSE(whole.is_salvaged);
    for (std::size_t length = 0; length < each.bytes.size(); ++length) {
      std::vector<char> const cut(each.bytes.begin(),
                                  each.bytes.begin() + static_cast<std::ptrdiff_t>(length));
      std::string_view const bytes(cut.data(), cut.size());
      EXPECT_THROW((void)read_snapshot(as_input(bytes)), error) << each.name << " at " << length;
      try {
        snapshot const input = read_snapshot(as_input(bytes), {.salvage = true});
        EXPECT_LE(events_in(input), events_in(whole));
        EXPECT_LE(input.segments.size(), whole.segments.size());
        EXPECT_TRUE(input.is_salvaged);
      } catch (error const& problem) {
        EXPECT_TRUE(problem.code() == error_code::damaged ||
                    problem.code() == error_code::not_a_snapshot);
      }
    }
  }
}

TEST(read_snapshot, salvage_of_a_bare_list) {
  std::string const bytes =
      write_python_pickle(list({segment_object(0, {block_object(0, 512, "inactive")}),
                                segment_object(4096, {block_object(4096, 512, "inactive")})}),
                          4);
  EXPECT_EQ(read_bytes(bytes.substr(0, bytes.size() - 12), true).segments.size(), 1U);
  EXPECT_EQ(read_bytes(bytes.substr(0, bytes.size() - 1), true).segments.size(), 2U);
}

TEST(read_snapshot, salvage_of_compressed_files) {
  std::vector<object_ptr> events;
  for (int row = 0; row < 20'000; ++row)
    events.push_back(event_object("alloc", 4096 * row, (row * 7919) % 100'000));
  std::string const pickle = write_python_pickle(snapshot_object({}, {list(events)}), 4);
  for (std::string const& whole :
       {compressed(pickle, "gzip"), zip_of({{"a.pickle", pickle}}), page_of({pickle})}) {
    std::string const cut = whole.substr(0, whole.size() * 4 / 5);
    EXPECT_EQ(failure_of_bytes(cut).code(), error_code::damaged);
    snapshot const input = read_bytes(cut, true);
    EXPECT_TRUE(input.is_salvaged);
    EXPECT_GT(events_in(input), 5000);
    EXPECT_LT(events_in(input), 20'000);
  }
}

// ---- the generator

class generated : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
    maker_ = fs::path(MEMREPLAY_SOURCE_DIR) / "tools" / "make_snapshot.py";
    if (!fs::exists(maker_)) GTEST_SKIP() << "no " << maker_;
  }

  std::string make(std::string const& options) {
    fs::path const out = directory_ / "made.pickle";
    std::string const command = "python3 '" + maker_.string() + "' -o '" + out.string() +
                                "' --events 120 --layers 2 --stacks 12 --depth 6 --devices 2 " +
                                options + " >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(out, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }

  fs::path maker_;
  testing::temporary_folder folder_;
  fs::path const& directory_ = folder_.path();
};

TEST_F(generated, every_layout_protocol_and_writer) {
  for (char const* layout : {"2.0", "2.1", "2.2", "2.4", "2.5", "2.8", "2.10", "2.12"}) {
    std::string const options = "--layout " + std::string(layout) + " ";
    std::string expected;
    for (int protocol = 0; protocol <= 5; ++protocol) {
      snapshot const input = read_bytes(make(options + "--protocol " + std::to_string(protocol)));
      EXPECT_EQ(input.pickle_protocol, protocol < 2 ? -1 : protocol);
      EXPECT_EQ(events_in(input), 240) << layout;
      EXPECT_GT(input.stacks.size(), 3U);
      EXPECT_EQ(defect(input, "unknown_keys"), 0) << layout;
      EXPECT_EQ(defect(input, "malformed_values"), 0) << layout;
      EXPECT_EQ(defect(input, "segment_sum_mismatch"), 0) << layout;
      EXPECT_EQ(defect(input, "overlapping_blocks"), 0) << layout;
      std::string const said = snapshot_text(input);
      if (expected.empty()) expected = said;
      EXPECT_EQ(said, expected) << "layout " << layout << ", protocol " << protocol;
    }
    // The C++ writer of 2.0 knew no frames.
    if (layout == std::string("2.0")) continue;
    EXPECT_EQ(snapshot_text(read_bytes(make(options + "--writer cpp"))), expected) << layout;
  }
}

TEST_F(generated, other_kinds_of_files) {
  for (char const* options : {"--state-only", "--list-only", "--ascend", "--expandable",
                              "--private-pool", "--context none", "--context alloc", "--streams 3",
                              "--capacity 2GiB", "--max-entries 50"}) {
    std::string const bytes = make(options);
    snapshot const input = read_bytes(bytes);
    EXPECT_FALSE(input.segments.empty()) << options;
    EXPECT_EQ(defect(input, "malformed_values"), 0) << options;
    EXPECT_EQ(defect(input, "foreign_items"), 0) << options;
    EXPECT_EQ(defect(input, "unknown_keys"), 0) << options;
  }
}

}  // namespace
}  // namespace memreplay::reading
