// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Chooses the back end; the engine's one place that knows whether CUDA was compiled in.
#include "replay/backend.hpp"

#include <memreplay/error.hpp>

#include "replay/device_probe.hpp"

namespace memreplay {
namespace {

#if MEMREPLAY_HAS_CUDA
device_probe probe() { return probe_device(); }
kernels::backend const& cuda_engine() { return kernels::cuda_backend(); }
#else
device_probe probe() { return {false, "this build has no CUDA back end"}; }
/// Never called: nothing is usable.
kernels::backend const& cuda_engine() { return kernels::host_backend(); }
#endif

}  // namespace

chosen_backend choose_backend(backend_choice wanted) {
  if (wanted == backend_choice::host) return {&kernels::host_backend(), "asked for"};
  device_probe const found = probe();
  if (found.is_usable) return {&cuda_engine(), found.reason};
  if (wanted == backend_choice::cuda) {
    throw error(error_code::no_device, "the CUDA back end cannot run: " + found.reason,
                "use --backend host, or auto");
  }
  return {&kernels::host_backend(), found.reason};
}

}  // namespace memreplay
