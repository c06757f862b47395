# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of a snapshot file: which keys stand in which order, release by release."""

from .allocator import ALLOCATED, FREE, MIB, UNLIMITED
from .document import Fresh, Node, Stack

RELEASES = ("2.0", "2.1", "2.2", "2.4", "2.5", "2.8", "2.10", "2.12")
STATES = ("inactive", "active_allocated", "active_pending_free")  # by Block.state
NO_CONTEXT = Fresh("N/A")


class Layout:
    """Turns events and blocks into rows."""

    def __init__(self, release, writer, ascend):
        self._release = RELEASES.index(release)
        self._is_cpp = writer == "cpp"
        self._ascend = ascend
        self._empty_frames = Node(Stack([]))
        self.event_row = self._make_event_row()

    def has(self, release):
        return self._release >= RELEASES.index(release)

    @property
    def has_settings(self):
        return self.has("2.4") and not self._ascend

    @property
    def has_annotations(self):
        return self.has("2.5") and not self._ascend

    # Events

    def _make_event_row(self):
        if not self.has("2.1"):
            return self._event_row_2_0
        has_time = self.has("2.2") and not self._ascend
        has_context = self.has("2.8") and not self._ascend
        has_metadata = self.has("2.10") and not self._ascend
        has_pool = self.has("2.12")
        time_is_late = self._is_cpp
        frees_of_segments_have_frames = self.has("2.4")

        def event_row(action, addr, size, stream, time_us, traceback, pool_id):
            place = "device_free" if action == "oom" else "addr"
            row = {"action": action, place: addr, "size": size, "stream": stream}
            if has_time and not time_is_late:
                row["time_us"] = time_us
            if has_context:
                row["compile_context"] = NO_CONTEXT
            if has_metadata:
                row["user_metadata"] = ""
            if has_time and time_is_late:
                row["time_us"] = time_us
            if has_pool:
                row["pool_id"] = pool_id
            if traceback is not None and (
                frees_of_segments_have_frames or action not in ("segment_free", "segment_unmap")
            ):
                row["frames"] = traceback
            return row

        return event_row

    @staticmethod
    def _event_row_2_0(action, addr, size, stream, time_us, traceback, pool_id):
        row = {}
        if traceback is not None:
            row["frames"] = traceback
            if traceback.cpp_frames is not None:
                row["cpp_frames"] = traceback.cpp_frames
        row["action"] = action
        row["device_free" if action == "oom" else "addr"] = addr
        row["size"] = size
        row["stream"] = stream
        return row

    # Segments

    def segment_row(self, device, segment, blocks):
        active = [block for block in blocks if block.state != FREE]
        row = {
            "device": device,
            "address": blocks[0].addr,
            "total_size": sum(block.size for block in blocks),
            "allocated_size": sum(block.size for block in active if block.state == ALLOCATED),
            "active_size": sum(block.size for block in active),
            "requested_size": sum(block.requested for block in active),
            "stream": segment.stream,
            "segment_type": "small" if segment.pool.is_small else "large",
        }
        if not self.has("2.1"):
            row["blocks"] = [self._block_row_2_0(block) for block in blocks]
            return row
        row["segment_pool_id"] = segment.pool.pool_id
        row["is_expandable"] = segment.expandable
        # A range that was mapped behind another one has no traceback of its own.
        traceback = segment.traceback if blocks[0].addr == segment.addr else None
        if traceback is None:
            row["frames"] = self._empty_frames
        row["blocks"] = [self._block_row(block) for block in blocks]
        if traceback is not None:
            row["frames"] = traceback  # known only after symbolization, so inserted last
        return row

    def _block_row(self, block):
        return {
            "address": block.addr,
            "size": block.size,
            "requested_size": block.requested,
            "state": STATES[block.state],
            "frames": block.traceback or self._empty_frames,
        }

    @staticmethod
    def _block_row_2_0(block):
        row = {
            "size": block.size,
            "requested_size": block.requested,
            "state": STATES[block.state],
        }
        if block.history:
            row["history"] = [
                {"addr": addr, "real_size": requested, "frames": traceback}
                if traceback.cpp_frames is None
                else {
                    "addr": addr,
                    "real_size": requested,
                    "frames": traceback,
                    "cpp_frames": traceback.cpp_frames,
                }
                for addr, requested, traceback in block.history
            ]
        return row

    # The rest of the file

    def annotation_row(self, name, stage, device, time_us):
        return {
            Fresh("name"): Fresh(name),
            Fresh("stage"): Fresh(stage),
            "device": device,
            "time_us": time_us,
        }

    def settings_row(self, settings):
        configuration = configuration_text(settings)
        limit = settings.max_split_size
        buckets = {
            str(1 << bit): max(0, settings.roundup_power2_divisions) for bit in range(16)
        }
        row = {
            "PYTORCH_CUDA_ALLOC_CONF": Fresh(configuration) if configuration else "",
            "max_split_size": -1 if limit == UNLIMITED else limit,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": settings.expandable,
            "pinned_num_register_threads": 1,
            "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False,
            "roundup_power2_divisions": buckets,
        }
        if self.has("2.10"):
            row["graph_capture_record_stream_reuse"] = False
        return row


def configuration_text(settings):
    """The environment variable that selects these settings."""
    parts = []
    if settings.expandable:
        parts.append("expandable_segments:True")
    if settings.max_split_size != UNLIMITED:
        parts.append("max_split_size_mb:%d" % (settings.max_split_size // MIB))
    if settings.roundup_power2_divisions > 1:
        parts.append("roundup_power2_divisions:%d" % settings.roundup_power2_divisions)
    return ",".join(parts)
