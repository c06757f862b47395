// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// SAX events of nlohmann-json become values, containers as soon as they close.
#include "input/json_feed.hpp"

#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memreplay/error.hpp>

namespace memreplay::input {

using pickle::value;
using pickle::value_kind;

namespace {

constexpr std::size_t depth_limit = 256;
/// Long arrays are handed on in batches, as pickles do.
constexpr std::size_t batch = 1000;
constexpr std::size_t chunk_bytes = std::size_t{1} << 17;
constexpr std::size_t value_limit = std::size_t{16} << 20;

/// A source as the pair of iterators that nlohmann-json wants. All iterators share one place.
class letters {
 public:
  letters(base::byte_source& bytes, std::function<void()> const& on_read)
      : bytes_(bytes), on_read_(on_read), buffer_(chunk_bytes) {
    fill();
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;

    explicit iterator(letters* text) : text_(text) {}
    char const& operator*() const { return *text_->next_; }
    iterator& operator++() {
      if (++text_->next_ == text_->end_) text_->fill();
      return *this;
    }
    /// Only ever compares with the end.
    bool operator==(iterator const& /*end*/) const { return text_->next_ == text_->end_; }

   private:
    letters* text_;
  };
  iterator begin() { return iterator(this); }
  iterator end() { return iterator(this); }

  /// A value was read. The parser keeps all letters since then, blanks too.
  void end_value() noexcept { chunks_of_value_ = 0; }

 private:
  void fill() {
    if (++chunks_of_value_ > value_limit / chunk_bytes) {
      throw error(error_code::refused,
                  fmt::format("refused: JSON with one value, or a gap, of more than {} MiB",
                              value_limit >> 20));
    }
    next_ = buffer_.data();
    end_ = next_ + bytes_.read(std::as_writable_bytes(std::span(buffer_)));
    if (on_read_) on_read_();
  }

  base::byte_source& bytes_;
  std::function<void()> const& on_read_;
  std::vector<char> buffer_;
  char const* next_ = nullptr;
  char const* end_ = nullptr;
  std::size_t chunks_of_value_ = 0;
};

}  // namespace

class json_feed::events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit events() = default;

  void begin(pickle::sink& listener, letters& text) {
    listener_ = &listener;
    text_ = &text;
  }

  bool null() override { return push({}); }
  bool boolean(bool flag) override { return push({.bits = flag, .kind = value_kind::boolean}); }
  bool number_integer(number_integer_t number) override {
    return push({.bits = static_cast<std::uint64_t>(number), .kind = value_kind::integer});
  }
  bool number_unsigned(number_unsigned_t number) override {
    return push({.bits = number,
                 .kind = number >> 63 != 0 ? value_kind::unsigned_integer : value_kind::integer});
  }
  bool number_float(number_float_t number, string_t const&) override {
    return push({.bits = std::bit_cast<std::uint64_t>(number), .kind = value_kind::real});
  }
  bool string(string_t& content) override { return push(text(content)); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override { return push(text(name)); }
  bool start_object(std::size_t) override { return open(value_kind::dict); }
  bool start_array(std::size_t) override { return open(value_kind::list); }
  bool end_object() override { return close(false); }
  bool end_array() override { return close(false); }
  bool parse_error(std::size_t position, std::string const&,
                   nlohmann::json::exception const& reason) override {
    failed_at_ = position;
    reason_ = reason.what();
    return false;
  }

  /// After a text that ended early: closes what is open with what it has.
  void close_all() {
    while (!open_.empty()) close(true);
  }

  [[nodiscard]] value root() const { return values_.empty() ? value{} : values_.front(); }
  [[nodiscard]] std::size_t failed_at() const noexcept { return failed_at_; }
  [[nodiscard]] std::string const& reason() const noexcept { return reason_; }
  bool is_cut = false;

 private:
  struct container {
    value_kind kind;
    std::size_t first;  ///< of its items on `values_`
    std::uint64_t payload = 0;
  };

  bool push(value item) {
    text_->end_value();
    values_.push_back(item);
    if (!open_.empty()) flush_batch(open_.back());
    return true;
  }

  void flush_batch(container& list) {
    if (list.kind != value_kind::list || values_.size() - list.first < batch) return;
    list.payload = listener_->list_items(list.payload, items_of(list));
    values_.resize(list.first);
  }

  std::span<value const> items_of(container const& of) const {
    return std::span<value const>(values_).subspan(of.first);
  }

  bool open(value_kind kind) {
    text_->end_value();
    if (open_.size() >= depth_limit) {
      throw error(error_code::refused,
                  fmt::format("refused: JSON nested deeper than {} levels", depth_limit));
    }
    open_.push_back({kind, values_.size()});
    return true;
  }

  bool close(bool is_cut_here) {
    container done = open_.back();
    open_.pop_back();
    std::span<value const> items = items_of(done);
    if (done.kind == value_kind::dict) items = items.first(items.size() / 2 * 2);
    if (!items.empty()) {
      done.payload = done.kind == value_kind::dict ? listener_->dict_items(0, items, is_cut_here)
                                                   : listener_->list_items(done.payload, items);
    }
    values_.resize(done.first);
    // A row with missing keys is no row; the outermost dictionary is what there is.
    if (is_cut_here && done.kind == value_kind::dict && !open_.empty()) return true;
    return push({.bits = done.payload, .kind = done.kind, .shared = true});
  }

  value text(std::string const& content) {
    return {.bits = listener_->text(content), .kind = value_kind::text, .shared = true};
  }

  pickle::sink* listener_ = nullptr;
  letters* text_ = nullptr;
  std::vector<value> values_;
  std::vector<container> open_;
  std::size_t failed_at_ = 0;
  std::string reason_;
};

json_feed::json_feed() : events_(std::make_unique<events>()) {}
json_feed::~json_feed() = default;

value json_feed::run(base::byte_source& bytes, pickle::sink& listener,
                     json_options const& options) {
  letters text(bytes, options.on_read);
  events_->begin(listener, text);
  // A zero byte is the end as well: pages pad what they embed with them.
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), events_.get())) {
    if (!options.salvage) {
      std::string reason = events_->reason();
      if (std::size_t const colon = reason.rfind(": "); colon != std::string::npos)
        reason.erase(0, colon + 2);
      throw error(error_code::damaged, "damaged JSON: " + reason, events_->failed_at(),
                  "--salvage reads a snapshot up to the damage");
    }
    events_->close_all();
    events_->is_cut = true;
  }
  return events_->root();
}

bool json_feed::is_cut() const noexcept { return events_->is_cut; }

}  // namespace memreplay::input
