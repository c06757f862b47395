// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// A JSON snapshot, told to the same listener as a pickle.
#pragma once

#include <functional>
#include <memory>

#include "base/byte_source.hpp"
#include "pickle/sink.hpp"

namespace memreplay::input {

struct json_options {
  bool salvage = false;  ///< a text that ends early is read up to its end
  /// Called now and then while bytes are read; may be empty.
  std::function<void()> on_read;
};

class json_feed final {
 public:
  json_feed();
  json_feed(json_feed const&) = delete;
  json_feed& operator=(json_feed const&) = delete;
  ~json_feed();

  /// Reads `bytes` up to the end of the object at least. Throws `error` (damaged) with the byte
  /// offset, (refused) beyond 256 levels or 16 MiB of one value.
  [[nodiscard]] pickle::value run(base::byte_source& bytes, pickle::sink& listener,
                                  json_options const& options);
  [[nodiscard]] bool is_cut() const noexcept;

 private:
  class events;
  std::unique_ptr<events> events_;
};

}  // namespace memreplay::input
