// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A snapshot in memory: event columns, segments and blocks, annotations, settings, and the shared
// tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <memreplay/audit.hpp>
#include <memreplay/column.hpp>
#include <memreplay/ids.hpp>

namespace memreplay {

/// What one entry of a trace says; `docs/snapshot-format.md` has the meaning of `size` for each.
enum class action : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,       ///< `size` is the rounded request, `address` holds `device_free`
  snapshot,  ///< `size` is the allocator's active total
  annotate,
  other,  ///< an action this version does not know: a row without effect
};
inline constexpr int action_count = 11;
/// The names as the files spell them, indexed by `action`.
[[nodiscard]] char const* to_string(action value) noexcept;

/// Interned UTF-8 strings (surrogates that Python let through stay as their three bytes).
class string_table {
 public:
  string_table();
  [[nodiscard]] std::string_view operator[](string_id id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  /// Appends without looking for an equal string; interning is the reader's business.
  string_id add(std::string_view text);

 private:
  column<char> bytes_;
  column<std::uint64_t> ends_;  ///< end of each string in `bytes_`
};

/// A function, file and line. `line` is kept as written: 0 (unknown), 2^64-1 (unknown), or a code
/// offset.
struct frame {
  string_id function{};
  string_id file{};
  std::uint64_t line = 0;
  friend bool operator==(frame const&, frame const&) = default;
};

/// Distinct stacks, innermost frame first. Equal stacks have one id.
class stack_table {
 public:
  [[nodiscard]] std::span<frame_id const> operator[](stack_id id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  stack_id add(std::span<frame_id const> frames);

 private:
  column<frame_id> frames_;
  column<std::uint64_t> ends_;
};

/// The columns of all traces, one device after the other; `snapshot::traces` says which rows are
/// whose. The optional columns are either empty or as long as the others.
struct event_columns {
  column<action> what;
  column<std::uint64_t> address;  ///< device address; `device_free` bytes on `oom`
  column<std::uint64_t> size;     ///< bytes as recorded
  column<stream_id> stream;
  column<stack_id> stack;
  column<std::int64_t> time_us;       ///< optional: microseconds since the Unix epoch
  column<pool_index> pool;            ///< optional
  column<string_id> user_metadata;    ///< optional
  column<string_id> compile_context;  ///< optional

  [[nodiscard]] std::size_t size_rows() const noexcept { return what.size(); }
};

/// Rows [first, first + count) of `event_columns`.
struct trace_range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

enum class block_state : std::uint8_t { active_allocated, active_pending_free, inactive };

struct block {
  std::uint64_t address = 0;
  std::uint64_t size = 0;            ///< rounded bytes
  std::uint64_t requested_size = 0;  ///< meaningless when inactive
  block_state state = block_state::inactive;
  stack_id stack = no_stack;
};

struct segment {
  std::int32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t total_size = 0;
  std::uint64_t allocated_size = 0;
  std::uint64_t active_size = 0;
  std::uint64_t requested_size = 0;
  stream_id stream{};
  pool_index pool{};
  bool is_small = false;
  bool is_expandable = false;
  stack_id stack = no_stack;
  std::int64_t first_block =
      0;  ///< rows [first_block, first_block + block_count) of `snapshot::blocks`
  std::int64_t block_count = 0;
};

/// One end of a `record_function` range.
struct annotation {
  string_id name{};
  bool is_start = false;
  std::int32_t device = 0;
  std::int64_t time_us = 0;
};

/// One allocator setting; nested dictionaries arrive as `key.subkey`, values as JSON text.
struct setting {
  std::string key;
  std::string value;
};

struct pool_id {
  std::int64_t first = 0;
  std::int64_t second = 0;
  friend bool operator==(pool_id const&, pool_id const&) = default;
};

/// Everything the file says. Shapes: `traces[d]` belongs to device ordinal d.
struct snapshot {
  std::uint64_t file_bytes = 0;       ///< as on disk
  std::uint64_t snapshot_bytes = 0;   ///< after decompression
  std::string container;              ///< "pickle", "pickle in gzip", "json", ...
  std::int32_t pickle_protocol = -1;  ///< -1 when not a pickle
  bool has_traces = false;            ///< the key `device_traces` was there
  bool has_segments = false;
  bool is_salvaged = false;  ///< read up to a cut

  string_table strings;
  column<frame> frames;
  stack_table stacks;
  event_columns events;
  std::vector<trace_range> traces;
  std::vector<segment> segments;
  std::vector<block> blocks;
  std::vector<annotation> annotations;
  std::vector<setting> settings;
  std::vector<std::uint64_t> streams;  ///< raw stream values by stream_id, in order of first use
  std::vector<pool_id> pools;          ///< row 0 is the default pool (0, 0)
  audit defects;
};

}  // namespace memreplay
