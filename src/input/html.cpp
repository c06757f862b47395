// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finding and decoding the base64 member of a page's file list, chunk by chunk.
#include "input/html.hpp"

#include <algorithm>
#include <utility>

#include <memreplay/error.hpp>

namespace memreplay::input {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 17;
constexpr std::string_view member_name = "base64";

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

bool is_quote(char letter) { return letter == '"' || letter == '\''; }

}  // namespace

std::size_t member_finder::skip(std::string_view page) {
  if (state_ == state::inside) {
    std::size_t const end = page.find(quote_);
    if (end == std::string_view::npos) return page.size();
    state_ = state::name;
    return end + 1;
  }
  for (std::size_t at = 0; at < page.size(); ++at) {
    char const letter = page[at];
    if ((state_ != state::name && is_space(letter)) ||
        (state_ == state::colon && is_quote(letter))) {
      continue;
    }
    if (state_ == state::colon && letter == ':') {
      state_ = state::quote;
    } else if (state_ == state::quote && is_quote(letter)) {
      quote_ = letter;
      state_ = state::inside;
      return at + 1;
    } else {
      state_ = state::name;
      // Only the first letter of the name begins it anew: no other one is the same.
      if (letter != member_name[matched_]) matched_ = 0;
      if (letter == member_name[matched_] && ++matched_ == member_name.size()) {
        state_ = state::colon;
        matched_ = 0;
      }
    }
  }
  return page.size();
}

html_source::html_source(std::unique_ptr<base::byte_source> page, bool is_cut_allowed)
    : page_(std::move(page)), is_cut_allowed_(is_cut_allowed), buffer_(chunk_bytes) {
  while (!finder_.is_inside() && next_chunk()) chunk_.remove_prefix(finder_.skip(chunk_));
  if (!finder_.is_inside()) {
    throw error(
        error_code::not_a_snapshot, "an HTML page without an embedded snapshot",
        "an error page of a download? Pages of torch.cuda._memory_viz trace_plot can be read");
  }
  member_offset_ = page_bytes_ - chunk_.size();
  base64_decode_init(&decoder_);
}

std::size_t html_source::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    if (ready_.empty()) {
      if (has_ended_) break;
      decode_chunk();
    }
    std::size_t const count = std::min(into.size() - done, ready_.size());
    std::ranges::copy(std::as_bytes(ready_.first(count)), into.data() + done);
    ready_ = ready_.subspan(count);
    done += count;
  }
  return done;
}

/// False at the end of the page.
bool html_source::next_chunk() {
  if (!chunk_.empty()) return true;
  std::size_t const count = page_->read(std::as_writable_bytes(std::span(buffer_)));
  chunk_ = {buffer_.data(), count};
  page_bytes_ += count;
  return count > 0;
}

void html_source::decode_chunk() {
  if (!next_chunk()) {
    if (!is_cut_allowed_) {
      throw error(error_code::damaged, "the HTML page ends inside its snapshot", page_bytes_,
                  "copy it again; --salvage reads what is there");
    }
    has_ended_ = true;
    return;
  }
  std::string_view text = chunk_.substr(0, finder_.skip(chunk_));
  chunk_.remove_prefix(text.size());
  bool const is_last = !finder_.is_inside();
  if (is_last) text.remove_suffix(1);  // the quote

  decoded_.resize(BASE64_DECODE_LENGTH(text.size()));
  std::size_t length = decoded_.size();
  bool is_valid =
      base64_decode_update(&decoder_, &length, decoded_.data(), text.size(), text.data()) == 1;
  if (is_valid) {
    ready_ = std::span<std::uint8_t const>(decoded_).first(length);
    has_decoded_ = has_decoded_ || length > 0;
    is_valid = !is_last || base64_decode_final(&decoder_) == 1;
  }
  if (!is_valid && !(is_cut_allowed_ && has_decoded_)) {
    throw error(error_code::damaged, "the snapshot in the HTML page is not valid base64",
                member_offset_);
  }
  if (is_last || !is_valid) finish_page();
}

/// Counts what else the page embeds.
void html_source::finish_page() {
  has_ended_ = true;
  while (next_chunk()) {
    bool const was_inside = finder_.is_inside();
    chunk_.remove_prefix(finder_.skip(chunk_));
    if (!was_inside && finder_.is_inside()) ++other_members_;
  }
}

}  // namespace memreplay::input
