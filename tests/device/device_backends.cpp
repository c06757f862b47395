// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The back end of the device tests: CUDA, or the reason why it cannot run here.
#include "replay/device_probe.hpp"
#include "steps/tested_backend.hpp"

namespace memreplay::test {

std::vector<tested_backend> backends_under_test() {
  device_probe const found = probe_device();
  tested_backend cuda;
  cuda.name = "cuda";
  if (found.is_usable) {
    cuda.engine = &kernels::cuda_backend();
  } else {
    cuda.skip_reason = found.reason;
  }
  return {cuda};
}

}  // namespace memreplay::test
