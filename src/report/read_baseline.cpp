// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A baseline file back into its model: every key must be there and be what it should be.
#include <memreplay/make_check.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memreplay/error.hpp>

#include "base/byte_source.hpp"

namespace memreplay {
namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr char const* write_again = "write a new one with --write-baseline";

[[noreturn]] void fail(std::string const& what) {
  throw error(error_code::damaged, "damaged baseline: " + what, write_again);
}

std::string read_text(std::string const& path) {
  base::file_source source(path);
  std::string text;
  std::size_t constexpr part = std::size_t{1} << 16;
  for (std::size_t got = part; got == part;) {
    std::size_t const before = text.size();
    if (before > most_bytes) fail(fmt::format("more than {} bytes", most_bytes));
    text.resize(before + part);
    got = source.read(std::as_writable_bytes(std::span(text.data() + before, part)));
    text.resize(before + got);
  }
  return text;
}

json const& member(json const& object, char const* key) {
  if (!object.is_object()) fail(fmt::format("'{}' is wanted where there is no object", key));
  auto const found = object.find(key);
  if (found == object.end()) fail(fmt::format("no '{}'", key));
  return *found;
}

std::string text_of(json const& object, char const* key) {
  json const& value = member(object, key);
  if (!value.is_string()) fail(fmt::format("'{}' is no text", key));
  return value.get<std::string>();
}

bool flag_of(json const& object, char const* key) {
  json const& value = member(object, key);
  if (!value.is_boolean()) fail(fmt::format("'{}' is neither true nor false", key));
  return value.get<bool>();
}

std::int64_t number_of(json const& object, char const* key,
                       std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  json const& value = member(object, key);
  if (!value.is_number_integer()) fail(fmt::format("'{}' is no integer", key));
  bool const is_beyond =
      value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::max<std::int64_t>(0, most));
  if (is_beyond || value.get<std::int64_t>() < least)
    fail(fmt::format("'{}' is out of range", key));
  return value.get<std::int64_t>();
}

json const& list_of(json const& object, char const* key) {
  json const& value = member(object, key);
  if (!value.is_array()) fail(fmt::format("'{}' is no list", key));
  return value;
}

template <class EnumT>
EnumT choice_of(json const& object, char const* key, std::initializer_list<EnumT> values) {
  std::string const word = text_of(object, key);
  for (EnumT const value : values) {
    if (word == to_string(value)) return value;
  }
  fail(fmt::format("'{}' has a value of another version", key));
}

exactness interval_of(json const& object) {
  exactness made;
  made.exact = false;
  made.low = number_of(object, "low");
  made.high = number_of(object, "high", made.low);
  made.reason = text_of(object, "reason");
  return made;
}

exactness exactness_of(json const& object, char const* bytes_key) {
  if (!flag_of(object, "exact")) return interval_of(object);
  std::int64_t const bytes = number_of(object, bytes_key);
  return {true, bytes, bytes, {}};
}

site_row site_of(json const& row) {
  site_row made;
  made.site = text_of(row, "site");
  made.label = text_of(row, "label");
  made.file = text_of(row, "file");
  made.line = number_of(row, "line", 0);
  made.bytes = number_of(row, "bytes");
  made.tensors = number_of(row, "tensors", 0);
  return made;
}

baseline_device device_of(json const& row) {
  baseline_device made;
  made.device = static_cast<std::int32_t>(
      number_of(row, "device", 0, std::numeric_limits<std::int32_t>::max()));
  made.carried_in_bytes = number_of(row, "carried_in_bytes");
  made.end_bytes = number_of(row, "end_bytes");
  made.peak_bytes = number_of(row, "peak_bytes");
  made.peak = exactness_of(row, "peak_bytes");
  made.max_memory_allocated = exactness_of(member(row, "max_memory_allocated"), "bytes");
  made.reserved_peak_bytes = number_of(row, "reserved_peak_bytes");
  for (json const& site : list_of(row, "sites")) made.sites.push_back(site_of(site));
  return made;
}

}  // namespace

memory_baseline read_baseline(std::string const& path) {
  std::string const text = read_text(path);
  json const root = json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    throw error(error_code::damaged, "not a baseline: no JSON, or cut off", write_again);
  }
  auto const schema = root.is_object() ? root.find("schema") : root.end();
  if (schema == root.end() || !schema->is_string() || *schema != baseline_schema_version) {
    throw error(error_code::damaged,
                fmt::format("not a baseline: its schema is not {}", baseline_schema_version),
                write_again);
  }
  memory_baseline made;
  made.file = text_of(root, "file");
  made.what = choice_of(root, "measure", {measure::allocated, measure::active, measure::reserved});
  made.sizes = choice_of(root, "sizes", {size_basis::requested, size_basis::block});
  made.older = choice_of(root, "carried_in", {carried_in::include, carried_in::ignore});
  made.rule = choice_of(root, "site_rule", {site_rule::project, site_rule::user});
  made.frame_depth = number_of(root, "frame_depth", 1);
  for (json const& row : list_of(root, "devices")) {
    made.devices.push_back(device_of(row));
    auto const is_same = [&](baseline_device const& other) {
      return other.device == made.devices.back().device;
    };
    if (std::ranges::count_if(made.devices, is_same) > 1) {
      fail(fmt::format("device {} twice", made.devices.back().device));
    }
  }
  if (made.devices.empty()) fail("no device");
  return made;
}

}  // namespace memreplay
