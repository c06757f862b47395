// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Turns the containers of a file, innermost first, into rows: what a dictionary is shows in its
// keys.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <memreplay/snapshot.hpp>

#include "pickle/sink.hpp"
#include "snapshot/interning.hpp"
#include "snapshot/keys.hpp"
#include "snapshot/loose_values.hpp"
#include "snapshot/node.hpp"

namespace memreplay::reading {

/// Counted oddities that no single row tells; `sanity` turns them into audit rows.
struct oddities {
  std::int64_t malformed_values = 0;  ///< a value of the wrong type; read as missing
  std::int64_t foreign_items = 0;     ///< an item of a row list that is no such row
  std::int64_t negative_sizes = 0;
  std::int64_t events_without_time = 0;
  std::int64_t host_events = 0;  ///< pinned host memory, not analysed
  std::int64_t host_segments = 0;
  std::int64_t left_out_values = 0;  ///< of settings and metadata, beyond their room
  std::int64_t left_out_frames = 0;  ///< outermost ones of absurdly deep stacks
  std::map<std::string, std::int64_t> unknown_actions;
  std::map<std::string, std::int64_t> unknown_keys;
};

/// The listener. Event columns grow while the bytes are read; everything is in place after
/// `finish`.
class row_sink final : public pickle::sink {
 public:
  using told_rows = std::function<void(event_columns const&, std::size_t)>;

  /// `on_rows`: see `read_options`.
  explicit row_sink(snapshot& into, told_rows on_rows = {});

  [[nodiscard]] std::uint64_t text(std::string_view content) override;
  [[nodiscard]] std::uint64_t dict_items(std::uint64_t current,
                                         std::span<pickle::value const> items,
                                         bool is_cut) override;
  [[nodiscard]] std::uint64_t list_items(std::uint64_t current,
                                         std::span<pickle::value const> items) override;
  [[nodiscard]] std::uint64_t tuple_items(std::span<pickle::value const> items) override;
  [[nodiscard]] bool is_settled(std::span<pickle::value const> items) const override;
  [[nodiscard]] bool comes_in_rows(std::uint64_t dict) const override;
  [[nodiscard]] std::uint64_t next_row() const override;
  void take_rows(pickle::dict_rows const& rows) override;

  /// Takes the object that the file holds. Throws `error` (not_a_snapshot) when it is none.
  void finish(pickle::value const& root);
  [[nodiscard]] oddities const& odd() const noexcept { return odd_; }

 private:
  static constexpr std::size_t shape_width = 24;
  static constexpr std::size_t shape_limit = 32;
  /// The keys of a dictionary in file order, and what they make of it.
  struct shape {
    std::array<std::uint64_t, shape_width> handles{};
    std::array<key, shape_width> keys{};
    std::size_t width = 0;
    key_set set;
    node_kind kind = node_kind::loose;
  };
  /// Rows of one list; nearly always one run, and else spelled out.
  struct row_list {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::vector<std::uint64_t> scattered;
  };
  struct history_row {
    std::uint64_t real_size = 0;
    stack_id stack = no_stack;
  };

  shape const& shape_of(std::span<pickle::value const> items, std::size_t step);
  shape make_shape(std::span<pickle::value const> items, std::size_t step);
  static node_kind kind_of(key_set keys) noexcept;

  // rows, one function a kind
  std::uint64_t add_event(std::span<pickle::value const> items, shape const& form);
  template <class RowsT>
  void add_events(RowsT const& rows, shape const& form);
  std::uint64_t add_frame(std::span<pickle::value const> items, shape const& form);
  std::uint64_t add_block(std::span<pickle::value const> items, shape const& form);
  std::uint64_t add_segment(std::span<pickle::value const> items, shape const& form);
  std::uint64_t add_annotation(std::span<pickle::value const> items, shape const& form);
  std::uint64_t add_history_entry(std::span<pickle::value const> items, shape const& form);
  std::uint64_t take_root(std::span<pickle::value const> items, shape const& form);

  // lists
  std::uint64_t add_stack(std::span<frame_id const> head, std::span<pickle::value const> items);
  std::uint64_t add_rows(node_kind list_kind, node_kind row_kind, std::uint64_t row,
                         std::span<pickle::value const> items);
  std::uint64_t add_traces(std::uint64_t row, std::span<pickle::value const> items);
  static void append_row(row_list& list, std::uint64_t row);
  void spend(std::uint64_t rows);

  // values; the usual ones at once
  std::optional<std::uint64_t> unsigned_of(pickle::value const& item) {
    if (item.kind == pickle::value_kind::integer) return item.bits;
    return odd_unsigned_of(item);
  }
  std::uint64_t size_of(pickle::value const& item) {
    if (item.kind == pickle::value_kind::integer && item.bits >> 63 == 0) return item.bits;
    return odd_size_of(item);
  }
  std::int64_t signed_of(pickle::value const& item) {
    return static_cast<std::int64_t>(unsigned_of(item).value_or(0));
  }
  stream_id stream_of(pickle::value const& item) {
    std::uint64_t const raw = unsigned_of(item).value_or(0);
    return raw == last_stream_ && !into_.streams.empty() ? last_stream_id_ : other_stream(raw);
  }
  action action_of(pickle::value const& item) {
    if (item.kind == pickle::value_kind::text && item.bits < actions_.size()) {
      action const known = actions_[static_cast<std::size_t>(item.bits)];
      if (known != action::other) return known;
    }
    return other_action_of(item);
  }
  string_id compile_context_of(pickle::value const& item) {
    // Spelled out on every event; "N/A" is the writer's word for none.
    if (item.kind == pickle::value_kind::text && item.bits == no_context_) return {};
    return other_context_of(item);
  }
  std::optional<std::uint64_t> odd_unsigned_of(pickle::value const& item);
  std::uint64_t odd_size_of(pickle::value const& item);
  stream_id other_stream(std::uint64_t raw);
  action other_action_of(pickle::value const& item);
  string_id other_context_of(pickle::value const& item);
  std::string_view text_of(pickle::value const& item);
  string_id string_of(pickle::value const& item);
  void count_unknown_key(pickle::value const& name);
  stack_id stack_of(pickle::value const& item);
  pool_index pool_of(pickle::value const& item);
  pool_index pool_row(pool_id pool);
  std::int32_t device_of(pickle::value const& item);
  template <class IdT>
  void set_optional(column<IdT>& cells, IdT content);

  // the end
  template <class RowT>
  void keep_only(std::vector<RowT>& rows, row_list& list);
  void place_events(row_list& list);
  void place_traces(std::vector<node> const& traces);
  void count_host_memory();
  template <class RowT>
  void gather(std::vector<RowT>& rows, row_list& list);
  void take_settings(json const& content, std::string const& prefix, int depth);

  snapshot& into_;
  told_rows on_rows_;
  std::size_t told_rows_ = 0;
  interner interner_;
  loose_values loose_;
  oddities odd_;

  std::vector<shape> shapes_;  ///< the few that occur again and again, by the places of their keys
  std::size_t last_shape_ = 0;
  shape scratch_shape_;
  std::vector<frame_id> scratch_frames_;
  std::vector<row_list> row_lists_;
  std::vector<std::vector<node>> trace_lists_;
  std::vector<history_row> history_;

  std::vector<action> actions_;  ///< by text; `other` = not asked yet, or unknown
  std::unordered_map<std::uint64_t, stream_id> streams_;
  std::uint64_t no_context_ = ~std::uint64_t{0};  ///< the text "N/A", once it was seen
  std::uint64_t last_stream_ = 0;
  stream_id last_stream_id_{};
  std::unordered_map<std::uint64_t, string_id> loose_texts_;  ///< by row: written out once each
  std::uint64_t dicts_ = 0;                                   ///< told by the reader so far
  std::uint64_t spent_ = 0;  ///< rows copied, or gone through again, for lists that share them

  // what the root says
  std::optional<node> root_segments_, root_traces_, root_settings_, root_annotations_;
  std::optional<node> root_host_segments_, root_host_traces_;
  std::optional<pickle::value> root_overflowed_, root_max_entries_;
};

/// Sets the cell of the newest event. The column comes into being with its first cell that is not
/// the default.
template <class IdT>
void row_sink::set_optional(column<IdT>& cells, IdT content) {
  if (content == IdT{} && cells.empty()) return;
  cells.resize(into_.events.size_rows() - 1, IdT{});
  cells.push_back(content);
}

/// Rows that do not follow each other are copied to the end, where they do.
template <class RowT>
void row_sink::gather(std::vector<RowT>& rows, row_list& list) {
  if (list.scattered.empty()) return;
  spend(list.count);
  std::uint64_t const first = rows.size();
  for (std::uint64_t const row : list.scattered)
    rows.push_back(RowT(rows[static_cast<std::size_t>(row)]));
  list = {.first = first, .count = rows.size() - first, .scattered = {}};
}

/// Drops the rows that belong to something else than `list` (host memory, say).
template <class RowT>
void row_sink::keep_only(std::vector<RowT>& rows, row_list& list) {
  gather(rows, list);
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(list.first + list.count), rows.end());
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(list.first));
}

}  // namespace memreplay::reading
