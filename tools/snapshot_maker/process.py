# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The process on one device: its allocator, its clock, and the recording of its history."""

from .allocator import DEFAULT_POOL, Allocator
from .document import Traceback

EPOCH_US = 1_760_000_000_000_000


class RecordingFull(Exception):
    """The wanted number of events is recorded."""


class Process:
    """What a training program sees of one device.

    Each kept event goes to
    `sink(index, action, addr, size, stream, time_us, traceback, pool_id, block)`.
    The index counts from the first event that the ring buffer still holds, which is the recorded
    event number `first_kept`.
    """

    def __init__(self, device, settings, recording, first_kept=0, known_tracebacks=()):
        self.device = device
        self.allocator = Allocator(device, settings, self._record)
        self.allocator.keeps_history = recording.release_2_0
        self.sink = None
        self.at_call_end = None  # called with the last event that is recorded then
        self.is_recording = False
        self.recorded_from_start = False
        self.recorded = 0
        self.annotations = []
        self.first_kept = first_kept
        self._recording = recording
        self._known_tracebacks = dict(known_tracebacks)
        self._calls = 0
        self._now_us = EPOCH_US

    # Memory. The stack says who calls.

    def malloc(self, size, stack, stream=0, pool_id=DEFAULT_POOL):
        if self._is_near_limit():
            self._need_room_for(self.allocator.most_events(size, stream, pool_id))
        try:
            return self.allocator.malloc(size, stream, self._gather(stack), pool_id)
        finally:
            self._end_call()

    def free(self, block, stack):
        if self._is_near_limit():
            self._need_room_for(2)
        gathers = self._recording.context == "all"
        self.allocator.free(block, self._gather(stack, gathers))
        self._end_call()

    def record_stream(self, block, stream):
        self.allocator.record_stream(block, stream)

    def empty_cache(self, stack):
        if self._is_near_limit():
            self._need_room_for(self.allocator.most_events_to_release())
        gathers = self._recording.context == "all"
        self.allocator.empty_cache(self._gather(stack, gathers))
        self._end_call()

    def set_memory_limit(self, limit):
        """What set_per_process_memory_fraction sets."""
        self.allocator.memory_limit = limit

    def set_outside_memory(self, size):
        """What other processes and libraries hold from now on."""
        driver = self.allocator.driver
        driver.outside = min(size, driver.capacity - driver.used)

    # Recording

    def start_recording(self):
        self.is_recording = True
        self.recorded_from_start = self._calls == 0

    def take_snapshot(self):
        """What another dump leaves in the trace."""
        if self._is_near_limit():
            self._need_room_for(1)
        self._record_snapshot()

    def annotate(self, name, stage):
        self.wait(3)
        if self.is_recording:
            self.annotations.append((name, stage, self.device, self._now_us))

    def wait(self, us):
        self._now_us += us

    def _gather(self, stack, wanted=True):
        """The traceback of this call, unless the recording does not want one."""
        self._calls += 1
        self._now_us += 9 + self._calls * 7919 % 37
        if not (self.is_recording and wanted and self._recording.context != "none"):
            return None
        return self._known_tracebacks.get(self._calls) or Traceback(stack, self._calls)

    def _record(self, action, addr, size, stream, traceback, pool_id, block):
        if not self.is_recording or action in self._recording.skipped_actions:
            return
        if action == "alloc":
            block.birth = self.recorded
        elif self._recording.release_2_0 and block is not None and block.birth is None:
            return  # it recorded the frees of blocks it had seen allocated
        index = self.recorded - self.first_kept
        self.recorded += 1
        if index >= 0:
            self.sink(
                index, action, addr, size, stream, self._now_us, traceback, pool_id, block
            )  # fmt: skip

    def _record_snapshot(self):
        self._record("snapshot", 0, self.allocator.active_bytes, 0, None, DEFAULT_POOL, None)
        self._end_call()

    @property
    def last_event(self):
        """The last event recorded so far; negative if the file will not hold it."""
        return self.recorded - self.first_kept - 1

    def _end_call(self):
        if self.at_call_end is not None:
            self.at_call_end(self.last_event)

    # A call records all of its events or none, so the last free places are filled by events that
    # come alone.

    def _is_near_limit(self):
        return self.is_recording and self._recording.limit - self.recorded < 4096

    def _need_room_for(self, events):
        if self._recording.limit - self.recorded >= events:
            return
        skips_snapshots = "snapshot" in self._recording.skipped_actions
        while self.recorded < self._recording.limit and not skips_snapshots:
            self._record_snapshot()
        self.is_recording = False
        raise RecordingFull
