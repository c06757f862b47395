// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Feeds bytes to the reader, whole and salvaging: any input gives a sound snapshot or an `error`.
//
// With libFuzzer (-fsanitize=fuzzer -DMEMREPLAY_LIBFUZZER) this is its target. Without, it has a
// main of its own:
//   fuzz_snapshot FILE...                        replays the files
//   fuzz_snapshot --runs N [--seed S] [FILE...]  N random mutations of built-in snapshots and FILEs
// A failing input is kept as fuzz_failure.bin in the current directory.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <memreplay/error.hpp>
#include <memreplay/read_snapshot.hpp>

#include "support/pickle_writer.hpp"
#include "support/wrapped_bytes.hpp"

namespace {

using memreplay::error;
using memreplay::snapshot;

#define MEMREPLAY_REQUIRE(condition) \
  ((condition) ? static_cast<void>(0) : throw std::logic_error("broken promise: " #condition))

template <class ColumnT>
void check_optional(ColumnT const& cells, std::size_t rows) {
  MEMREPLAY_REQUIRE(cells.empty() || cells.size() == rows);
}

/// What every later step relies on: ids point into their tables, ranges lie in their columns.
void check_shape(snapshot const& input) {
  std::size_t const rows = input.events.size_rows();
  MEMREPLAY_REQUIRE(input.events.address.size() == rows && input.events.size.size() == rows);
  MEMREPLAY_REQUIRE(input.events.stream.size() == rows && input.events.stack.size() == rows);
  check_optional(input.events.time_us, rows);
  check_optional(input.events.pool, rows);
  check_optional(input.events.user_metadata, rows);
  check_optional(input.events.compile_context, rows);
  auto const is_stack = [&](memreplay::stack_id id) {
    return id == memreplay::no_stack || to_row(id) < input.stacks.size();
  };
  for (std::size_t row = 0; row < rows; ++row) {
    MEMREPLAY_REQUIRE(to_row(input.events.stream[row]) < input.streams.size());
    MEMREPLAY_REQUIRE(is_stack(input.events.stack[row]));
    MEMREPLAY_REQUIRE(input.events.pool.empty() ||
                      to_row(input.events.pool[row]) < input.pools.size());
    MEMREPLAY_REQUIRE(input.events.user_metadata.empty() ||
                      to_row(input.events.user_metadata[row]) < input.strings.size());
    MEMREPLAY_REQUIRE(input.events.compile_context.empty() ||
                      to_row(input.events.compile_context[row]) < input.strings.size());
  }
  for (memreplay::trace_range const trace : input.traces) {
    MEMREPLAY_REQUIRE(trace.first >= 0 && trace.count >= 0);
    MEMREPLAY_REQUIRE(static_cast<std::size_t>(trace.first + trace.count) <= rows);
  }
  for (memreplay::segment const& part : input.segments) {
    MEMREPLAY_REQUIRE(part.first_block >= 0 && part.block_count >= 0 && is_stack(part.stack));
    MEMREPLAY_REQUIRE(static_cast<std::size_t>(part.first_block + part.block_count) <=
                      input.blocks.size());
    MEMREPLAY_REQUIRE(to_row(part.stream) < input.streams.size() &&
                      to_row(part.pool) < input.pools.size());
  }
  for (memreplay::block const& part : input.blocks) MEMREPLAY_REQUIRE(is_stack(part.stack));
  for (memreplay::annotation const& mark : input.annotations)
    MEMREPLAY_REQUIRE(to_row(mark.name) < input.strings.size());
  for (std::uint32_t stack = 0; stack < input.stacks.size(); ++stack) {
    for (memreplay::frame_id const id : input.stacks[memreplay::stack_id{stack}])
      MEMREPLAY_REQUIRE(to_row(id) < input.frames.size());
  }
  for (memreplay::frame const& part : input.frames) {
    MEMREPLAY_REQUIRE(to_row(part.function) < input.strings.size());
    MEMREPLAY_REQUIRE(to_row(part.file) < input.strings.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  for (bool const salvage : {false, true}) {
    try {
      snapshot const input =
          memreplay::read_snapshot(std::as_bytes(std::span(data, size)), {.salvage = salvage});
      check_shape(input);
    } catch (error const& problem) {
      MEMREPLAY_REQUIRE(!std::string_view(problem.what()).empty());
      MEMREPLAY_REQUIRE(std::string_view(problem.what()).find("internal") ==
                        std::string_view::npos);
    }
  }
  return 0;
}

#ifndef MEMREPLAY_LIBFUZZER
namespace {

using memreplay::testing::pickle_writer;
using random_engine = std::mt19937_64;

std::size_t below(random_engine& dice, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(dice);
}

std::vector<std::string> built_in_seeds() {
  namespace mt = memreplay::testing;
  mt::object_ptr const small = mt::small_snapshot();
  std::vector<std::string> seeds;
  for (int protocol = 0; protocol <= 5; ++protocol)
    seeds.push_back(mt::write_python_pickle(small, protocol));
  seeds.push_back(mt::write_cpp_pickle(small));
  seeds.push_back(mt::write_json(small));
  seeds.push_back(mt::compressed(seeds[4], "gzip"));
  seeds.push_back(mt::zip_of({{"snapshot.pickle", seeds[2]}}));
  seeds.push_back(mt::page_of({seeds[4]}));
  return seeds;
}

/// Opcodes one after the other, mostly with sound arguments: what mutation seldom makes.
std::string random_program(random_engine& dice) {
  static constexpr std::string_view words[] = {
      "action",   "alloc",         "addr",       "size",   "frames",  "filename",  "line",
      "segments", "device_traces", "blocks",     "state",  "history", "real_size", "stage",
      "name",     "pool_id",       "total_size", "stream", "time_us", "address"};
  pickle_writer program;
  if (below(dice, 2) == 0) program.proto(4);
  std::size_t const length = 1 + below(dice, 80);
  for (std::size_t at = 0; at < length; ++at) {
    int const slot = static_cast<int>(below(dice, 6));
    switch (below(dice, 34)) {
      case 0: program.empty_list(); break;
      case 1: program.empty_dict(); break;
      case 2:
      case 3:
      case 4: program.mark(); break;
      case 5: program.append(); break;
      case 6:
      case 7: program.appends(); break;
      case 8: program.setitem(); break;
      case 9:
      case 10: program.setitems(); break;
      case 11: program.memoize(); break;
      case 12: program.binput(slot); break;
      case 13: program.long_binput(below(dice, 8) == 0 ? 4'000'000'000U : 3); break;
      case 14:
      case 15:
      case 16:
        for (std::size_t times = 1 + below(dice, 4); times-- > 0;) program.binget(slot);
        break;
      case 17: program.long_binget(static_cast<std::uint32_t>(slot)); break;
      case 18: program.pop(); break;
      case 19: program.pop_mark(); break;
      case 20: program.dup(); break;
      case 21: program.list(); break;
      case 22: program.dict(); break;
      case 23: program.tuple(); break;
      case 24: program.tuple2(); break;
      case 25: program.none(); break;
      case 26: program.binint1(slot); break;
      case 27: program.long1({0, 0, 0, 0, 0, slot, 0, slot % 2 == 0 ? 0x7f : 0x80, 0}); break;
      case 28: program.binfloat(1e19 * slot); break;
      case 29: program.empty_tuple(); break;
      default: program.short_binunicode(words[below(dice, std::size(words))]); break;
    }
  }
  return program.stop().text();
}

void mutate(std::string& bytes, std::vector<std::string> const& seeds, random_engine& dice) {
  static constexpr std::string_view opcodes =
      "(.012FIJKLMNSTUVXadeghjlpqrstu]})G\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x94\x95";
  std::size_t const at = bytes.empty() ? 0 : below(dice, bytes.size());
  std::size_t const length = std::min<std::size_t>(1 + below(dice, 64), bytes.size() - at);
  switch (below(dice, 11)) {
    case 0:
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(dice, 8)));
      break;
    case 1:
      if (!bytes.empty()) bytes[at] = static_cast<char>(below(dice, 256));
      break;
    case 2:
      if (!bytes.empty()) bytes[at] = opcodes[below(dice, opcodes.size())];
      break;
    case 3: bytes.insert(at, 1, opcodes[below(dice, opcodes.size())]); break;
    case 4: bytes.erase(at, length); break;
    case 5: bytes.insert(below(dice, bytes.size() + 1), bytes.substr(at, length)); break;
    case 6:
      if (below(dice, 4) == 0) bytes.resize(at);
      break;
    case 7: {
      std::string const& other = seeds[below(dice, seeds.size())];
      std::size_t const from = below(dice, other.size());
      bytes.insert(at, other.substr(from, 1 + below(dice, 200)));
      break;
    }
    case 8:
      for (std::size_t row = at; row < at + std::min<std::size_t>(length, 8); ++row)
        bytes[row] = below(dice, 2) == 0 ? '\xff' : '\0';
      break;
    case 9:
      bytes.insert(at, std::string(below(dice, 300), opcodes[below(dice, opcodes.size())]));
      break;
    default: {  // two parts change places
      std::size_t const other = bytes.empty() ? 0 : below(dice, bytes.size());
      for (std::size_t row = 0; row < length; ++row) {
        if (at + row < bytes.size() && other + row < bytes.size())
          std::swap(bytes[at + row], bytes[other + row]);
      }
    }
  }
}

/// Where a crash would leave it. Written before the run, since a sanitizer ends the process.
std::string const* current_input = nullptr;

void keep_current_input() {
  if (current_input == nullptr) return;
  std::ofstream("fuzz_failure.bin", std::ios::binary) << *current_input;
}

void try_input(std::string const& bytes) {
  current_input = &bytes;
  // A copy of its own size, so that a sanitizer sees a read beyond the end.
  std::vector<std::uint8_t> const exact(bytes.begin(), bytes.end());
  auto const start = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) {
    throw std::runtime_error("more than 20 s for " + std::to_string(bytes.size()) + " bytes");
  }
  current_input = nullptr;
}

std::string content_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

int main(int argument_count, char** arguments) {
  std::uint64_t runs = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> files;
  for (int at = 1; at < argument_count; ++at) {
    std::string_view const word = arguments[at];
    if (word == "--runs" && at + 1 < argument_count) {
      runs = std::strtoull(arguments[++at], nullptr, 10);
    } else if (word == "--seed" && at + 1 < argument_count) {
      seed = std::strtoull(arguments[++at], nullptr, 10);
    } else {
      files.push_back(content_of(arguments[at]));
    }
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(keep_current_input);
#endif
  std::set_terminate([] {
    keep_current_input();
    std::abort();
  });

  std::vector<std::string> seeds = built_in_seeds();
  if (runs == 0) {
    for (std::string const& file : files) try_input(file);
    std::printf("%zu files\n", files.size());
    return 0;
  }
  for (std::string const& bytes : seeds) try_input(bytes);
  for (std::string& file : files) seeds.push_back(std::move(file));

  random_engine dice(seed);
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::string bytes;
    if (below(dice, 4) == 0) {
      bytes = random_program(dice);
    } else {
      bytes = seeds[below(dice, seeds.size())];
      for (std::size_t times = 1 + below(dice, 6); times-- > 0;) mutate(bytes, seeds, dice);
    }
    try_input(bytes);
  }
  std::printf("%llu mutations, seed %llu\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed));
  return 0;
}
#endif
