# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The known answers about a file, taken from the allocator while it runs.

Order is list order. `allocated` falls at the first free that the trace shows of a block, which is
free_requested; `active` falls at free_completed. A peak's event is the first after which the
maximum holds, -1 standing for the moment before the first event.
"""

from collections import Counter

NO_FRAMES = "<no frames>"


class Curve:
    """A sum that is known only up to its start value until the end."""

    __slots__ = ("value", "peak", "peak_event")

    def __init__(self):
        self.value = self.peak = 0
        self.peak_event = -1

    def rise(self, amount, index):
        self.value += amount
        if self.value > self.peak:
            self.peak = self.value
            self.peak_event = index


class BlockCurves:
    """Requested and block bytes, of all blocks and of those born in the trace."""

    def __init__(self):
        self.requested, self.block = Curve(), Curve()
        self.trace_requested, self.trace_block = Curve(), Curve()

    def rise(self, block, index):
        self.requested.rise(block.requested, index)
        self.block.rise(block.size, index)
        self.trace_requested.rise(block.requested, index)
        self.trace_block.rise(block.size, index)

    def fall(self, block, is_born_in_trace):
        self.requested.value -= block.requested
        self.block.value -= block.size
        if is_born_in_trace:
            self.trace_requested.value -= block.requested
            self.trace_block.value -= block.size

    def answers(self, end_blocks):
        requested = sum(block.requested for block in end_blocks)
        return {
            "requested": curve_answers(self.requested, requested, self.trace_requested),
            "block": curve_answers(
                self.block, sum(block.size for block in end_blocks), self.trace_block
            ),
        }


def curve_answers(curve, end, trace_curve=None):
    """Absolute values: the curve starts so that it ends at the state in the segments."""
    start = end - curve.value
    answers = {
        "start": start,
        "end": end,
        "peak": start + curve.peak,
        "peak_event": curve.peak_event,
    }
    if trace_curve is not None:
        answers["trace_peak"] = trace_curve.peak
        answers["trace_peak_event"] = trace_curve.peak_event
        answers["trace_end"] = trace_curve.value
    return answers


class Truth:
    """Watches the kept events of one device."""

    def __init__(self, first_kept, skipped_actions):
        self._first_kept = first_kept
        self._skipped = skipped_actions
        self._requests_are_free = "free_completed" in skipped_actions
        self._completions_are_first = "free_requested" in skipped_actions
        self._events = Counter()
        self._allocated = BlockCurves()
        self._active = BlockCurves()
        self._reserved = Curve()
        self._requested = set()  # blocks between the two events of their free
        self._unmatched = Counter()

    @property
    def peak_event(self):
        """Of the allocated requested bytes: where the live set is wanted."""
        return self._allocated.requested.peak_event

    def allocated_blocks(self, allocator):
        """The blocks that this trace shows as allocated at this moment."""
        blocks = list(allocator.live.values())
        if self._completions_are_first:
            blocks += allocator.pending.values()
        return blocks

    def observe(self, index, action, addr, size, stream, time_us, traceback, pool_id, block):
        self._events[action] += 1
        if action == "alloc":
            self._allocated.rise(block, index)
            self._active.rise(block, index)
        elif action == "free_requested":
            self._see_first_free(block)
            self._allocated.fall(block, self._is_born_in_trace(block))
            if self._requests_are_free:
                self._active.fall(block, self._is_born_in_trace(block))
            else:
                self._requested.add(block)
        elif action == "free_completed":
            is_born_in_trace = self._is_born_in_trace(block)
            self._active.fall(block, is_born_in_trace)
            if block in self._requested:
                self._requested.discard(block)
            else:
                self._see_first_free(block, "completed_only")
                if is_born_in_trace or self._completions_are_first:
                    self._allocated.fall(block, is_born_in_trace)
        elif action in ("segment_alloc", "segment_map"):
            self._reserved.rise(size, index)
        elif action in ("segment_free", "segment_unmap"):
            self._reserved.value -= size

    def _is_born_in_trace(self, block):
        return block.birth is not None and block.birth >= self._first_kept

    def _see_first_free(self, block, kind="requested"):
        if not self._is_born_in_trace(block):
            self._unmatched[kind] += 1
            self._unmatched[kind + "_bytes"] += block.requested

    def answers(self, process, start, live_set):
        """`start` is what was there before the first event, `live_set` what was at the peak."""
        allocator = process.allocator
        allocated = list(allocator.live.values())
        pending = list(allocator.pending.values())
        answers = {
            "device": process.device,
            "events": sum(self._events.values()),
            "events_by_action": dict(sorted(self._events.items())),
            "complete_history": bool(
                process.recorded_from_start and not self._first_kept and not self._skipped
            ),
            "allocated": self._allocated.answers(allocated),
            "active": self._active.answers(allocated + pending),
            "reserved": curve_answers(self._reserved, allocator.driver.used),
            "max_memory_allocated_since_start": allocator.max_allocated_bytes,
            "max_memory_reserved_since_start": allocator.max_reserved_bytes,
            "carried_in": start,
            "unmatched_frees": {
                "count": self._unmatched["requested"] + self._unmatched["completed_only"],
                "bytes": self._unmatched["requested_bytes"]
                + self._unmatched["completed_only_bytes"],
                "completed_only": self._unmatched["completed_only"],
                "completed_only_bytes": self._unmatched["completed_only_bytes"],
            },
            "ooms": self._events["oom"],
            "pending_at_end": {
                "blocks": len(pending),
                "bytes": sum(block.requested for block in pending),
                "block_bytes": sum(block.size for block in pending),
            },
            # Without alloc events the peak stands between two recorded events.
            "live_set_at_peak": None if "alloc" in self._skipped else live_set,
        }
        answers["max_memory_allocated"] = answers["allocated"]["block"]["peak"]
        answers["max_memory_reserved"] = answers["reserved"]["peak"]
        return answers


def carried_in(allocator):
    """The blocks of this moment, counted."""
    blocks = list(allocator.live.values())
    pending = list(allocator.pending.values())
    return {
        "blocks": len(blocks),
        "bytes": sum(block.requested for block in blocks),
        "block_bytes": sum(block.size for block in blocks),
        "pending_blocks": len(pending),
        "pending_bytes": sum(block.requested for block in pending),
        "pending_block_bytes": sum(block.size for block in pending),
    }


def live_set(blocks, first_kept):
    """The blocks by the site of their alloc, known or not to the file, the largest first."""
    sizes, counts = Counter(), Counter()
    for block in blocks:
        site = block.traceback.value.site if block.traceback else None
        is_carried_in = block.birth is None or block.birth < first_kept
        sizes[site or NO_FRAMES, is_carried_in] += block.requested
        counts[site or NO_FRAMES, is_carried_in] += 1
    return {
        "bytes": sum(sizes.values()),
        "count": sum(counts.values()),
        "sites": [
            {"site": key[0], "carried_in": key[1], "bytes": sizes[key], "count": counts[key]}
            for key in sorted(sizes, key=lambda key: (-sizes[key], key))
        ],
    }
