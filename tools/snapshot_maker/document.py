# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The values of a snapshot file, with their sharing made explicit.

A pickle writes an object once and refers to it later, so which objects are shared decides the
bytes. Here a plain `str` stands for one object wherever it occurs; `Fresh` for a new object at each
occurrence; dict, list and tuple for a new container; and `Node` for a container that may occur
again.
"""

from sys import intern


class Fresh:
    """A string that is spelled out each time."""

    __slots__ = ("text",)

    def __init__(self, text):
        # CPython has one object for each string of up to one (Latin) letter.
        assert len(text) > 1, text
        self.text = text


class Node:
    """A container that later occurrences refer to. Writers keep their reference in it."""

    __slots__ = ("value", "reference")

    def __init__(self, value):
        self.value = value
        self.reference = None


class Stack:
    """The contents of many frame lists: frame Nodes (or strings), the innermost first."""

    __slots__ = ("frames", "cpp_names", "site")

    def __init__(self, frames, cpp_names=None, site=None):
        self.frames = frames
        self.cpp_names = cpp_names  # a Stack of strings: the layout of PyTorch 2.0
        self.site = site


class Traceback(Node):
    """The frame list of one allocator call. Equal stacks of two calls are two lists."""

    __slots__ = ("serial", "cpp_frames")

    def __init__(self, stack, serial):
        super().__init__(stack)
        self.serial = serial
        self.cpp_frames = Node(stack.cpp_names) if stack.cpp_names else None


def to_objects(value):
    """The Python objects that a value stands for, shared in the same way."""
    kind = type(value)
    if kind is Fresh:
        return value.text.encode().decode()
    if kind in (Node, Traceback):
        if value.reference is None:
            value.reference = to_objects(value.value)
        return value.reference
    if kind is Stack:
        return [to_objects(frame) for frame in value.frames]
    if kind is dict:
        return {to_objects(key): to_objects(item) for key, item in value.items()}
    if kind is list:
        return [to_objects(item) for item in value]
    if kind is tuple:
        return tuple(to_objects(item) for item in value)
    return intern(value) if kind is str else value
