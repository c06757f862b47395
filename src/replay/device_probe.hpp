// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Whether this machine can run the CUDA back end, and why not: asked before anything touches the
// device.
#pragma once

#include <string>
#include <string_view>

namespace memreplay {

struct device_probe {
  bool is_usable = false;
  std::string reason;  ///< one sentence: the device found, or what is missing
};

/// Asks the driver. Costs nothing without one; never throws. Exists in builds with CUDA only.
[[nodiscard]] device_probe probe_device();

/// Whether code compiled for `architectures` runs on a device of the given compute capability. The
/// list is CMake's, separated by commas: `80-real` is machine code for 8.x with x >= 0,
/// `120-virtual` is portable code for 12.0 and later, `120` is both; a letter at the end (`90a`)
/// means that one device only.
[[nodiscard]] bool runs_on(std::string_view architectures, int major, int minor);

}  // namespace memreplay
