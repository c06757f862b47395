// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The back ends that a test binary was linked with; the test bodies are the same for all.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/kernel_api.hpp"

namespace memreplay::test {

/// A back end, and the circumstances it runs in (a number of threads).
struct tested_backend {
  std::string name;                          ///< of the test: letters, digits, underscores
  kernels::backend const* engine = nullptr;  ///< null: not usable here
  std::string skip_reason;                   ///< why not
  std::function<void(std::function<void()> const&)> inside = [](auto const& work) { work(); };
};

inline std::ostream& operator<<(std::ostream& out, tested_backend const& tested) {
  return out << tested.name;
}

/// Defined by each test binary: `tests/steps` has the host's, `tests/device` the GPU's.
[[nodiscard]] std::vector<tested_backend> backends_under_test();

/// A fixture whose tests run once a back end, and are skipped aloud where it cannot run.
class StepTest : public ::testing::TestWithParam<tested_backend> {
 protected:
  void SetUp() override {
    if (GetParam().engine == nullptr)
      GTEST_SKIP() << GetParam().name << ": " << GetParam().skip_reason;
  }
  /// What `call(engine)` returns, in the circumstances of this back end.
  template <class CallT>
  auto run(CallT call) const {
    std::optional<decltype(call(*GetParam().engine))> result;
    GetParam().inside([&] { result.emplace(call(*GetParam().engine)); });
    return std::move(*result);
  }
};

inline std::string name_of(::testing::TestParamInfo<tested_backend> const& info) {
  return info.param.name;
}

}  // namespace memreplay::test

/// Every test suite of steps ends with this line.
#define MEMREPLAY_TEST_ALL_BACKENDS(suite)                                                \
  INSTANTIATE_TEST_SUITE_P(On, suite,                                                     \
                           ::testing::ValuesIn(::memreplay::test::backends_under_test()), \
                           ::memreplay::test::name_of)
