# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that come to their end: near the edge or not, they never run out of memory."""

from .oom_scenarios import Fragmented
from .scenario import Scenario


class Steady(Scenario):
    """Nothing but training."""


class HealthyFragmented(Fragmented):
    """Pinned segments, and a driver that has memory left."""

    segments = 12


class NearFull(Scenario):
    """Resident tables leave as much as the longest batch needs, and hardly more.

    A checkpoint is gathered in memory that only a return of the cache can give.
    """

    def __init__(self, process, stacks, options):
        super().__init__(process, stacks, options)
        self._is_full = False
        self._step_number = 0

    def _work(self, step):
        self._step_number = step
        self._step(step)
        if self._is_full and step % 2 == 1:
            size = self._allocator.available + self._allocator.releasable() // 2
            self._free("collect", "checkpoint", self._malloc("collect", "checkpoint", size))
            self._empty_cache()

    def _sequence_length(self):
        longest = self._options.sequence * 3 // 2
        return longest if self._step_number <= 1 else int(longest * self._between(0.4, 1))

    def _forward(self, phase, sizes):
        """From the second step on the states of the optimizer are there, and all is cached."""
        saved = super()._forward(phase, sizes)
        if not self._is_full and self._step_number == min(1, self._options.steps - 1):
            self._is_full = True
            self._fill("resident", "shard", leave=sizes["logits"] * 3 // 2 + self._percent)
        return saved


class Streams(Scenario):
    """Frees that wait for other streams."""

    defaults = dict(Scenario.defaults, streams=3)


class GraphPool(Scenario):
    """A captured graph keeps its memory."""

    def _work(self, step):
        self._step(step)
        if step == 0:
            self._capture_graph()
