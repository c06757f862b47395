# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""A training program in which something happens on purpose, and which knows what.

The loop and its noise are those of workload.py. A scenario looks at its allocator, which a program
cannot do, to plant its cause whatever the seed and the size of the device.
"""

from .address_map import hole_rows, segment_rows
from .allocator import MIB, UNLIMITED, OutOfMemory
from .workload import TrainingLoop, activation_sizes

CUDA_CONTEXT = 512 * MIB  # the driver's own share of the device
SMALLEST_LEAVE = 64 * MIB


class Scenario(TrainingLoop):
    """Steps of `_work`, in the last of which an OOM may be planted."""

    cause = None
    defaults = dict(TrainingLoop.defaults, steps=4)

    def __init__(self, process, stacks, options):
        super().__init__(process, stacks, options)
        self._allocator = process.allocator
        self._percent = options.capacity // 100
        self._is_doomed = False  # the next malloc is meant to fail
        self._planted = None

    def run(self):
        options = self._options
        self._process.set_outside_memory(CUDA_CONTEXT)
        if options.record_from_step is None:
            self._process.start_recording()
        try:
            self._build_model()
            for step in range(options.steps):
                if step == options.record_from_step:
                    self._process.start_recording()
                with self._step_marker(step):
                    self._work(step)
            self._planted = self._describe()
        except OutOfMemory as error:
            if not self._is_doomed:
                self._give_up("the device is too small")
            self._planted = self._describe(error)
            for block in list(reversed(self._in_flight))[: options.frees_after_oom]:
                self._drop("forward", "unwind", block)

    def answers(self):
        return {"planted": self._planted}

    def _describe(self, error=None):
        """What is there at this moment: when the request failed, else at the end."""
        allocator, driver = self._allocator, self._allocator.driver
        limit = allocator.memory_limit
        segments = segment_rows(allocator)
        holes = hole_rows(segments)
        return {
            "scenario": self._options.scenario,
            "cause": self.cause,
            "event": self._event_of(error),
            "request_bytes": error and error.size,
            "request_stream": error and error.stream,
            "request_pool": error and list(error.pool_id),
            "capacity": driver.capacity,
            "memory_limit": None if limit == UNLIMITED else limit,
            "outside_bytes": driver.outside,
            "device_free": driver.free,
            "reserved_bytes": driver.used,
            "allocated_bytes": allocator.allocated_bytes,
            "pending_bytes": allocator.active_bytes - allocator.allocated_bytes,
            "free_bytes": sum(hole["free_bytes"] for hole in holes),
            "largest_hole": holes,
            "segments": segments,
        }

    def _event_of(self, error):
        is_recorded = error is not None and "oom" not in self._options.skip_actions
        event = self._process.last_event
        return event if is_recorded and event >= 0 else None

    def _give_up(self, reason):
        raise SystemExit("--scenario %s: %s" % (self._options.scenario, reason))

    # What scenarios are made of

    def _work(self, step):
        self._step(step)

    def _is_last(self, step):
        return step == self._options.steps - 1

    def _between(self, low, high):
        return low + self._random() * (high - low)

    def _share(self, low, high):
        """So many per cent of the device."""
        return int(self._percent * self._between(low, high))

    def _obtainable(self):
        """The bytes that the driver could give after a return of the cache."""
        return self._allocator.available + self._allocator.releasable()

    def _fill(self, phase, op, leave):
        """Holds tensors until no more than `leave` bytes are obtainable."""
        leave = max(leave, SMALLEST_LEAVE)
        while self._obtainable() > leave:
            size = min(self._share(0.1, 0.7), self._obtainable() - leave)
            self._malloc(phase, op, max(size, 3 * MIB))

    def _open_batch(self):
        """Activations of a short batch, in flight when the program dies."""
        sizes = activation_sizes(self._batch, 1 + self._options.sequence // 8, self._options.hidden)
        self._forward("evaluate", sizes)

    def _settle(self):
        """Until the other streams are done with what was freed."""
        while self._process.allocator.pending:
            self._free("data", "poll", self._malloc("data", "poll", 4096))

    def _doom(self, phase, op, size, **place):
        """The request that must fail."""
        self._is_doomed = True
        self._malloc(phase, op, size, **place)
        self._give_up("the last request did not fail")
