// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The first bytes come from memory, all others straight from the source.
#include "input/peeked_source.hpp"

#include <algorithm>
#include <utility>

namespace memreplay::input {

peeked_source::peeked_source(std::unique_ptr<base::byte_source> inner)
    : inner_(std::move(inner)), start_(peeked_bytes) {
  start_.resize(inner_->read(start_));
}

std::size_t peeked_source::read(std::span<std::byte> into) {
  std::uint64_t const at = position_;
  std::size_t const known = std::min<std::uint64_t>(at, start_.size());
  std::size_t const copied = std::min(into.size(), start_.size() - known);
  std::copy_n(start_.data() + known, copied, into.data());
  std::size_t const count = copied + inner_->read(into.subspan(copied));
  position_ = at + count;
  return count;
}

bool peeked_source::seek(std::uint64_t offset) {
  if (!inner_->seek(std::max<std::uint64_t>(offset, start_.size()))) return false;
  position_ = offset;
  return true;
}

}  // namespace memreplay::input
