# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that run out of memory, each for one reason."""

from .allocator import LARGE_ROUNDING, LARGE_SEGMENT, MIB, round_up
from .scenario import CUDA_CONTEXT, Scenario
from .workload import GRAPH_POOL, LAYER_OPERATORS, activation_sizes


class Capacity(Scenario):
    """Batches are accumulated without a backward pass until live tensors fill the device."""

    cause = "capacity"

    def _work(self, step):
        self._step(step)
        if self._is_last(step):
            self._accumulate(leave=3 * self._percent)
            self._doom("forward", "logits", int(self._room() * self._between(1.2, 1.8)))

    def _room(self):
        """All that is not in use, cached or not, in however small pieces."""
        allocator = self._allocator
        return allocator.available + allocator.driver.used - allocator.active_bytes

    def _accumulate(self, leave):
        sizes = self._layer_sizes(self._percent // 2)
        while True:
            for op, size_name, is_saved in LAYER_OPERATORS:
                if self._room() - sizes[size_name] <= leave:
                    return
                block = self._keep(self._malloc("forward", op, sizes[size_name]))
                if not is_saved:
                    self._drop("forward", op, block)

    def _layer_sizes(self, layer_bytes):
        """Of a batch that saves about so much in a layer, padded to fill its segments."""
        hidden = self._options.hidden
        sizes = activation_sizes(1, 1, hidden)
        saved = sum(sizes[name] for _, name, is_saved in LAYER_OPERATORS if is_saved)
        tokens = int(layer_bytes // saved * self._between(0.8, 1.2))
        return activation_sizes(1, round_up(tokens, max(1, LARGE_ROUNDING // hidden)), hidden)


class Fragmented(Scenario):
    """Long-lived statistics are cut out of freed workspaces, of which features take the rest.

    When the features go, each segment is nearly empty and pinned.
    """

    needs_plain_allocator = True
    segments = 40

    def __init__(self, process, stacks, options):
        super().__init__(process, stacks, options)
        self._features = []
        self._least_statistics = self._statistics_size(self._percent * 35 // 100)

    def _work(self, step):
        self._step(step)
        steps = self._options.steps
        self._collect(self.segments * (step + 1) // steps - self.segments * step // steps)
        if self._is_last(step):
            self._open_batch()
            self._settle()
            self._finish()

    def _finish(self):
        """What fits, this time."""
        self._drop_features()
        size = self._allocator.holes(self._streams[0])[-1] + self._share(0.5, 1)
        self._free("collect", "concat", self._malloc("collect", "concat", size))

    def _collect(self, rounds):
        self._empty_cache()
        self._fill_holes()
        for _ in range(rounds):
            workspace = self._share(0.35, 0.65)
            self._free("collect", "workspace", self._malloc("collect", "workspace", workspace))
            self._malloc("collect", "running_statistics", self._statistics_size(workspace))
            self._fill_holes()

    @staticmethod
    def _statistics_size(workspace):
        return max(3 * MIB, workspace // 20)

    def _fill_holes(self):
        """Leaves none for the statistics, so that they begin the next workspace's segment."""
        while True:
            holes = self._allocator.holes(self._streams[0])
            if not holes or holes[-1] < self._least_statistics:
                return
            size = holes[-1] - int(self._between(0, MIB))
            self._features.append(self._malloc("collect", "features", size))

    def _drop_features(self):
        for block in self._features:
            self._free("collect", "features", block)
        self._features = []


class Fragmentation(Fragmented):
    """... and the holes together would do for the request that fails."""

    cause = "fragmentation"

    def _finish(self):
        self._fill("resident", "shard", leave=self._percent)
        self._drop_features()
        holes = self._allocator.holes(self._streams[0])
        least = max(self._obtainable(), holes[-1]) + MIB
        most = (sum(holes) - self._allocator.releasable()) * 3 // 4
        if least > most:
            self._give_up("too few holes")
        self._doom("evaluate", "concat", int(self._between(least, min(most, 2 * least))))


class Stranded(Scenario):
    """A hole would do for the request, but belongs to somebody else."""

    def _finish(self, hole):
        size = int(hole * self._between(0.6, 0.95))
        self._open_batch()
        self._settle()
        self._fill("resident", "shard", leave=size // 4)
        self._doom("forward", "attention_scores", size)


class OtherStream(Stranded):
    """A side stream prefetches; an index that it keeps holds the segment of a freed shard."""

    cause = "other_stream"
    needs_plain_allocator = True
    defaults = dict(Scenario.defaults, streams=2)

    def __init__(self, process, stacks, options):
        super().__init__(process, stacks, options)
        self._index = None

    def _work(self, step):
        shard = self._malloc("prefetch", "to_copy", self._share(3, 5), stream=1)
        self._step(step)
        self._free("prefetch", "to_copy", shard)
        if self._index is None:
            size = int(self._between(2, 8) * MIB)
            self._index = self._malloc("prefetch", "shard_index", size, stream=1)
        if self._is_last(step):
            self._finish(self._index.next.size)


class PrivatePool(Stranded):
    """A captured graph keeps a workspace that only its replay may use."""

    cause = "private_pool"

    def _work(self, step):
        self._step(step)
        if step == 0:
            place = {"pool_id": GRAPH_POOL}
            size = self._share(3, 5)
            workspace = self._malloc("capture", "attention_workspace", size, **place)
            self._capture_graph()
            self._free("capture", "attention_workspace", workspace)
        if self._is_last(step):
            self._finish(self._allocator.holes(self._streams[0], pool_id=GRAPH_POOL)[-1])


class Outside(Scenario):
    """The process gives memory back, and another one takes it, step by step."""

    cause = "outside"

    def __init__(self, process, stacks, options):
        super().__init__(process, stacks, options)
        self._intruder = self._share(45, 55)

    def _work(self, step):
        self._step(step)
        if step == 0:
            self._warm_up()
        others = self._intruder * (step + 1) // self._options.steps
        self._process.set_outside_memory(CUDA_CONTEXT + others)
        if self._is_last(step):
            self._open_batch()
            self._settle()
            self._fill("resident", "shard", leave=self._percent)
            self._doom("evaluate", "concat", self._obtainable() + self._share(0.5, 2))

    def _warm_up(self):
        """The largest batch, tried once so that it is known to fit."""
        leave = self._share(15, 20)
        blocks = []
        while self._obtainable() > leave:
            blocks.append(self._malloc("evaluate", "warm_up", self._share(0.3, 1)))
        for block in blocks:
            self._free("evaluate", "warm_up", block)
        self._empty_cache()


class HugeRequest(Scenario):
    """A mask of the wrong shape: about the whole device, or more."""

    cause = "huge_request"

    def _work(self, step):
        self._step(step)
        if self._is_last(step):
            self._open_batch()
            least = max(self._obtainable(), 95 * self._percent) + LARGE_SEGMENT
            self._doom("forward", "attention_mask", int(least * self._between(1, 2.5)))


class MemoryLimit(Scenario):
    """The process may use only a fraction of the device, and has done so."""

    cause = "memory_limit"

    def _build_model(self):
        self._process.set_memory_limit(self._share(35, 60))
        super()._build_model()

    def _work(self, step):
        self._step(step)
        if self._is_last(step):
            self._open_batch()
            self._settle()
            self._fill("resident", "shard", leave=self._percent // 2)
            self._doom("evaluate", "concat", self._obtainable() + self._share(0.5, 2))
