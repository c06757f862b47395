# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop: what it allocates, keeps and frees in each step.

A step saves activations on the way forward, frees them and makes gradients on the way back, and
updates the weights; so the curve is a saw-tooth. The sequence length changes from step to step.
"""

from contextlib import contextmanager, nullcontext
from random import Random

from .allocator import DEFAULT_POOL, OutOfMemory

GRAPH_POOL = (0, 1)
HEADS = 16
VOCABULARY = 50257
FIRST_STREAM_POINTER = 0x55D0C0DE4A00

# operator, what it returns, saved for the backward pass
LAYER_OPERATORS = (
    ("native_layer_norm", "tokens", True),
    ("layer_norm_statistics", "statistics", True),
    ("qkv_linear", "qkv", True),
    ("flash_attention", "tokens", True),
    ("attention_logsumexp", "logsumexp", True),
    ("attention_workspace", "workspace", False),
    ("out_linear", "tokens", False),
    ("native_dropout", "mask", True),
    ("add", "tokens", True),
    ("up_linear", "wide", True),
    ("gelu", "wide", True),
    ("down_linear", "tokens", False),
    ("rng_state", "scalar", False),
)
# parameter, its number of elements for hidden size h
LAYER_PARAMETERS = (
    ("norm", lambda h: 2 * h),
    ("qkv", lambda h: 3 * h * h),
    ("qkv_bias", lambda h: 3 * h),
    ("out", lambda h: h * h),
    ("up", lambda h: 4 * h * h),
    ("up_bias", lambda h: 4 * h),
    ("down", lambda h: 4 * h * h),
)


def activation_sizes(batch, sequence, hidden):
    tokens = batch * sequence
    return {
        "tokens": tokens * hidden * 2,
        "qkv": tokens * hidden * 6,
        "wide": tokens * hidden * 8,
        "statistics": tokens * 8,
        "logsumexp": tokens * HEADS * 4,
        "mask": tokens * hidden,
        "workspace": tokens * 4 + 12 * 1024,
        "indices": tokens * 8,
        "logits": tokens * VOCABULARY * 2,
        "scalar": 16,
    }


class TrainingLoop:
    """The program of one device."""

    defaults = {"steps": 3, "batch": 8, "streams": 1}
    needs_plain_allocator = False  # no setting may change how segments are cut and released

    def __init__(self, process, stacks, options):
        self._process = process
        self._stacks = stacks
        self._options = options
        self._random = Random("workload %d %d" % (options.seed, process.device)).random
        default_stream = FIRST_STREAM_POINTER - 0x1000 if options.ascend else 0
        self._streams = [default_stream] + [
            FIRST_STREAM_POINTER + 0x70 * index for index in range(1, options.streams)
        ]
        self._batch = options.batch + process.device
        self._weights = []  # (name, bytes)
        self._gradients = []
        self._with_optimizer_state = 0  # weights
        self._in_flight = {}  # an ordered set: what dies if the step fails

    def run(self):
        options = self._options
        if options.record_from_step is None:
            self._process.start_recording()
        try:
            self._build_model()
            step = 0
            while options.steps is None or step < options.steps:
                if step == options.record_from_step:
                    self._process.start_recording()
                with self._step_marker(step):
                    self._survive(self._step, step)
                step += 1
            if len(self._streams) > 1:
                self._input_batch()  # its free is still pending when the file is written
        except OutOfMemory:
            pass  # the model itself does not fit: the program dies here

    def answers(self):
        """What this program knows beyond what its events tell."""
        return {}

    # Calls with their stacks

    def _malloc(self, phase, op, size, stream=0, pool_id=DEFAULT_POOL):
        stack = self._stacks.find(phase, op, self._random())
        return self._process.malloc(size, stack, self._streams[stream], pool_id)

    def _free(self, phase, op, block):
        self._process.free(block, self._stacks.find(phase, op, self._random(), is_free=True))

    def _empty_cache(self):
        self._process.empty_cache(self._stacks.find("evaluate", "empty_cache", self._random()))

    @contextmanager
    def _annotated(self, name):
        self._process.annotate(name, "START")
        try:
            yield
        finally:
            self._process.annotate(name, "END")

    def _step_marker(self, step):
        if self._options.step_markers:
            return self._annotated("ProfilerStep#%d" % step)
        return nullcontext()

    # Phases

    def _build_model(self):
        hidden = self._options.hidden
        sizes = [("embedding", VOCABULARY * hidden * 2)]
        for _ in range(self._options.layers):
            sizes += [(name, count(hidden) * 2) for name, count in LAYER_PARAMETERS]
        self._weights = sizes
        for name, size in sizes:
            self._malloc("setup", name, size)

    def _survive(self, work, step):
        """Runs a step; if memory runs out, frees what the step holds and goes on smaller."""
        try:
            work(step)
        except OutOfMemory:
            self._process.take_snapshot()
            for block in reversed(self._in_flight):
                self._free("forward", "unwind", block)
            self._in_flight = {}
            self._zero_gradients()
            self._empty_cache()
            self._batch = max(1, self._batch // 2)

    def _step(self, step):
        options = self._options
        self._process.wait(20_000)
        sizes = activation_sizes(self._batch, self._sequence_length(), options.hidden)
        self._zero_gradients()
        self._input_batch(sizes["indices"])
        with self._annotated("forward"):
            saved = self._forward("forward", sizes)
        with self._annotated("backward"):
            self._backward(saved, sizes)
        with self._annotated("Optimizer.step#AdamW.step"):
            self._optimizer_step()
        if step == 0 and options.private_pool:
            self._capture_graph()
        if options.evaluate_every and (step + 1) % options.evaluate_every == 0:
            with self._annotated("evaluate"):
                self._evaluate(sizes)

    def _sequence_length(self):
        sequence = self._options.sequence
        return sequence // 2 + int(self._random() * sequence)

    def _input_batch(self, size=4096):
        """Copied on a side stream, if there is one, and read on the main stream."""
        block = self._malloc("data", "to_copy", size, stream=len(self._streams) > 1)
        self._process.record_stream(block, self._streams[0])
        self._free("data", "to_copy", block)

    def _forward(self, phase, sizes):
        saved = []
        for layer in range(self._options.layers):
            with self._annotated("layer_%d" % layer):
                temporaries = []
                for op, size_name, is_saved in LAYER_OPERATORS:
                    block = self._keep(self._malloc(phase, op, sizes[size_name]))
                    (saved if is_saved else temporaries).append((op, size_name, block))
                for op, _, block in reversed(temporaries):
                    self._drop(phase, op, block)
        logits = self._keep(self._malloc(phase, "logits", sizes["logits"]))
        return saved + [("logits", "logits", logits)]

    def _backward(self, saved, sizes):
        weights = list(self._weights)
        output_gradient = None
        parameters_per_layer = len(LAYER_PARAMETERS)
        operators_per_layer = sum(is_saved for _, _, is_saved in LAYER_OPERATORS)
        for index, (op, size_name, block) in enumerate(reversed(saved)):
            gradient = self._keep(self._malloc("backward", op, sizes[size_name]))
            if self._random() < 0.3:
                temporary = self._malloc("backward", "workspace", 1 + int(self._random() * 3e6))
                self._free("backward", "workspace", temporary)
            self._drop("backward", op, block)
            if output_gradient is not None:
                self._drop("backward", op, output_gradient)
            output_gradient = gradient
            if index % operators_per_layer == 0:
                for name, size in weights[-parameters_per_layer:]:
                    self._gradients.append((name, self._malloc("backward", name, size)))
                del weights[-parameters_per_layer:]
                self._reduce_gradients()
        self._drop("backward", "to_copy", output_gradient)
        for name, size in weights:
            self._gradients.append((name, self._malloc("backward", name, size)))

    def _reduce_gradients(self):
        """Another stream sums the gradients of all ranks, so the bucket's free is deferred."""
        if len(self._streams) == 1:
            return
        bucket = self._malloc("backward", "reduce_bucket", 4_000_000 + int(self._random() * 1e6))
        self._process.record_stream(bucket, self._streams[-1])
        self._free("backward", "reduce_bucket", bucket)

    def _optimizer_step(self):
        for index, (_, size) in enumerate(self._weights):
            if index == self._with_optimizer_state:
                for state in ("exp_avg", "exp_avg_sq"):
                    self._malloc("optimizer", state, 2 * size)
                self._with_optimizer_state += 1
            temporary = self._malloc("optimizer", "foreach_sqrt", 2 * size)
            self._free("optimizer", "foreach_sqrt", temporary)

    def _zero_gradients(self):
        with self._annotated("Optimizer.zero_grad#AdamW.zero_grad"):
            for _, block in self._gradients:
                self._free("optimizer", "zero_grad", block)
            self._gradients = []

    def _evaluate(self, sizes):
        for _, _, block in self._forward("evaluate", sizes):
            self._drop("evaluate", "no_grad", block)
        self._empty_cache()

    def _capture_graph(self):
        """A CUDA graph keeps its memory in a pool of its own."""
        for index in range(12):
            size = 10_000 + int(self._random() * 8e6)
            block = self._malloc("capture", "static_buffer", size, pool_id=GRAPH_POOL)
            if index % 3 == 0:
                self._free("capture", "static_buffer", block)

    def _keep(self, block):
        self._in_flight[block] = None
        return block

    def _drop(self, phase, op, block):
        self._free(phase, op, block)
        del self._in_flight[block]
