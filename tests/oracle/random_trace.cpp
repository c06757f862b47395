// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Walks a toy allocator, and steps out of line as often as the wanted disorder says.
#include "random_trace.hpp"

#include <algorithm>
#include <ostream>
#include <random>
#include <utility>

namespace memreplay::test {
namespace {

enum class state { untouched, carried_in, live, pending, closed };

class generator {
 public:
  explicit generator(random_options const& options) : options_(options), random_(options.seed) {
    auto const count = static_cast<std::size_t>(options.addresses);
    states_.assign(count, state::untouched);
    sizes_.assign(count, 0);
    for (std::size_t slot = 0; slot < count; ++slot) {
      // Every other trace is spread over all 64 bits, which real addresses never are.
      addresses_.push_back(options.seed % 2 == 0 ? random_()
                                                 : 0x7f12'0000'0000 + slot * 512 * (1 + slot % 3));
      if (kind() != disorder::none && chance(30)) {
        states_[slot] = state::carried_in;
        sizes_[slot] = any_size();
      }
    }
  }

  trace make() {
    for (std::int64_t event = 0; event < options_.events; ++event) add_event();
    add_end_state();
    return std::move(made_);
  }

 private:
  [[nodiscard]] disorder kind() const { return options_.kind; }
  [[nodiscard]] bool is_chaotic() const {
    return kind() == disorder::everything || kind() == disorder::huge_sizes ||
           kind() == disorder::no_end_state;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  std::uint64_t any_size() {
    return kind() == disorder::huge_sizes && chance(50) ? random_() : below(5000);
  }
  std::uint32_t any_stack() {
    return chance(5) ? to_row(no_stack) : static_cast<std::uint32_t>(below(40));
  }

  void add(action what, std::size_t slot, std::uint64_t size) {
    if (is_chaotic() && chance(2)) size = any_size();
    made_.add(what, addresses_[slot], size, any_stack());
    if (chance(10)) made_.time_us.back() -= static_cast<std::int64_t>(below(50));
  }

  void add_event() {
    if (chance(6)) {
      auto const what = static_cast<action>(3 + below(action_count - 3));
      made_.add(what, random_(), any_size(), any_stack());
      return;
    }
    std::size_t const slot = below(addresses_.size());
    if (is_chaotic() && chance(5)) {
      add_out_of_line(slot);
      return;
    }
    bool const requests = kind() != disorder::no_requests;
    bool const completions = kind() != disorder::no_completions;
    switch (states_[slot]) {
      case state::untouched:
      case state::closed:
        sizes_[slot] = any_size();
        add(action::alloc, slot, sizes_[slot]);
        states_[slot] = state::live;
        break;
      case state::live:
      case state::carried_in:
        if (requests && !(states_[slot] == state::carried_in && chance(30) && completions)) {
          add(action::free_requested, slot, sizes_[slot]);
          states_[slot] = completions ? state::pending : state::closed;
        } else {
          add(action::free_completed, slot, sizes_[slot]);
          states_[slot] = state::closed;
        }
        break;
      case state::pending:
        add(action::free_completed, slot, sizes_[slot]);
        states_[slot] = state::closed;
        break;
    }
  }

  void add_out_of_line(std::size_t slot) {
    auto const what = static_cast<action>(below(3));
    sizes_[slot] = what == action::alloc ? any_size() : sizes_[slot];
    add(what, slot, sizes_[slot]);
    states_[slot] = what == action::alloc            ? state::live
                    : what == action::free_requested ? state::pending
                                                     : state::closed;
  }

  void add_end_state() {
    made_.has_segments = kind() != disorder::no_end_state;
    made_.reserved_end_bytes = static_cast<std::int64_t>(below(1'000'000));
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t slot = 0; slot < addresses_.size(); ++slot)
      order.emplace_back(addresses_[slot], slot);
    std::sort(order.begin(), order.end());
    for (auto const& [address, slot] : order) {
      if (!made_.block_address.empty() && made_.block_address.back() == address) continue;
      state const at_end = states_[slot];
      bool in_use =
          at_end == state::live || at_end == state::pending || at_end == state::carried_in;
      bool is_pending = at_end == state::pending;
      std::uint64_t size = sizes_[slot];
      if (is_chaotic() && chance(10)) in_use = !in_use;
      if (is_chaotic() && chance(5)) is_pending = !is_pending;
      if (is_chaotic() && chance(5)) size = any_size();
      if (kind() != disorder::none && at_end == state::carried_in && chance(20)) is_pending = true;
      if (kind() == disorder::no_completions && at_end == state::closed && chance(20))
        in_use = is_pending = true;
      if (in_use) made_.block(address, size, is_pending, any_stack());
    }
  }

  random_options options_;
  std::mt19937_64 random_;
  std::vector<std::uint64_t> addresses_;
  std::vector<state> states_;
  std::vector<std::uint64_t> sizes_;
  trace made_;
};

}  // namespace

trace make_random_trace(random_options const& options) { return generator(options).make(); }

std::vector<random_options> random_cases(std::int64_t largest) {
  std::vector<random_options> cases;
  std::uint64_t seed = 1;
  for (std::int64_t const events : {0, 1, 2, 3, 31, 32, 33, 1000, 10'000, 200'000}) {
    if (events > largest) continue;
    for (disorder const kind :
         {disorder::none, disorder::carried_in, disorder::everything, disorder::no_requests,
          disorder::no_completions, disorder::huge_sizes, disorder::no_end_state}) {
      for (std::int64_t const addresses : {1, 5, 300})
        cases.push_back({seed++, events, addresses, kind});
    }
  }
  return cases;
}

std::ostream& operator<<(std::ostream& out, random_options const& options) {
  return out << "seed " << options.seed << ", " << options.events << " events, "
             << options.addresses << " addresses, disorder " << static_cast<int>(options.kind);
}

}  // namespace memreplay::test
