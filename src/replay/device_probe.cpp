// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Asks the CUDA runtime for a device that our code was compiled for. Compiled in builds with CUDA
// only.
#include "replay/device_probe.hpp"

#include <cuda_runtime_api.h>

namespace memreplay {
namespace {

device_probe unusable(std::string reason) { return {false, std::move(reason)}; }

device_probe unusable(char const* what, cudaError_t status) {
  (void)cudaGetLastError();  // the runtime remembers the last error
  return unusable(std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace

device_probe probe_device() {
  int count = 0;
  if (cudaError_t const status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    return unusable("no usable CUDA device", status);
  }
  if (count == 0) return unusable("no CUDA device was found");
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaError_t const status = cudaGetDevice(&device); status != cudaSuccess) {
    return unusable("no usable CUDA device", status);
  }
  if (cudaError_t const status = cudaGetDeviceProperties(&properties, device);
      status != cudaSuccess) {
    return unusable("the CUDA device does not say what it is", status);
  }
  std::string const name = std::string(properties.name) + " (compute capability " +
                           std::to_string(properties.major) + "." +
                           std::to_string(properties.minor) + ")";
  if (!runs_on(MEMREPLAY_CUDA_ARCHITECTURES, properties.major, properties.minor)) {
    return unusable("this build has no code for " + name +
                    ", only for " MEMREPLAY_CUDA_ARCHITECTURES);
  }
  // Creates the context: a device that is lost, full or forbidden says so here.
  if (cudaError_t const status = cudaFree(nullptr); status != cudaSuccess) {
    return unusable((name + " cannot be used").c_str(), status);
  }
  return {true, name};
}

}  // namespace memreplay
