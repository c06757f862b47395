// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A JSON snapshot, told to the same listener as a pickle.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "pickle/sink.hpp"

namespace memreplay::input {

struct json_options {
  bool salvage = false;  ///< a text that ends early is read up to its end
};

/// Holds the texts of a JSON run; `root` is the object read.
class json_feed final : public pickle::text_reader {
 public:
  json_feed();
  json_feed(json_feed const&) = delete;
  json_feed& operator=(json_feed const&) = delete;
  ~json_feed();

  /// Throws `error` (damaged) with the byte offset, (refused) beyond 256 levels.
  [[nodiscard]] pickle::value run(std::span<std::byte const> bytes, pickle::sink& listener,
                                  json_options const& options);
  [[nodiscard]] std::string_view text(pickle::value const& item) const override;
  [[nodiscard]] bool is_cut() const noexcept;

 private:
  class events;
  std::unique_ptr<events> events_;
};

}  // namespace memreplay::input
