// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A pickle read by rows, in parts, on any number of threads gives the same snapshot, to the last
// id, as one read opcode by opcode.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memreplay/error.hpp>

#include "pickle/machine.hpp"
#include "snapshot/row_sink.hpp"
#include "snapshot/sanity.hpp"
#include "support/pickle_writer.hpp"
#include "support/snapshot_text.hpp"

namespace memreplay::reading {
namespace {

using namespace memreplay::testing;
using pickle::value;

/// Passes everything on but lets nothing be read as rows, and no list be told once only.
class opcode_sink final : public pickle::sink {
 public:
  explicit opcode_sink(row_sink& rows) : rows_(rows) {}
  std::uint64_t text(std::string_view content) override { return rows_.text(content); }
  std::uint64_t dict_items(std::uint64_t current, std::span<value const> items,
                           bool is_cut) override {
    return rows_.dict_items(current, items, is_cut);
  }
  std::uint64_t list_items(std::uint64_t current, std::span<value const> items) override {
    return rows_.list_items(current, items);
  }
  std::uint64_t tuple_items(std::span<value const> items) override {
    return rows_.tuple_items(items);
  }

 private:
  row_sink& rows_;
};

struct way {
  int threads = 1;
  std::size_t part_bytes = std::size_t{1} << 20;
  bool by_opcodes = false;
};

template <class ColumnT>
void write_column(std::string& out, char const* name, ColumnT const& cells) {
  std::size_t row = 0;
  for (auto const cell : cells)
    out += fmt::format("{} {} {}\n", name, row++, static_cast<std::uint64_t>(cell));
}

/// The event columns and tables with all their ids, then the rest as text.
std::string everything(snapshot const& input) {
  std::string out;
  event_columns const& events = input.events;
  write_column(out, "what", events.what);
  write_column(out, "address", events.address);
  write_column(out, "size", events.size);
  write_column(out, "stream", events.stream);
  write_column(out, "stack", events.stack);
  write_column(out, "time_us", events.time_us);
  write_column(out, "pool", events.pool);
  write_column(out, "user_metadata", events.user_metadata);
  write_column(out, "compile_context", events.compile_context);
  for (frame const& each : input.frames)
    out += fmt::format("{} {} {}\n", to_row(each.function), to_row(each.file), each.line);
  for (std::uint32_t row = 0; row < input.strings.size(); ++row)
    out += fmt::format("{}\n", input.strings[string_id{row}]);
  for (std::uint32_t row = 0; row < input.stacks.size(); ++row) {
    for (frame_id const id : input.stacks[stack_id{row}]) out += fmt::format("{},", to_row(id));
    out += "\n";
  }
  return out + snapshot_text(input);
}

std::string outcome(std::string const& bytes, way const& how, bool salvage = false) {
  snapshot result;
  try {
    base::memory_source source(as_input(bytes));
    pickle::part_feed feed(source, {.threads = how.threads, .part_bytes = how.part_bytes});
    row_sink rows(result);
    opcode_sink opcodes(rows);
    pickle::machine machine(feed, how.by_opcodes ? static_cast<pickle::sink&>(opcodes) : rows,
                            {.salvage = salvage});
    rows.finish(machine.run());
    check_sanity(result, rows.odd());
    return everything(result) + fmt::format("cut {}", machine.cut_at().value_or(0));
  } catch (error const& problem) {
    return fmt::format("{} at {}, {}", problem.what(), problem.byte_offset().value_or(0),
                       problem.hint());
  }
}

/// From the first line that differs on.
std::string difference(std::string const& found, std::string const& expected) {
  auto const at = std::ranges::mismatch(found, expected).in1 - found.begin();
  std::size_t const line = found.rfind('\n', static_cast<std::size_t>(at)) + 1;
  return fmt::format("{}\ninstead of\n{}", found.substr(line, 100), expected.substr(line, 100));
}

void expect_the_same_every_way(std::string const& bytes, bool salvage = false) {
  std::string const expected = outcome(bytes, {.by_opcodes = true}, salvage);
  for (int const threads : {1, 2, 3, 7}) {
    for (std::size_t const part_bytes : {std::size_t{1} << 20, std::size_t{4096}, std::size_t{997},
                                         std::size_t{200}, std::size_t{31}}) {
      std::string const found = outcome(bytes, {threads, part_bytes}, salvage);
      ASSERT_TRUE(found == expected)
          << threads << " threads, parts of " << part_bytes << " bytes, " << bytes.size()
          << " bytes in all: " << difference(found, expected);
    }
  }
}

using random_engine = std::mt19937_64;

std::size_t below(random_engine& dice, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(dice);
}

/// Events as PyTorch writes them, and with everything that may be odd about them.
struct random_trace {
  random_engine& dice;
  bool is_odd;
  std::vector<object_ptr> frames{};
  std::vector<object_ptr> stacks{};
  std::vector<object_ptr> actions{};
  object_ptr no_metadata = text("");
  std::string metadata{};

  object_ptr stack() {
    if (!stacks.empty() && below(dice, 3) == 0) return stacks[below(dice, stacks.size())];
    std::vector<object_ptr> items;
    std::size_t const depth = below(dice, 8) == 0 ? below(dice, 3) : 1 + below(dice, 30);
    for (std::size_t at = 0; at < depth; ++at) {
      if (frames.empty() || below(dice, 200) == 0) {
        frames.push_back(frame_object(fmt::format("f{}", frames.size() % 300),
                                      fmt::format("file{}.py", frames.size() % 17),
                                      static_cast<std::int64_t>(frames.size())));
      }
      items.push_back(frames[below(dice, frames.size())]);
    }
    if (is_odd && below(dice, 60) == 0) items.push_back(integer(7));
    stacks.push_back(list(items));
    return stacks.back();
  }

  object_ptr size() {
    static constexpr std::int64_t sizes[] = {0,     1,          255,        256,
                                             65535, 65536,      2147483647, 2147483648,
                                             512,   4294967296, 1 << 20,    99999999999};
    if (is_odd && below(dice, 50) == 0) return none();
    if (is_odd && below(dice, 50) == 0) return integer(-5);
    if (is_odd && below(dice, 50) == 0) return unsigned_integer(~std::uint64_t{0});
    if (is_odd && below(dice, 50) == 0) return real(512);
    return integer(sizes[below(dice, std::size(sizes))]);
  }

  object_ptr event(std::size_t row) {
    if (actions.empty()) {
      for (char const* name : {"alloc", "free_requested", "free_completed", "segment_alloc"})
        actions.push_back(text(name));
    }
    if (below(dice, 40) == 0) metadata = fmt::format("step {}", row / 50);
    object_pairs pairs{
        {"action", is_odd && below(dice, 50) == 0 ? text("strange") : actions[below(dice, 4)]},
        {"addr", integer(static_cast<std::int64_t>(0x7f0000000000 + row * 512))},
        {"size", size()},
        {"stream", integer(below(dice, 9) == 0 ? 0x55550000 : 0)}};
    if (!is_odd || below(dice, 90) != 0)
      pairs.emplace_back("time_us",
                         integer(1'700'000'000'000'000 + static_cast<std::int64_t>(row)));
    pairs.emplace_back("compile_context", below(dice, 30) == 0 ? text("region 1") : text("N/A"));
    pairs.emplace_back("user_metadata", metadata.empty() ? no_metadata : text(metadata));
    if (is_odd && below(dice, 70) == 0) pairs.emplace_back("extra", boolean(true));
    if (below(dice, 2) == 0 || row % 1000 < 500)
      pairs.emplace_back("pool_id", tuple({integer(0), integer(row % 1000 < 500 ? 0 : 3)}));
    if (below(dice, 10) != 0) pairs.emplace_back("frames", stack());
    if (is_odd && below(dice, 100) == 0)
      return dict({{"action", text("oom")}, {"device_free", integer(5)}, {"size", integer(77)}});
    return dict(pairs);
  }
};

object_ptr random_document(random_engine& dice, bool is_odd, std::size_t rows) {
  random_trace trace{dice, is_odd};
  std::vector<object_ptr> traces;
  for (std::size_t device = 0; device < 2; ++device) {
    std::vector<object_ptr> events;
    for (std::size_t row = 0; row < rows; ++row) {
      events.push_back(is_odd && !events.empty() && below(dice, 150) == 0
                           ? events[below(dice, events.size())]
                           : trace.event(row));
    }
    traces.push_back(list(events));
  }
  // Enough texts in front that later slots need long gets.
  std::vector<object_ptr> padding;
  for (std::size_t row = 0; row < below(dice, 2) * 400; ++row)
    padding.push_back(text(fmt::format("padding {}", row)));
  object_ptr const block =
      block_object(0x7f0000000000, 512, "active_allocated", {{"frames", trace.stack()}});
  return dict({{"padding", list(padding)},
               {"segments", list({segment_object(0x7f0000000000, {block})})},
               {"device_traces", list(traces)}});
}

TEST(split, every_protocol_part_size_and_thread_count) {
  random_engine dice(1);
  for (bool const is_odd : {false, true}) {
    for (int times = 0; times < 3; ++times) {
      object_ptr const document = random_document(dice, is_odd, times == 0 ? 1500 : 150);
      for (int const protocol : {0, 1, 2, 3, 4, 5})
        expect_the_same_every_way(write_python_pickle(document, protocol));
      expect_the_same_every_way(write_cpp_pickle(document));
    }
  }
}

TEST(split, truncated_files) {
  random_engine dice(2);
  std::string const whole = write_python_pickle(random_document(dice, true, 60), 4);
  for (int times = 0; times < 20; ++times) {
    std::string const cut = whole.substr(0, below(dice, whole.size()));
    expect_the_same_every_way(cut);
    expect_the_same_every_way(cut, true);
  }
}

TEST(split, damaged_files) {
  random_engine dice(3);
  for (int const protocol : {2, 4}) {
    std::string const whole = write_python_pickle(random_document(dice, false, 100), protocol);
    for (int times = 0; times < 40; ++times) {
      std::string bytes = whole;
      for (std::size_t edits = 1 + below(dice, 3); edits-- > 0;) {
        std::size_t const at = below(dice, bytes.size());
        switch (below(dice, 3)) {
          case 0: bytes[at] = static_cast<char>(below(dice, 256)); break;
          case 1: bytes.erase(at, 1 + below(dice, 9)); break;
          default: bytes.insert(at, bytes.substr(below(dice, bytes.size()), below(dice, 40)));
        }
      }
      expect_the_same_every_way(bytes, times % 2 == 1);
    }
  }
}

/// Slots that change their value under lists that were seen before.
TEST(split, overwritten_slots) {
  pickle_writer pickle;
  pickle.proto(2).empty_dict().mark().short_binunicode("device_traces").empty_list().empty_list();
  pickle.mark();
  pickle.short_binunicode("action").binput(0).pop().short_binunicode("frames").binput(1).pop();
  pickle.short_binunicode("alloc").binput(2).pop();
  for (int times = 0; times < 40; ++times) {
    pickle.empty_dict().mark().short_binunicode("filename").short_binunicode("a.py");
    pickle.short_binunicode("line").binint1(times % 7).setitems().binput(3).pop();
    for (int row = 0; row < 5; ++row) {
      pickle.empty_dict().mark().binget(0).binget(2).binget(1);
      pickle.empty_list().mark().binget(3).binget(3).appends().setitems();
    }
  }
  pickle.appends().append().setitems().stop();
  expect_the_same_every_way(pickle.text());
}

/// Keys that change their meaning after a form was learnt with them.
TEST(split, overwritten_keys) {
  pickle_writer pickle;
  pickle.proto(2).empty_dict().mark().short_binunicode("device_traces").empty_list().empty_list();
  pickle.mark();
  pickle.short_binunicode("action").binput(0).pop().short_binunicode("alloc").binput(1).pop();
  for (int times = 0; times < 12; ++times) {
    static constexpr char const* names[] = {"addr", "size", "stream", "time_us"};
    pickle.short_binunicode(names[times % 4]).binput(2).pop();
    for (int row = 0; row < 5; ++row)
      pickle.empty_dict().mark().binget(0).binget(1).binget(2).binint(times * 10 + row).setitems();
  }
  pickle.appends().append().setitems().stop();
  expect_the_same_every_way(pickle.text());
}

/// Bytes that look like an event, inside a text.
TEST(split, an_event_within_a_text) {
  random_engine dice(4);
  object_ptr const document = random_document(dice, false, 50);
  std::string const plain = write_python_pickle(document, 4);
  std::size_t const event = plain.rfind("}\x94(");
  ASSERT_NE(event, std::string::npos);
  std::string lure;
  for (int times = 0; times < 30; ++times) lure += plain.substr(event, 200);
  std::vector<object_ptr> traces(document->pairs.back().second->items);
  traces.push_back(list({dict({{"action", text("alloc")}, {"user_metadata", text(lure)}})}));
  expect_the_same_every_way(write_python_pickle(snapshot_object({}, traces), 4));
}

}  // namespace
}  // namespace memreplay::reading
