# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Stacks of a made-up training project, with the C++ frames between its Python frames.

A stack is found by what the program does (phase and operator) and a variant of the call path. The
same question gets the same stack.
"""

from random import Random

from .document import Fresh, Node, Stack

PACKAGES = "/opt/conda/lib/python3.11/site-packages"
MODULE = PACKAGES + "/torch/nn/modules/module.py"
ALLOCATOR = "c10::cuda::CUDACachingAllocator::Native::"
DEVICE_ALLOCATOR = ALLOCATOR + "DeviceCachingAllocator::"
KERNEL_ARGUMENTS = "(c10::DispatchKeySet, at::Tensor const&, at::Tensor const&)"

GATHER = (
    "torch::unwind::unwind()",
    "torch::CapturedTraceback::gather(bool, bool, bool)",
    "torch::cuda::(anonymous namespace)::gather_with_cpp()",
)
MALLOC = GATHER + (
    DEVICE_ALLOCATOR + "malloc(signed char, unsigned long, CUstream_st*)",
    ALLOCATOR + "NativeCachingAllocator::malloc(void**, signed char, unsigned long, CUstream_st*)",
    ALLOCATOR + "NativeCachingAllocator::allocate(unsigned long)",
    "at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>, c10::Allocator*, "
    "c10::DispatchKeySet, c10::ScalarType, std::optional<c10::MemoryFormat>)",
    "at::detail::empty_cuda(c10::ArrayRef<long>, c10::ScalarType, std::optional<c10::Device>, "
    "std::optional<c10::MemoryFormat>)",
)
FREE = GATHER + (
    DEVICE_ALLOCATOR + "free(" + ALLOCATOR + "(anonymous namespace)::Block*)",
    ALLOCATOR + "local_raw_delete(void*)",
    "c10::StorageImpl::~StorageImpl()",
    "c10::intrusive_ptr<c10::StorageImpl, c10::detail::intrusive_target_default_null_type"
    "<c10::StorageImpl> >::reset_()",
    "c10::TensorImpl::~TensorImpl() [clone .localalias]",
)
EMPTY_CACHE = GATHER + (
    DEVICE_ALLOCATOR + "emptyCache(std::pair<unsigned long long, unsigned long long>)",
    "THCPModule_emptyCache(_object*, _object*)",
)
AUTOGRAD_THREAD = (
    "torch::autograd::Node::operator()(std::vector<at::Tensor>&&)",
    "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, "
    "torch::autograd::Node*, torch::autograd::InputBuffer&)",
    "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
    "torch::autograd::python::PythonEngine::thread_init(int, bool)",
    "execute_native_thread_routine",
    "start_thread",
    "__clone3",
)
PROCESS_START = ("PyRun_SimpleFile", "Py_RunMain", "main", "__libc_start_main", "_start")
INTERPRETER = (
    "_PyEval_EvalFrameDefault",
    "method_vectorcall.llvm.6544690819534333363",
    "_PyObject_Call_Prepend",
    "slot_tp_call",
    "PyObject_Call",
)
DISPATCHER = (
    "c10::impl::wrap_kernel_functor_unboxed_<{op}>::call" + KERNEL_ARGUMENTS,
    "at::_ops::{op}::redispatch" + KERNEL_ARGUMENTS,
    "torch::autograd::VariableType::(anonymous namespace)::{op}" + KERNEL_ARGUMENTS,
    "torch::ADInplaceOrView::(anonymous namespace)::{op}" + KERNEL_ARGUMENTS,
)
# phase -> file of the project, function, its caller in train.py and that call's line
PHASES = {
    "setup": ("model.py", "__init__", "build_model", 31),
    "data": ("data.py", "next_batch", "train", 88),
    "forward": ("model.py", "forward", "train_step", 57),
    "backward": ("train.py", "train_step", "train", 92),
    "optimizer": ("optim.py", "step", "train_step", 66),
    "evaluate": ("evaluate.py", "evaluate", "train", 97),
    "capture": ("graphs.py", "capture", "train", 84),
    "resident": ("retrieval.py", "load_table", "build_model", 34),
    "collect": ("features.py", "collect", "train", 105),
    "prefetch": ("shards.py", "prefetch", "train", 86),
    "metrics": ("metrics.py", "leaky_append", "train", 108),
    "window": ("metrics.py", "push_window", "train", 109),
    "positions": ("positions.py", "extend_table", "train_step", 59),
}


class StackTable:
    """All stacks of the run, made when first asked for."""

    # About as many (phase, operator) pairs as the workload has: the variants share `count`.
    KINDS = 45

    def __init__(self, depth, count, root, seed, python_only=False, release_2_0=False):
        self._depth = depth
        self._variants = max(1, count // self.KINDS)
        self._root = root.rstrip("/")
        self._seed = seed
        self._python_only = python_only or release_2_0
        self._release_2_0 = release_2_0
        self._stacks = {}
        self._frames = {}

    def find(self, phase, op, draw, is_free=False):
        """The stack of an operator; `draw` from [0, 1) selects the variant."""
        key = (phase, op, is_free, int(draw * self._variants))
        stack = self._stacks.get(key)
        if stack is None:
            stack = self._stacks[key] = self._make(*key)
        return stack

    def blamed_frame(self, phase, op, variant=0):
        """(function, file, line) in the project, of all but the autograd thread."""
        filename, function, _, _ = PHASES[phase]
        return function, "%s/%s" % (self._root, filename), 40 + sum(op.encode()) % 40 + variant

    def _make(self, phase, op, is_free, variant):
        rng = Random("%s %s %s %s %s" % (self._seed, phase, op, is_free, variant))
        depth = max(1, round(self._depth * rng.uniform(0.8, 1.2)))
        if phase == "backward" and not is_free:
            described = self._autograd_thread(op, depth, rng)
        else:
            described = self._main_thread(phase, op, is_free, variant, depth, rng)
        python = [frame for frame in described if frame[1].endswith(".py") or "<" in frame[1]]
        shown = python if self._python_only else described
        cpp_names = None
        if self._release_2_0:
            cpp_names = Stack([name for name, filename, _ in described if filename == "??"])
        frames = [self._frame(*frame, copy=rng.randrange(2)) for frame in shown]
        return Stack(frames, cpp_names, self._site(shown) if shown else None)

    def _autograd_thread(self, op, depth, rng):
        """The autograd thread of the backward pass has no Python frames."""
        node = "torch::autograd::generated::%sBackward0::apply(std::vector<at::Tensor>&&)"
        inner = MALLOC + ("at::native::%s_backward_cuda(at::Tensor const&)" % op,)
        outer = (node % op,) + AUTOGRAD_THREAD
        middle = self._dispatcher(op + "_backward", depth - len(inner) - len(outer), rng)
        return [(name, "??", 0) for name in (inner + tuple(middle) + outer)[:depth]]

    def _main_thread(self, phase, op, is_free, variant, depth, rng):
        _, _, caller, line = PHASES[phase]
        if op == "empty_cache":
            inner = EMPTY_CACHE
        else:
            inner = FREE if is_free else MALLOC + ("at::native::%s_cuda(at::Tensor const&)" % op,)
        train = self._root + "/train.py"
        blamed = self.blamed_frame(phase, op, variant)
        evaluate = (INTERPRETER[0], "??", 0)
        outer = [(caller, train, line), evaluate, ("main", train, 131), evaluate]
        outer += [(name, "??", 0) for name in PROCESS_START]
        outer += [("<module>", train, 140), ("_run_code", "<frozen runpy>", 88)]
        left = depth - len(inner) - 2 - len(outer)
        inner = [(name, "??", 0) for name in inner]
        dispatched = self._dispatcher(op, min(left, rng.randrange(5)), rng)
        inner += [(name, "??", 0) for name in dispatched]
        calls = self._module_calls(depth - len(inner) - 2 - len(outer), rng)
        behind = [blamed, evaluate] + calls + outer
        return (inner[: max(0, depth - len(behind))] + behind)[:depth]

    @staticmethod
    def _dispatcher(op, count, rng):
        start = rng.randrange(len(DISPATCHER))
        return [
            DISPATCHER[(start + index) % len(DISPATCHER)].format(op=op)
            for index in range(max(0, count))
        ]

    def _module_calls(self, count, rng):
        """The nested module calls that make Python stacks deep."""
        frames = []
        while len(frames) < count:
            kind = rng.choice(("block", "layers", "wrapper"))
            filename = "%s/nn/%s.py" % (self._root, kind)
            frames.append(("forward", filename, 20 + rng.randrange(12)))
            frames += [(name, "??", 0) for name in INTERPRETER[: 1 + rng.randrange(4)]]
            for function, line in (("_call_impl", 1750), ("_wrapped_call_impl", 1739)):
                frames += [(function, MODULE, line)]
                frames += [(name, "??", 0) for name in INTERPRETER[:2]]
        return frames[: max(0, count)]

    def _frame(self, name, filename, line, copy):
        """One dict per code location; two locations may read the same, hence `copy`."""
        key = (name, filename, line, copy)
        node = self._frames.get(key)
        if node is None:
            value = {"name": Fresh(name), "filename": Fresh(filename), "line": line}
            if self._release_2_0:
                value = {"filename": filename, "name": name, "line": line}
            node = self._frames[key] = Node(value)
        return node

    def _site(self, frames):
        """The frame to blame: of the project, else of Python, else any; the innermost."""
        for belongs in (self._is_project, self._is_python):
            for _, filename, line in frames:
                if belongs(filename):
                    return "%s:%d" % (filename, line)
        return frames[0][0]

    def _is_project(self, filename):
        return filename.startswith(self._root + "/")

    @staticmethod
    def _is_python(filename):
        return filename.endswith(".py")
