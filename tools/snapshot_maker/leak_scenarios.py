# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""A loop in which one site keeps a little more in each step, and others only seem to.

What grows and is no leak: a table that is complete after a third of the steps, graphs that are
captured in the first steps, and a window that is emptied after every fifth step.
"""

from .allocator import MIB
from .scenario import Scenario

LEAK = ("metrics", "leaky_append")
PLATEAU = ("positions", "arange")
WINDOW = ("window", "stack")
WINDOW_STEPS = 5
CAPTURED_STEPS = 3


class NoLeak(Scenario):
    """All that the leak has around it."""

    defaults = dict(Scenario.defaults, steps=20, batch=12)
    bytes_per_step = 0

    def __init__(self, process, stacks, options):
        super().__init__(process, stacks, options)
        self._first_events = []
        self._window = []
        self._window_start = int(self._between(0, WINDOW_STEPS))
        self._leaked_blocks = 1 << int(self._between(0, 4))

    def _work(self, step):
        self._first_events.append(max(0, self._process.last_event + 1))
        self._step(step)
        if self.bytes_per_step:
            self._leak()
        if step < self._options.steps // 3:
            self._grow(PLATEAU, int(self._between(3, 5) * MIB))
        if step < CAPTURED_STEPS:
            self._capture_graph()
        self._push_window(step)

    def _sequence_length(self):
        return int(self._options.sequence * self._between(0.7, 1.3))

    def _grow(self, site, size):
        """A block from the first variant of the site's stacks, so that it is one site."""
        return self._process.malloc(size, self._stacks.find(*site, draw=0), self._streams[0])

    def _leak(self):
        for _ in range(self._leaked_blocks):
            self._grow(LEAK, self.bytes_per_step // self._leaked_blocks)

    def _push_window(self, step):
        self._window.append(self._grow(WINDOW, int(1.5 * MIB)))
        if (step + self._window_start) % WINDOW_STEPS == WINDOW_STEPS - 1:
            for block in self._window:
                self._free(*WINDOW, block)
            self._window = []

    def _describe(self, error=None):
        grown = [("plateau", PLATEAU), ("sawtooth", WINDOW)]
        return dict(
            super()._describe(error),
            leak_site=self._frame(*LEAK) if self.bytes_per_step else None,
            bytes_per_step=self.bytes_per_step,
            blocks_per_step=self._leaked_blocks if self.bytes_per_step else 0,
            first_events=self._first_events,
            not_leaks=[dict(self._frame(*site), kind=kind) for kind, site in grown],
        )

    def _frame(self, phase, op):
        function, filename, line = self._stacks.blamed_frame(phase, op)
        return {"function": function, "file": filename, "line": line}


class Leak(NoLeak):
    """1 MiB more in each step."""

    bytes_per_step = MIB
