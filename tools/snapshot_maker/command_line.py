# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The command line, and the run behind it: simulate to the end, then write while simulating again.

The segments come first in the file and describe the end, so each device runs twice with the same
seed; what is in memory is only what its allocator holds.
"""

import argparse
import json
from collections import namedtuple

from .address_map import CallEnds, MapTaker
from .allocator import GIB, KIB, MIB, UNLIMITED, Settings
from .layout import RELEASES, Layout
from .pickle_writer import CppPickle, ObjectPickle, PythonPickle
from .process import Process, RecordingFull
from .scenarios import PROGRAMS
from .stacks import StackTable
from .truth import Truth, carried_in, live_set

ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom")
SKIPPABLE = ACTIONS + ("snapshot",)
ASCEND_PADDING = 32

Recording = namedtuple("Recording", "context skipped_actions limit release_2_0")
End = namedtuple("End", "process truth map_events")


def parse_bytes(text):
    """`80GiB`, `512MiB` or a number of bytes."""
    for suffix, unit in (("KiB", KIB), ("MiB", MIB), ("GiB", GIB)):
        if text.endswith(suffix):
            return int(float(text[: -len(suffix)]) * unit)
    return int(text)


def parse_actions(text):
    actions = frozenset(filter(None, text.split(",")))
    unknown = sorted(actions.difference(SKIPPABLE))
    if unknown:
        raise argparse.ArgumentTypeError("cannot skip %s" % ", ".join(unknown))
    if {"free_requested", "free_completed"} <= actions:
        raise argparse.ArgumentTypeError("one of the two events of a free must stay")
    return actions


def make_parser():
    parser = argparse.ArgumentParser(
        prog="make_snapshot.py",
        description="Make a PyTorch CUDA memory snapshot by simulating a training program on a "
        "caching allocator. The same options give the same bytes.",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the snapshot")
    parser.add_argument("--truth", metavar="FILE", help="write the known answers as JSON")
    parser.add_argument(
        "--truth-maps", type=int, metavar="N",
        help="the truth shows all segments and blocks after about N events, the last included",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)

    group = parser.add_argument_group("what runs")
    group.add_argument(
        "--scenario", choices=PROGRAMS, default="training", metavar="NAME",
        help="a program with a planted cause: " + ", ".join(PROGRAMS),
    )  # fmt: skip
    group.add_argument("--events", type=int, metavar="N", help="record exactly N per device")
    group.add_argument(
        "--steps", type=int, metavar="N",
        help="training steps (3 without --events; 4 in a scenario, 20 in leak and steady)",
    )  # fmt: skip
    group.add_argument("--devices", type=int, default=1, metavar="N")
    group.add_argument("--streams", type=int, metavar="N", help="over 1: deferred frees (1)")
    group.add_argument("--layers", type=int, default=24, metavar="N", help="of the model (24)")
    group.add_argument("--hidden", type=int, default=1024, metavar="N", help="model width (1024)")
    group.add_argument("--batch", type=int, metavar="N", help="samples in a step (8)")
    group.add_argument("--sequence", type=int, default=512, metavar="N", help="mean length (512)")
    group.add_argument(
        "--evaluate-every", type=int, default=5, metavar="N",
        help="evaluate and empty the cache after every Nth step; 0: never (5)",
    )  # fmt: skip
    group.add_argument("--private-pool", action="store_true", help="capture a graph in step 0")
    group.add_argument(
        "--frees-after-oom", type=int, default=0, metavar="N",
        help="what a scenario still frees after its OOM, before the dump (0)",
    )  # fmt: skip
    group.add_argument(
        "--no-step-markers", dest="step_markers", action="store_false",
        help="no ProfilerStep annotations; those of the optimizer stay",
    )  # fmt: skip

    group = parser.add_argument_group("the allocator")
    group.add_argument(
        "--capacity", type=parse_bytes, default=80 * GIB, metavar="BYTES",
        help="device memory, such as 3GiB; a small one makes OOM events (80GiB)",
    )  # fmt: skip
    group.add_argument("--expandable", action="store_true", help="expandable segments")
    group.add_argument("--max-split-size-mb", type=int, metavar="N")
    group.add_argument("--roundup-power2-divisions", type=int, default=0, metavar="N")
    group.add_argument(
        "--ascend", action="store_true", help="as Ascend writes: 32 bytes more a block, no times"
    )

    group = parser.add_argument_group("the recording")
    group.add_argument("--context", choices=("all", "alloc", "none"), default="all")
    group.add_argument("--depth", type=int, default=60, metavar="N", help="mean stack depth (60)")
    group.add_argument("--stacks", type=int, default=300, metavar="N", help="distinct stacks (300)")
    group.add_argument("--root", default="/home/user/proj", help="folder of the made-up project")
    group.add_argument("--record-from-step", type=int, metavar="N", help="start recording late")
    group.add_argument("--max-entries", type=int, metavar="N", help="size of the ring buffer")
    group.add_argument("--state-only", action="store_true", help="a ring buffer of one entry")
    group.add_argument(
        "--skip-actions", type=parse_actions, default=frozenset(), metavar="A,B",
        help="actions not recorded: " + ", ".join(SKIPPABLE),
    )  # fmt: skip

    group = parser.add_argument_group("the file")
    group.add_argument("--layout", choices=RELEASES, default="2.10", help="PyTorch release (2.10)")
    group.add_argument("--writer", choices=("python", "cpp"), default="python")
    group.add_argument(
        "--protocol", type=int, choices=range(6), default=4,
        help="of the Python writer; 0 to 3 hold the file in memory (4)",
    )  # fmt: skip
    group.add_argument("--list-only", action="store_true", help="only the list of segments")
    return parser


def parse_options(arguments):
    parser = make_parser()
    options = parser.parse_args(arguments)
    program = PROGRAMS[options.scenario]
    for name, value in program.defaults.items():
        if getattr(options, name) is None and not (name == "steps" and options.events):
            setattr(options, name, value)
    if options.state_only:
        options.max_entries = 1
    positive = ("events", "steps", "devices", "streams", "layers", "depth", "stacks", "max_entries")
    for name in positive:
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error("--%s must be at least 1" % name.replace("_", "-"))
    if options.truth_maps is not None and options.truth_maps < 2:
        parser.error("--truth-maps takes at least the first event and the last")
    if options.record_from_step is not None and options.steps is not None:
        if options.record_from_step >= options.steps:
            parser.error("--record-from-step must be before the last of the --steps")
    if options.scenario != "training" and options.events is not None:
        parser.error("a --scenario ends by itself: --steps scales it, not --events")
    settings = (options.expandable, options.max_split_size_mb, options.roundup_power2_divisions)
    if program.needs_plain_allocator and any(settings):
        parser.error("--scenario %s needs an allocator without settings" % options.scenario)
    if options.scenario == "oom-other-stream" and options.streams < 2:
        parser.error("--scenario oom-other-stream needs --streams 2")
    if options.layout == "2.0" and (options.expandable or options.ascend):
        parser.error("--layout 2.0 has neither expandable segments nor Ascend files")
    return options


class SnapshotMaker:
    """Makes the file that the options describe."""

    def __init__(self, options):
        self._options = options
        limit = options.max_split_size_mb
        self._settings = Settings(
            options.capacity,
            UNLIMITED if limit is None else limit * MIB,
            options.roundup_power2_divisions,
            options.expandable,
            ASCEND_PADDING if options.ascend else 0,
        )
        release_2_0 = options.layout == "2.0"
        self._recording = Recording(
            options.context,
            options.skip_actions,
            UNLIMITED if options.events is None else options.events,
            release_2_0,
        )
        self._ring = UNLIMITED if options.max_entries is None else options.max_entries
        if options.list_only:
            self._ring = 0  # the truth is about a file without events
        self._layout = Layout(options.layout, options.writer, options.ascend)
        self._stacks = StackTable(
            options.depth, options.stacks, options.root, options.seed, options.ascend, release_2_0
        )

    def write(self, writer):
        """Writes the file and returns the truth about it."""
        ends = [self._run_to_end(device) for device in range(self._options.devices)]
        if self._options.list_only:
            self._write_segments(writer, ends)
            truths = [self._write_trace(None, end) for end in ends]
        else:
            writer.open_dict()
            writer.key("segments")
            self._write_segments(writer, ends)
            writer.key("device_traces")
            writer.open_list(len(ends))
            truths = [self._write_trace(writer, end) for end in ends]
            writer.close_list()
            self._write_rest(writer, ends[0].process)
            writer.close_dict()
        writer.end()
        return {"devices": truths}

    def _simulate(self, device, make_sink, first_kept=0, known_tracebacks=()):
        process = Process(device, self._settings, self._recording, first_kept, known_tracebacks)
        process.sink = make_sink(process)
        program = PROGRAMS[self._options.scenario](process, self._stacks, self._options)
        try:
            program.run()
        except RecordingFull:
            pass
        return process, program

    def _run_to_end(self, device):
        """The process at its end, and the truth about the events that the ring buffer keeps."""
        end = self._first_pass(device, 0)
        first_kept = end.process.recorded - self._ring
        return self._first_pass(device, first_kept) if first_kept > 0 else end

    def _first_pass(self, device, first_kept):
        truth = Truth(first_kept, self._options.skip_actions)
        call_ends = CallEnds()

        def make_sink(process):
            if self._options.truth_maps:
                process.at_call_end = call_ends.note
            return truth.observe

        process, _ = self._simulate(device, make_sink, first_kept)
        return End(process, truth, call_ends.spread(self._options.truth_maps or 0))

    def _write_segments(self, writer, ends):
        ranges = [
            (end.process.device, segment, blocks)
            for end in ends
            for segment, blocks in end.process.allocator.mapped_ranges()
        ]
        writer.open_list(len(ranges))
        for device, segment, blocks in ranges:
            writer.add(self._layout.segment_row(device, segment, blocks))
        writer.close_list()

    def _write_trace(self, writer, first):
        """Runs the device again and writes its events; returns the truth about it."""
        end = first.process
        second_pass = maps = None

        def make_sink(process):
            nonlocal second_pass, maps
            second_pass = SecondPass(process, first.truth, writer, self._layout.event_row)
            if self._options.truth_maps:
                maps = MapTaker(process.allocator, first.map_events)
                process.at_call_end = maps.look
            return second_pass.observe

        if writer is not None:
            writer.open_list(end.recorded - end.first_kept)
        known_tracebacks = {
            traceback.serial: traceback for traceback in end.allocator.tracebacks()
        }
        process, program = self._simulate(end.device, make_sink, end.first_kept, known_tracebacks)
        assert process.recorded == end.recorded, "the two passes differ"
        if writer is not None:
            writer.close_list()
        answers = dict(second_pass.answers(), **program.answers())
        if maps is not None:
            answers["maps"] = maps.maps
        return answers

    def _write_rest(self, writer, process):
        layout = self._layout
        if layout.has_settings:
            writer.key("allocator_settings")
            writer.value(layout.settings_row(self._settings))
        if layout.has_annotations:
            annotations = process.annotations[-self._ring :]
            writer.key("external_annotations")
            writer.open_list(len(annotations))
            for annotation in annotations:
                writer.add(layout.annotation_row(*annotation))
            writer.close_list()


class SecondPass:
    """Writes the events, and looks at the allocator at the moments that the first pass found."""

    def __init__(self, process, truth, writer, event_row):
        self._process = process
        self._truth = truth
        self._writer = writer
        self._event_row = event_row
        self._behind_peak = truth.peak_event + 1
        self._start = None
        self._live_set = None

    def observe(self, index, *event):
        if index == 0:
            self._start = carried_in(self._process.allocator)
        if index == self._behind_peak:
            self._look_at_peak()
        if self._writer is not None:
            self._writer.add(self._event_row(*event[:-1]))

    def answers(self):
        if self._start is None:
            self._start = carried_in(self._process.allocator)
        if self._live_set is None:
            self._look_at_peak()
        return self._truth.answers(self._process, self._start, self._live_set)

    def _look_at_peak(self):
        allocator = self._process.allocator
        blocks = self._truth.allocated_blocks(allocator)
        live = live_set(blocks, self._process.first_kept)
        self._live_set = dict(event=self._truth.peak_event, **live)


def make_writer(options, file):
    if options.writer == "cpp":
        return CppPickle(file)
    if options.protocol >= 4:
        return PythonPickle(file, options.protocol)
    return ObjectPickle(file, options.protocol)


def main(arguments=None):
    options = parse_options(arguments)
    with open(options.output, "wb") as file:
        truth = SnapshotMaker(options).write(make_writer(options, file))
    if options.truth:
        with open(options.truth, "w") as file:
            json.dump(truth, file, indent=1)
            file.write("\n")
    return 0
