// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Growth planted by hand: what grows is found, what only seems to grow is not.
#include <memreplay/make_report.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/replayed.hpp"
#include "support/snapshot_builder.hpp"

namespace memreplay {
namespace {

using ::testing::ElementsAre;
using testing::frame_text;
using ::testing::HasSubstr;
using testing::host_plan;
using ::testing::IsEmpty;
using testing::refusal;
using testing::snapshot_builder;
using kind = span_request::kind;

constexpr frame_text leak_line{"append", "/home/ada/metrics.py", 9};
constexpr frame_text work_line{"forward", "/code/proj/model.py", 42};
constexpr frame_text table_line{"grow", "/code/proj/table.py", 3};
constexpr frame_text window_line{"push", "/code/proj/window.py", 5};
constexpr frame_text graph_line{"capture", "/code/proj/graph.py", 7};
constexpr std::int64_t origin = 1'000'000;

/// A loop; each step begins where the last one ended.
class looping_program {
 public:
  std::uint64_t keep(frame_text const& where, std::uint64_t bytes) {
    next_ += 0x10000;
    builder.alloc(next_, bytes, builder.stack({where}));
    ++now_;
    return next_;
  }
  void drop(std::uint64_t address) {
    builder.free(address);
    now_ += 2;
  }
  template <class WorkT>
  void step(WorkT work) {
    std::int64_t const start = now_;
    drop(keep(work_line, 4096));
    work(steps_);
    builder.annotation_start("ProfilerStep#" + std::to_string(steps_), start);
    builder.annotation_end("ProfilerStep#" + std::to_string(steps_), now_);
    ++steps_;
  }
  looping_program() { builder.at_time(origin); }

  snapshot_builder builder;

 private:
  std::uint64_t next_ = 0;
  std::int64_t now_ = origin;
  int steps_ = 0;
};

leaks_report ask(snapshot const& input, span_request const& asked = {}, std::int64_t top = 0,
                 replay_plan const& plan = host_plan(), bool redact = false) {
  report_options options;
  options.top_contributors = top;
  options.site.redact = redact;
  replay_result const replayed = testing::replay_by(
      input, {0}, [&](std::int32_t device) { return plan_leaks(input, device, asked, plan); });
  return make_leaks(input, replayed, plan, asked, options, "run.pickle");
}

device_leaks leaks(snapshot const& input, span_request const& asked = {}, std::int64_t top = 0) {
  return ask(input, asked, top).devices.at(0);
}

/// A loop that keeps `kept[step]` bytes more in each step; negative: drops its oldest block.
device_leaks leaks_of(std::vector<int> const& kept) {
  looping_program program;
  std::vector<std::uint64_t> open;
  for (int const bytes : kept) {
    program.step([&](int) {
      if (bytes > 0) open.push_back(program.keep(leak_line, static_cast<std::uint64_t>(bytes)));
      if (bytes >= 0) return;
      for (std::uint64_t const address : open) program.drop(address);
      open.clear();
    });
  }
  return leaks(program.builder.build());
}

TEST(leaks, planted_growth_is_found) {
  looping_program program;
  for (int step = 0; step < 6; ++step)
    program.step([&](int) { static_cast<void>(program.keep(leak_line, 1024)); });
  device_leaks const made = leaks(program.builder.build());
  EXPECT_EQ(made.cut.by, kind::steps);
  EXPECT_EQ(made.steps, 6);
  EXPECT_THAT(made.live_bytes, ElementsAre(1024, 2048, 3072, 4096, 5120, 6144));
  EXPECT_DOUBLE_EQ(made.slope_bytes, 1024.0);
  ASSERT_EQ(made.leaks.size(), 1U);
  leak_row const& row = made.leaks.front();
  EXPECT_EQ(row.site, "append@metrics.py:9");
  EXPECT_DOUBLE_EQ(row.slope_bytes, 1024.0);
  EXPECT_EQ(row.growing_steps, 5);
  EXPECT_EQ(row.first_bytes, 1024);
  EXPECT_EQ(row.last_bytes, 6144);
  EXPECT_EQ(row.growth_bytes, 5120);
  EXPECT_EQ(row.first_tensors, 1);
  EXPECT_EQ(row.last_tensors, 6);
  EXPECT_THAT(row.bytes, ElementsAre(1024, 2048, 3072, 4096, 5120, 6144));
  EXPECT_EQ(made.never_freed_bytes, 6144);
  EXPECT_EQ(made.never_freed_tensors, 6);
  ASSERT_EQ(made.findings.size(), 1U);
  EXPECT_EQ(made.findings[0].kind, "leak");
  EXPECT_EQ(made.findings[0].bytes, 5120);
  EXPECT_THAT(made.findings[0].text, HasSubstr("grows by 1.00 KiB a step"));
}

TEST(leaks, a_steady_loop_has_none) {
  device_leaks const made = leaks_of({0, 0, 0, 0, 0, 0});
  EXPECT_THAT(made.leaks, IsEmpty());
  ASSERT_EQ(made.findings.size(), 1U);
  EXPECT_EQ(made.findings[0].kind, "no_leak");
  EXPECT_THAT(made.findings[0].text, HasSubstr("6 profiler steps"));
}

TEST(leaks, what_grows_in_two_steps_of_three_does) {
  EXPECT_EQ(leaks_of({512, 512, 0, 512, 512, 0, 512}).leaks.size(), 1U);
  EXPECT_THAT(leaks_of({512, 0, 0, 512, 0, 0, 512}).leaks, IsEmpty());
}

TEST(leaks, parts_that_nobody_marked_may_be_shorter_than_a_step) {
  snapshot_builder builder;
  stack_id const where = builder.stack({table_line});
  for (std::uint64_t row = 0; row < 10; ++row) {
    builder.at_time(origin + static_cast<std::int64_t>(row) * 100)
        .alloc(0x100'0000, 4096)
        .free(0x100'0000);
    if (row % 2 == 1) builder.alloc(0x1000 * (row + 1), 512, where);
  }
  device_leaks const made = leaks(builder.build(), {kind::time, {}});
  ASSERT_EQ(made.leaks.size(), 1U);
  EXPECT_EQ(made.leaks[0].growing_steps, 5);
}

TEST(leaks, a_plateau_has_stopped_growing) {
  EXPECT_THAT(leaks_of({512, 512, 512, 512, 512, 512, 512, 0, 0, 0, 0}).leaks, IsEmpty());
  EXPECT_THAT(leaks_of({512, 512, 512, 0, 0, 0, 0, 0, 0}).leaks, IsEmpty());
}

TEST(leaks, a_window_that_is_emptied_is_none) {
  EXPECT_THAT(leaks_of({512, 512, 512, 512, -1, 512, 512, 512, 512, -1, 512, 512}).leaks,
              IsEmpty());
  EXPECT_THAT(leaks_of({512, 512, 512, 512, -1, 512, 512, 512, 512}).leaks, IsEmpty());
  // Cleared once, early on, and growing ever since: two windows are not enough to tell.
  EXPECT_THAT(leaks_of({0, 512, 512, -1, 512, 512, 512, 512}).leaks, IsEmpty());
  EXPECT_THAT(leaks_of({0, 512, -1, 512, 512, 512, 512, 512}).leaks, IsEmpty());
}

TEST(leaks, a_dip_on_the_way_up_does_not_hide_growth) {
  looping_program program;
  std::uint64_t spare = 0;
  for (int step = 0; step < 9; ++step) {
    program.step([&](int) {
      static_cast<void>(program.keep(leak_line, 1024));
      if (step == 0) spare = program.keep(leak_line, 1536);
      if (step == 1) program.drop(spare);
    });
  }
  device_leaks const made = leaks(program.builder.build());
  ASSERT_EQ(made.leaks.size(), 1U);
  EXPECT_EQ(made.leaks[0].bytes[1], 2048);
}

TEST(leaks, the_steepest_is_first_and_the_rest_is_counted) {
  looping_program program;
  for (int step = 0; step < 4; ++step) {
    program.step([&](int) {
      static_cast<void>(program.keep(table_line, 512));
      static_cast<void>(program.keep(leak_line, 1024));
      static_cast<void>(program.keep(window_line, 2048));
    });
  }
  snapshot const input = program.builder.build();
  device_leaks const all = leaks(input);
  ASSERT_EQ(all.leaks.size(), 3U);
  EXPECT_EQ(all.leaks[0].site, "push@window.py:5");
  EXPECT_EQ(all.leaks[2].site, "grow@table.py:3");
  device_leaks const some = leaks(input, {}, 1);
  EXPECT_EQ(some.leaks.size(), 1U);
  EXPECT_EQ(some.leaks_rest, 2);
  EXPECT_EQ(some.never_freed.size(), 1U);
  EXPECT_EQ(some.never_freed[0].bytes + some.never_freed_rest.bytes, 4 * 3584);
  EXPECT_EQ(some.never_freed_bytes, 4 * 3584);
}

TEST(leaks, private_pools_are_apart) {
  looping_program program;
  std::vector<std::uint64_t> captured;
  std::vector<std::uint64_t> kept;
  for (int step = 0; step < 4; ++step) {
    program.step([&](int) {
      captured.push_back(program.keep(graph_line, 0x1000));
      kept.push_back(program.keep(leak_line, 0x1000));
    });
  }
  stack_id const graph = program.builder.stack({graph_line});
  stack_id const leak = program.builder.stack({leak_line});
  for (std::uint64_t const address : captured) {
    program.builder.segment(address, 0x1000, {0, 1})
        .block(address, 0x1000, block_state::active_allocated, graph);
  }
  for (std::uint64_t const address : kept) {
    program.builder.segment(address, 0x1000)
        .block(address, 0x1000, block_state::active_allocated, leak);
  }
  device_leaks const made = leaks(program.builder.build());
  ASSERT_EQ(made.leaks.size(), 1U);
  EXPECT_EQ(made.leaks[0].site, "append@metrics.py:9");
  ASSERT_EQ(made.in_private_pools.size(), 1U);
  EXPECT_EQ(made.in_private_pools[0].site, "capture@graph.py:7");
}

TEST(leaks, steps_that_are_cut_off_do_not_count) {
  looping_program program;
  for (int step = 0; step < 4; ++step)
    program.step([&](int) { static_cast<void>(program.keep(leak_line, 1024)); });
  program.builder.annotation_start("ProfilerStep#4", origin + 16);
  static_cast<void>(program.keep(leak_line, 1 << 20));
  device_leaks const made = leaks(program.builder.build());
  EXPECT_EQ(made.steps, 4);
  EXPECT_EQ(made.leaks.at(0).last_bytes, 4096);
  EXPECT_EQ(made.never_freed_bytes, 4096 + (1 << 20));
}

TEST(leaks, ranges_that_end_together_have_the_same_point) {
  snapshot_builder builder;
  builder.at_time(origin);
  stack_id const where = builder.stack({table_line});
  for (std::uint64_t row = 1; row <= 8; ++row) builder.alloc(row * 0x1000, 512, where);
  builder.annotation_start("f", origin).annotation_end("f", origin + 2);
  builder.annotation_start("f", origin + 2).annotation_start("f", origin + 3);
  builder.annotation_end("f", origin + 6).annotation_end("f", origin + 6);
  device_leaks const made = leaks(builder.build(), {kind::annotation, "f"});
  EXPECT_THAT(made.live_bytes, ElementsAre(1024, 3072, 3072));
  EXPECT_THAT(made.leaks, IsEmpty()) << "it grows in one step of two";
}

TEST(leaks, two_steps_say_nothing) {
  looping_program program;
  for (int step = 0; step < 2; ++step) program.step([](int) {});
  snapshot const input = program.builder.build();
  EXPECT_THAT(refusal([&] {
                static_cast<void>(leaks(input, {kind::steps, {}}));
              }),
              HasSubstr("at least 3 whole steps, and the trace of device 0 has 2"));
}

TEST(leaks, homes_are_hidden_when_asked) {
  looping_program program;
  for (int step = 0; step < 4; ++step)
    program.step([&](int) { static_cast<void>(program.keep(leak_line, 1024)); });
  leaks_report const made = ask(program.builder.build(), {}, 0, host_plan(), true);
  leak_row const& row = made.devices.at(0).leaks.at(0);
  EXPECT_EQ((row.site + row.label + row.chain + row.link).find("ada"), std::string::npos);
}

}  // namespace
}  // namespace memreplay
