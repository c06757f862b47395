// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The fork: which compiled back end runs this replay. Decided once a run, never per step.
#pragma once

#include <string>

#include <memreplay/plan.hpp>

#include "kernels/kernel_api.hpp"

namespace memreplay {

struct chosen_backend {
  kernels::backend const* engine = nullptr;
  std::string reason;  ///< why this one, one sentence
};

/// Automatic takes CUDA when a device can run it, else the host. Throws `error` (no_device) when
/// CUDA was asked for and cannot run.
[[nodiscard]] chosen_backend choose_backend(backend_choice wanted);

}  // namespace memreplay
