// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Opcodes, the two picklers, and the documents of tests.
#include "support/pickle_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

namespace memreplay::testing {
namespace {

template <class IntT>
std::string little_endian(IntT value) {
  std::string bytes;
  auto rest = static_cast<std::uint64_t>(value);
  for (std::size_t at = 0; at < sizeof(IntT); ++at, rest >>= 8)
    bytes.push_back(static_cast<char>(rest & 0xff));
  return bytes;
}

std::string byte_of(int value) { return std::string(1, static_cast<char>(value)); }

std::string real_text(double value) {
  char shown[40];
  std::snprintf(shown, sizeof shown, "%.17g", value);
  return shown;
}

std::string digits_of(object const& number) {
  return number.what == object::kind::unsigned_integer ? std::to_string(number.unsigned_integer)
                                                       : std::to_string(number.integer);
}

/// Minimal two's complement, as LONG1 of Python has it.
std::string long_bytes(object const& number) {
  if (number.what == object::kind::unsigned_integer)
    return little_endian(number.unsigned_integer) + byte_of(0);
  std::string bytes = little_endian(number.integer);
  char const filler = number.integer < 0 ? '\xff' : '\0';
  while (bytes.size() > 1 && bytes.back() == filler &&
         ((bytes[bytes.size() - 2] ^ filler) & 0x80) == 0) {
    bytes.pop_back();
  }
  return bytes;
}

class python_pickler {
 public:
  explicit python_pickler(int protocol) : protocol_(protocol) {}

  std::string dump(object_ptr const& root) {
    save(root);
    out_.stop();
    std::string const body = out_.text();
    pickle_writer whole;
    if (protocol_ >= 2) whole.proto(protocol_);
    if (protocol_ >= 4) whole.frame(body.size());
    return whole.raw(body).text();
  }

 private:
  void memoize() {
    std::uint32_t const slot = next_slot_++;
    if (protocol_ >= 4) {
      out_.memoize();
    } else if (protocol_ == 0) {
      out_.put_line(std::to_string(slot));
    } else if (slot < 256) {
      out_.binput(static_cast<int>(slot));
    } else {
      out_.long_binput(slot);
    }
  }
  void get(std::uint32_t slot) {
    if (protocol_ == 0) {
      out_.get_line(std::to_string(slot));
    } else if (slot < 256) {
      out_.binget(static_cast<int>(slot));
    } else {
      out_.long_binget(slot);
    }
  }
  void remember(object_ptr const& item) {
    slots_[item.get()] = next_slot_;
    memoize();
  }

  void save_key(std::string const& key) {
    // Key strings are one object each.
    auto const [found, is_new] = keys_.try_emplace(key, next_slot_);
    if (is_new) {
      save_text(key);
      memoize();
    } else {
      get(found->second);
    }
  }
  void save_text(std::string const& content) {
    if (protocol_ == 0) {
      out_.unicode_line(content);
    } else if (protocol_ >= 4 && content.size() < 256) {
      out_.short_binunicode(content);
    } else {
      out_.binunicode(content);
    }
  }
  void save_integer(object const& number) {
    bool const is_int32 = number.what == object::kind::integer && number.integer >= INT32_MIN &&
                          number.integer <= INT32_MAX;
    if (protocol_ == 0) {
      is_int32 ? out_.int_line(digits_of(number)) : out_.long_line(digits_of(number) + "L");
    } else if (is_int32 && number.integer >= 0 && number.integer < 256) {
      out_.binint1(static_cast<int>(number.integer));
    } else if (is_int32 && number.integer >= 0 && number.integer < 65536) {
      out_.binint2(static_cast<int>(number.integer));
    } else if (is_int32) {
      out_.binint(static_cast<std::int32_t>(number.integer));
    } else if (protocol_ == 1) {
      out_.long_line(digits_of(number) + "L");
    } else {
      std::string const bytes = long_bytes(number);
      out_.raw("\x8a" + byte_of(static_cast<int>(bytes.size())) + bytes);
    }
  }

  void save(object_ptr const& item) {
    if (auto const known = slots_.find(item.get()); known != slots_.end()) {
      get(known->second);
      return;
    }
    switch (item->what) {
      case object::kind::none: out_.none(); break;
      case object::kind::boolean:
        if (protocol_ < 2) {
          out_.int_line(item->integer != 0 ? "01" : "00");
        } else {
          item->integer != 0 ? out_.newtrue() : out_.newfalse();
        }
        break;
      case object::kind::integer:
      case object::kind::unsigned_integer: save_integer(*item); break;
      case object::kind::real:
        protocol_ == 0 ? out_.float_line(real_text(item->real)) : out_.binfloat(item->real);
        break;
      case object::kind::text:
        save_text(item->text);
        remember(item);
        break;
      case object::kind::tuple: save_tuple(item); break;
      case object::kind::list: save_list(item); break;
      case object::kind::dict: save_dict(item); break;
    }
  }
  void save_tuple(object_ptr const& item) {
    std::size_t const size = item->items.size();
    if (size == 0 && protocol_ > 0) {
      out_.empty_tuple();
      return;
    }
    bool const is_short = protocol_ >= 2 && size <= 3;
    if (!is_short) out_.mark();
    for (object_ptr const& part : item->items) save(part);
    static constexpr char const* shorts[] = {"", "\x85", "\x86", "\x87"};
    out_.raw(is_short ? shorts[size] : "t");
    remember(item);
  }
  void save_list(object_ptr const& item) {
    out_.raw(protocol_ == 0 ? "(l" : "]");
    remember(item);
    save_batches(item->items.size(), "a", "e", [&](std::size_t row) { save(item->items[row]); });
  }
  void save_dict(object_ptr const& item) {
    out_.raw(protocol_ == 0 ? "(d" : "}");
    remember(item);
    save_batches(item->pairs.size(), "s", "u", [&](std::size_t row) {
      save_key(item->pairs[row].first);
      save(item->pairs[row].second);
    });
  }
  template <class SaveT>
  void save_batches(std::size_t size, char const* one, char const* many, SaveT save_row) {
    if (protocol_ == 0 || size == 1) {
      for (std::size_t row = 0; row < size; ++row) {
        save_row(row);
        out_.raw(one);
      }
      return;
    }
    for (std::size_t first = 0; first < size; first += 1000) {
      out_.mark();
      for (std::size_t row = first; row < std::min(size, first + 1000); ++row) save_row(row);
      out_.raw(many);
    }
  }

  int protocol_;
  pickle_writer out_;
  std::uint32_t next_slot_ = 0;
  std::map<object const*, std::uint32_t> slots_;
  std::map<std::string, std::uint32_t> keys_;
};

class cpp_pickler {
 public:
  std::string dump(object_ptr const& root) {
    out_.proto(2);
    save(root);
    return out_.stop().text();
  }

 private:
  void put() {
    next_slot_ < 256 ? out_.binput(static_cast<int>(next_slot_)) : out_.long_binput(next_slot_);
    ++next_slot_;
  }
  void get(std::uint32_t slot) {
    slot < 256 ? out_.binget(static_cast<int>(slot)) : out_.long_binget(slot);
  }
  void save_text(std::string const& content) {
    auto const [found, is_new] = texts_.try_emplace(content, next_slot_);
    if (!is_new) {
      get(found->second);
      return;
    }
    out_.binunicode(content);
    put();
  }
  void save_integer(object const& number) {
    if (number.what == object::kind::integer && number.integer >= INT32_MIN &&
        number.integer <= INT32_MAX) {
      if (number.integer >= 0 && number.integer < 256) {
        out_.binint1(static_cast<int>(number.integer));
      } else if (number.integer >= 0 && number.integer < 65536) {
        out_.binint2(static_cast<int>(number.integer));
      } else {
        out_.binint(static_cast<std::int32_t>(number.integer));
      }
      return;
    }
    // It knows no numbers beyond int64: 2^64-1 arrives as -1.
    out_.raw("\x8a\x08" + (number.what == object::kind::integer
                               ? little_endian(number.integer)
                               : little_endian(number.unsigned_integer)));
  }
  void save(object_ptr const& item) {
    if (auto const known = slots_.find(item.get()); known != slots_.end()) {
      get(known->second);
      return;
    }
    switch (item->what) {
      case object::kind::none: out_.none(); return;
      case object::kind::boolean: item->integer != 0 ? out_.newtrue() : out_.newfalse(); return;
      case object::kind::integer:
      case object::kind::unsigned_integer: save_integer(*item); return;
      case object::kind::real: out_.binfloat(item->real); return;
      case object::kind::text: save_text(item->text); return;
      case object::kind::tuple:
        if (item->items.size() == 2) {
          save(item->items[0]);
          save(item->items[1]);
          out_.tuple2();
        } else {
          out_.mark();
          for (object_ptr const& part : item->items) save(part);
          out_.tuple();
        }
        break;
      case object::kind::list:
        out_.empty_list().mark();
        for (object_ptr const& part : item->items) save(part);
        out_.appends();
        break;
      case object::kind::dict:
        out_.empty_dict().mark();
        for (auto const& [key, content] : item->pairs) {
          save_text(key);
          save(content);
        }
        out_.setitems();
        break;
    }
    if (item.use_count() > 1) {
      slots_[item.get()] = next_slot_;
      put();
    }
  }

  pickle_writer out_;
  std::uint32_t next_slot_ = 0;
  std::map<object const*, std::uint32_t> slots_;
  std::map<std::string, std::uint32_t> texts_;
};

void append_json(std::string& out, object_ptr const& item);

void append_json_text(std::string& out, std::string_view content) {
  out.push_back('"');
  for (char const letter : content) {
    if (letter == '"' || letter == '\\') out.push_back('\\');
    out.push_back(letter);
  }
  out.push_back('"');
}

void append_json(std::string& out, object_ptr const& item) {
  switch (item->what) {
    case object::kind::none: out += "null"; break;
    case object::kind::boolean: out += item->integer != 0 ? "true" : "false"; break;
    case object::kind::integer:
    case object::kind::unsigned_integer: out += digits_of(*item); break;
    case object::kind::real: out += real_text(item->real); break;
    case object::kind::text: append_json_text(out, item->text); break;
    case object::kind::list:
    case object::kind::tuple: {
      out.push_back('[');
      char const* comma = "";
      for (object_ptr const& part : item->items) {
        out += std::exchange(comma, ", ");
        append_json(out, part);
      }
      out.push_back(']');
      break;
    }
    case object::kind::dict: {
      out.push_back('{');
      char const* comma = "";
      for (auto const& [key, content] : item->pairs) {
        out += std::exchange(comma, ", ");
        append_json_text(out, key);
        out += ": ";
        append_json(out, content);
      }
      out.push_back('}');
      break;
    }
  }
}

object_ptr make(object content) { return std::make_shared<object const>(std::move(content)); }

std::int64_t sum_of(std::vector<object_ptr> const& blocks, std::string_view key, bool is_active) {
  std::int64_t sum = 0;
  for (object_ptr const& part : blocks) {
    std::int64_t bytes = 0;
    std::string state;
    for (auto const& [name, content] : part->pairs) {
      if (name == key) bytes = content->integer;
      if (name == "state") state = content->text;
    }
    if (!is_active || state != "inactive") sum += bytes;
  }
  return sum;
}

object_pairs joined(object_pairs first, object_pairs const& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace

std::span<std::byte const> as_input(std::string_view bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

// ---- opcodes

pickle_writer& pickle_writer::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}
template <class IntT>
pickle_writer& pickle_writer::number(IntT value) {
  return raw(little_endian(value));
}
pickle_writer& pickle_writer::line(std::string_view opcode, std::string_view content) {
  return raw(opcode).raw(content).raw("\n");
}

pickle_writer& pickle_writer::proto(int version) { return raw("\x80").raw(byte_of(version)); }
pickle_writer& pickle_writer::frame(std::uint64_t length) { return raw("\x95").number(length); }
pickle_writer& pickle_writer::binint1(int value) { return raw("K").raw(byte_of(value)); }
pickle_writer& pickle_writer::binint2(int value) {
  return raw("M").number(static_cast<std::uint16_t>(value));
}
pickle_writer& pickle_writer::binint(std::int32_t value) { return raw("J").number(value); }
pickle_writer& pickle_writer::long1(std::initializer_list<int> bytes) {
  raw("\x8a").raw(byte_of(static_cast<int>(bytes.size())));
  for (int const value : bytes) raw(byte_of(value));
  return *this;
}
pickle_writer& pickle_writer::long4(std::initializer_list<int> bytes) {
  long4_header(static_cast<std::int32_t>(bytes.size()));
  for (int const value : bytes) raw(byte_of(value));
  return *this;
}
pickle_writer& pickle_writer::long4_header(std::int32_t length) {
  return raw("\x8b").number(length);
}
pickle_writer& pickle_writer::binfloat(double value) {
  std::string bytes = little_endian(std::bit_cast<std::uint64_t>(value));
  std::ranges::reverse(bytes);
  return raw("G").raw(bytes);
}
pickle_writer& pickle_writer::short_binunicode(std::string_view content) {
  return raw("\x8c").raw(byte_of(static_cast<int>(content.size()))).raw(content);
}
pickle_writer& pickle_writer::binunicode(std::string_view content) {
  return binunicode_header(static_cast<std::uint32_t>(content.size())).raw(content);
}
pickle_writer& pickle_writer::binunicode_header(std::uint32_t length) {
  return raw("X").number(length);
}
pickle_writer& pickle_writer::binunicode8(std::string_view content) {
  return binunicode8_header(content.size()).raw(content);
}
pickle_writer& pickle_writer::binunicode8_header(std::uint64_t length) {
  return raw("\x8d").number(length);
}
pickle_writer& pickle_writer::short_binstring(std::string_view content) {
  return raw("U").raw(byte_of(static_cast<int>(content.size()))).raw(content);
}
pickle_writer& pickle_writer::binstring(std::string_view content) {
  return raw("T").number(static_cast<std::uint32_t>(content.size())).raw(content);
}
pickle_writer& pickle_writer::binput(int slot) { return raw("q").raw(byte_of(slot)); }
pickle_writer& pickle_writer::long_binput(std::uint32_t slot) { return raw("r").number(slot); }
pickle_writer& pickle_writer::binget(int slot) { return raw("h").raw(byte_of(slot)); }
pickle_writer& pickle_writer::long_binget(std::uint32_t slot) { return raw("j").number(slot); }

// ---- documents

object_ptr none() { return make({}); }
object_ptr boolean(bool value) {
  return make({.what = object::kind::boolean, .integer = value ? 1 : 0});
}
object_ptr integer(std::int64_t value) {
  return make({.what = object::kind::integer, .integer = value});
}
object_ptr unsigned_integer(std::uint64_t value) {
  if (value >> 63 == 0) return integer(static_cast<std::int64_t>(value));
  return make({.what = object::kind::unsigned_integer, .unsigned_integer = value});
}
object_ptr real(double value) { return make({.what = object::kind::real, .real = value}); }
object_ptr text(std::string_view value) {
  return make({.what = object::kind::text, .text = std::string(value)});
}
object_ptr list(std::vector<object_ptr> items) {
  return make({.what = object::kind::list, .items = std::move(items)});
}
object_ptr tuple(std::vector<object_ptr> items) {
  return make({.what = object::kind::tuple, .items = std::move(items)});
}
object_ptr dict(object_pairs pairs) {
  return make({.what = object::kind::dict, .pairs = std::move(pairs)});
}

object_ptr with(object_ptr const& from, object_pairs const& changes) {
  object_pairs pairs = from->pairs;
  for (auto const& [key, content] : changes) {
    auto const at =
        std::ranges::find_if(pairs, [&](auto const& pair) { return pair.first == key; });
    if (content == nullptr) {
      if (at != pairs.end()) pairs.erase(at);
    } else if (at != pairs.end()) {
      at->second = content;
    } else {
      pairs.emplace_back(key, content);
    }
  }
  return dict(std::move(pairs));
}

std::string write_python_pickle(object_ptr const& root, int protocol) {
  return python_pickler(protocol).dump(root);
}
std::string write_cpp_pickle(object_ptr const& root) { return cpp_pickler().dump(root); }
std::string write_json(object_ptr const& root) {
  std::string out;
  append_json(out, root);
  return out;
}

// ---- snapshots

object_ptr frame_object(std::string_view function, std::string_view file, std::int64_t line) {
  return dict({{"name", text(function)}, {"filename", text(file)}, {"line", integer(line)}});
}

object_ptr event_object(std::string_view action, std::int64_t address, std::int64_t size,
                        object_pairs const& more) {
  return dict(joined({{"action", text(action)},
                      {"addr", integer(address)},
                      {"size", integer(size)},
                      {"stream", integer(0)}},
                     more));
}

object_ptr block_object(std::int64_t address, std::int64_t size, std::string_view state,
                        object_pairs const& more) {
  return dict(joined({{"address", integer(address)},
                      {"size", integer(size)},
                      {"requested_size", integer(size)},
                      {"state", text(state)}},
                     more));
}

object_ptr segment_object(std::int64_t address, std::vector<object_ptr> blocks,
                          object_pairs const& more) {
  std::int64_t allocated = 0;
  for (object_ptr const& part : blocks) {
    for (auto const& [name, content] : part->pairs) {
      if (name == "state" && content->text == "active_allocated")
        allocated += sum_of({part}, "size", false);
    }
  }
  object_ptr const base = dict({{"device", integer(0)},
                                {"address", integer(address)},
                                {"total_size", integer(sum_of(blocks, "size", false))},
                                {"allocated_size", integer(allocated)},
                                {"active_size", integer(sum_of(blocks, "size", true))},
                                {"requested_size", integer(sum_of(blocks, "requested_size", true))},
                                {"stream", integer(0)},
                                {"segment_type", text("large")},
                                {"blocks", list(std::move(blocks))}});
  return with(base, more);
}

object_ptr snapshot_object(std::vector<object_ptr> segments, std::vector<object_ptr> traces,
                           object_pairs const& more) {
  return dict(joined(
      {{"segments", list(std::move(segments))}, {"device_traces", list(std::move(traces))}}, more));
}

object_ptr small_snapshot() {
  object_ptr const inner = frame_object("forward", "model.py", 42);
  object_ptr const outer = frame_object("main", "train.py", 7);
  object_ptr const deep = list({inner, outer});
  object_ptr const flat = list({outer});
  std::int64_t const base = 0x7f00'0000'0000;
  std::int64_t time = 1'700'000'000'000'000;
  auto const event = [&](std::string_view action, std::int64_t offset, std::int64_t size,
                         object_ptr const& stack) {
    object_pairs more{{"time_us", integer(time++)},
                      {"compile_context", text("N/A")},
                      {"user_metadata", text("")}};
    if (stack != nullptr) more.emplace_back("frames", stack);
    return event_object(action, base + offset, size, more);
  };
  std::int64_t const mib = std::int64_t{1} << 20;
  object_ptr const first = list({
      event("segment_alloc", 0, 20 * mib, deep),
      event("alloc", 0, 3000, deep),
      event("alloc", 4096, 70'000, list({outer, inner})),
      event("free_requested", 0, 3000, list({outer})),
      event("free_completed", 0, 3000, flat),
      event("snapshot", -base, 70'144, nullptr),
      dict({{"action", text("oom")},
            {"device_free", integer(3 * mib)},
            {"size", integer(40 * mib)},
            {"stream", integer(0)},
            {"time_us", integer(time++)},
            {"frames", flat}}),
      event("alloc", 1 << 18, 512, list({})),
  });
  object_ptr const second = list({event("segment_map", 1 << 30, 2 * mib, flat),
                                  event("segment_unmap", 1 << 30, 2 * mib, flat)});
  object_ptr const no_frames = list({});
  object_ptr const segment =
      segment_object(base,
                     {block_object(base, 4096, "inactive", {{"frames", no_frames}}),
                      block_object(base + 4096, 70'144, "active_allocated", {{"frames", deep}}),
                      block_object(base + 4096 + 70'144, 20 * mib - 4096 - 70'144, "inactive",
                                   {{"frames", no_frames}})},
                     {{"segment_pool_id", tuple({integer(0), integer(0)})},
                      {"is_expandable", boolean(false)},
                      {"frames", flat}});
  return snapshot_object(
      {segment}, {first, second},
      {{"allocator_settings",
        dict({{"PYTORCH_CUDA_ALLOC_CONF", text("")},
              {"max_split_size", integer(-1)},
              {"garbage_collection_threshold", real(0.5)},
              {"expandable_segments", boolean(false)},
              {"roundup_power2_divisions", dict({{"1", integer(0)}, {"2", integer(0)}})}})},
       {"external_annotations", list({dict({{"name", text("ProfilerStep#0")},
                                            {"stage", text("START")},
                                            {"device", integer(0)},
                                            {"time_us", integer(time - 20)}}),
                                      dict({{"name", text("ProfilerStep#0")},
                                            {"stage", text("END")},
                                            {"device", integer(0)},
                                            {"time_us", integer(time)}})})}});
}

}  // namespace memreplay::testing
