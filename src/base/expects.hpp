// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Checks of our own promises. A failing one is a bug of memreplay, never a property of the input.
#pragma once

#include <stdexcept>
#include <string>

/// `condition` is a pure predicate; it is checked in every build, since the places that use it are
/// cheap.
#define MEMREPLAY_EXPECTS(condition)                                                            \
  ((condition) ? static_cast<void>(0)                                                           \
               : throw std::logic_error(std::string{"internal error: "} + #condition + " at " + \
                                        __FILE__ + ":" + std::to_string(__LINE__)))
