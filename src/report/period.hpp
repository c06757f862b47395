// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Finds what repeats in a curve, where nobody marked the steps.
#pragma once

#include <cstdint>
#include <vector>

#include <memreplay/plan.hpp>
#include <memreplay/snapshot.hpp>

namespace memreplay::reporting {

/// The repetitions, each from one low point of the curve to the next; what lies before the first
/// and behind the last belongs to none. Empty when nothing repeats at least three times.
///
/// The curve (recorded bytes, by events) is sampled; its autocorrelation is greatest, apart from
/// the trivial shift, where the curve lies on itself one period later. Where steps are too unequal
/// for that, its swings between low and high are taken, if most are about equally long.
[[nodiscard]] std::vector<event_range> find_period(snapshot const& input, std::int32_t device);

}  // namespace memreplay::reporting
