# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The truth about addresses: which segments and blocks an allocator holds after an event.

The events of one call tell of one change, so a map is taken only where a call is over.
"""

from bisect import bisect_left
from collections import defaultdict

from .allocator import FREE
from .layout import STATES


def segment_rows(allocator):
    """Each contiguous range that has memory, by address."""
    return [
        {
            "address": blocks[0].addr,
            "size": sum(block.size for block in blocks),
            "stream": segment.stream,
            "small": segment.pool.is_small,
            "pool": list(segment.pool.pool_id),
            "expandable": segment.expandable,
            "blocks": [block_row(block) for block in blocks],
        }
        for segment, blocks in allocator.mapped_ranges()
    ]


def block_row(block):
    return {
        "address": block.addr,
        "size": block.size,
        # A free block still shows what its last owner asked for, which says nothing.
        "requested": 0 if block.state == FREE else block.requested,
        "state": STATES[block.state],
    }


def hole_rows(segments):
    """The free bytes of each (stream, size class, pool), and the largest block of them."""
    holes = defaultdict(lambda: [0])
    for segment in segments:
        key = (segment["stream"], segment["small"], tuple(segment["pool"]))
        holes[key] += [
            block["size"] for block in segment["blocks"] if block["state"] == STATES[FREE]
        ]
    return [
        {
            "stream": stream,
            "small": is_small,
            "pool": list(pool_id),
            "largest_hole": max(holes[stream, is_small, pool_id]),
            "free_bytes": sum(holes[stream, is_small, pool_id]),
        }
        for stream, is_small, pool_id in sorted(holes)
    ]


class CallEnds:
    """The kept events with which a call ended."""

    def __init__(self):
        self._events = []

    def note(self, event):
        if event >= 0 and event not in self._events[-1:]:
            self._events.append(event)

    def spread(self, count):
        """About `count` of them, as evenly as they stand: the nearest to each wanted event."""
        if not self._events:
            return []
        last = self._events[-1]
        wanted = {last * index // max(1, count - 1) for index in range(count)}
        return sorted({self._nearest(event) for event in wanted})

    def _nearest(self, event):
        behind = bisect_left(self._events, event)
        return min(self._events[max(0, behind - 1) : behind + 1], key=lambda end: abs(end - event))


class MapTaker:
    """Takes the maps after these events."""

    def __init__(self, allocator, events):
        self._allocator = allocator
        self._wanted = set(events)
        self.maps = []

    def look(self, event):
        if event in self._wanted:
            self._wanted.remove(event)
            self.maps.append({"event": event, "segments": segment_rows(self._allocator)})
