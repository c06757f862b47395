# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Writers of pickles: as CPython does it, as PyTorch's C++ pickler does it, and by CPython itself.

All three take a file from front to back and keep none of it (the last one keeps it all):

    open_dict() key(text) ... close_dict()    open_list(length) add(value) ... close_list()    end()
"""

import pickle
from struct import Struct

from .document import Fresh, Node, Stack, Traceback, to_objects

PROTO, STOP, FRAME, MARK = b"\x80", b".", b"\x95", b"("
EMPTY_LIST, APPEND, APPENDS = b"]", b"a", b"e"
EMPTY_DICT, SETITEM, SETITEMS = b"}", b"s", b"u"
EMPTY_TUPLE, TUPLES = b")", (None, b"\x85", b"\x86", b"\x87")
MEMOIZE = b"\x94"
SHORT_TEXT, TEXT = b"\x8c", b"X"
INT1, INT2, INT4, LONG1 = b"K", b"M", b"J", b"\x8a"
TRUE, FALSE, FLOAT = b"\x88", b"\x89", b"G"

UINT16, INT32, UINT32, INT64 = Struct("<H"), Struct("<i"), Struct("<I"), Struct("<q")
UINT64, DOUBLE = Struct("<Q"), Struct(">d")
ONE_BYTE_INTS = [INT1 + bytes([value]) for value in range(256)]


def encode_small_int(value):
    """An int of up to 32 bits; None for others."""
    if 0 <= value < 256:
        return ONE_BYTE_INTS[value]
    if 0 <= value < 65536:
        return INT2 + UINT16.pack(value)
    if -(1 << 31) <= value < 1 << 31:
        return INT4 + INT32.pack(value)
    return None


def encode_get(memo_id):
    return b"h" + bytes([memo_id]) if memo_id < 256 else b"j" + UINT32.pack(memo_id)


def encode_put(memo_id):
    return b"q" + bytes([memo_id]) if memo_id < 256 else b"r" + UINT32.pack(memo_id)


class FramedFile:
    """Cuts opcodes into frames: one ends at the first object that begins behind 64 KiB."""

    TARGET = 64 * 1024
    SMALLEST = 4
    # Bytes of argument of each opcode; for texts and LONG1 the bytes of the length before them.
    ARGUMENTS = {ord(INT1): 1, ord(INT2): 2, ord(INT4): 4, ord(FLOAT): 8, ord("h"): 1, ord("j"): 4}
    LENGTHS = {ord(SHORT_TEXT): 1, ord(LONG1): 1, ord(TEXT): 4}
    BARE_OBJECTS = frozenset(EMPTY_DICT + EMPTY_LIST + EMPTY_TUPLE + TRUE + FALSE)

    def __init__(self, file):
        self._file = file
        self._parts = []
        self._length = 0

    def write(self, opcodes):
        if self._length + len(opcodes) >= self.TARGET:
            opcodes = self._end_full_frames(opcodes)
        self._parts.append(opcodes)
        self._length += len(opcodes)

    def end_frame(self):
        if self._length >= self.SMALLEST:
            self._file.write(FRAME + UINT64.pack(self._length))
        self._file.write(b"".join(self._parts))
        self._parts = []
        self._length = 0

    def _end_full_frames(self, opcodes):
        """Writes what belongs to full frames and returns the rest."""
        written = 0
        for start in self._object_starts(opcodes):
            if self._length + start - written >= self.TARGET:
                self._parts.append(opcodes[written:start])
                self._length += start - written
                self.end_frame()
                written = start
        return opcodes[written:]

    def _object_starts(self, opcodes):
        position = 0
        while position < len(opcodes):
            code = opcodes[position]
            if code in self.ARGUMENTS:
                yield position
                position += self.ARGUMENTS[code]
            elif code in self.LENGTHS:
                yield position
                size = self.LENGTHS[code]
                argument = opcodes[position + 1 : position + 1 + size]
                position += size + int.from_bytes(argument, "little")
            elif code in self.BARE_OBJECTS:
                yield position
            position += 1


class PythonPickle:
    """The bytes of CPython's pickle module for protocol 4 or 5."""

    BATCH = 1000

    def __init__(self, file, protocol):
        file.write(PROTO + bytes([protocol]))
        self._file = FramedFile(file)
        self._memo_size = 0
        self._texts = {}
        self._frame_references = {}  # of the stacks whose frames are all written
        self._open = []  # [length, items so far] of each list being written

    def open_dict(self):
        self._file.write(EMPTY_DICT + self._memoize() + MARK)
        self._open.append(None)

    def key(self, text):
        self._file.write(self._encode_text(text))

    def close_dict(self):
        self._open.pop()
        self._file.write(SETITEMS)

    def open_list(self, length):
        self._file.write(self._before_item() + EMPTY_LIST + self._memoize())
        self._open.append([length, 0])

    def add(self, value):
        pieces = [self._before_item()]
        self._encode(value, pieces.append)
        pieces.append(self._after_item())
        self._file.write(b"".join(pieces))

    def close_list(self):
        length, written = self._open.pop()
        assert length == written, (length, written)
        self._file.write(self._after_item())

    def value(self, value):
        """A value that is no list item."""
        pieces = []
        self._encode(value, pieces.append)
        self._file.write(b"".join(pieces))

    def end(self):
        self._file.write(STOP)
        self._file.end_frame()

    # Items of open lists, in batches

    def _before_item(self):
        state = self._open[-1] if self._open else None
        return MARK if state and state[0] > 1 and state[1] % self.BATCH == 0 else b""

    def _after_item(self):
        state = self._open[-1] if self._open else None
        if not state:
            return b""
        state[1] += 1
        length, written = state
        if length == 1:
            return APPEND
        return APPENDS if written == length or written % self.BATCH == 0 else b""

    # Values

    def _memoize(self):
        self._memo_size += 1
        return MEMOIZE

    def _encode(self, value, put):
        kind = type(value)
        if kind is int:
            put(encode_small_int(value) or encode_long(value))
        elif kind is str:
            put(self._texts.get(value) or self._encode_text(value))
        elif kind is Traceback or kind is Node:
            if value.reference is not None:
                put(value.reference)
            else:
                value.reference = encode_get(self._memo_size)
                self._encode(value.value, put)
        elif kind is Stack:
            self._encode_stack(value, put)
        elif kind is Fresh:
            put(encode_text(value.text) + self._memoize())
        elif kind is dict:
            self._encode_dict(value, put)
        elif kind is list:
            put(EMPTY_LIST + self._memoize())
            self._encode_items(value, put)
        elif kind is tuple:
            for item in value:
                self._encode(item, put)
            put(TUPLES[len(value)] + self._memoize())
        elif kind is bool:
            put(TRUE if value else FALSE)
        else:
            put(FLOAT + DOUBLE.pack(value))

    def _encode_text(self, text):
        known = self._texts.get(text)
        if known is not None:
            return known
        self._texts[text] = encode_get(self._memo_size)
        return encode_text(text) + self._memoize()

    def _encode_dict(self, value, put):
        put(EMPTY_DICT + self._memoize())
        if len(value) > 1:
            put(MARK)
        for key, item in value.items():
            self._encode(key, put)
            self._encode(item, put)
        if value:
            put(SETITEMS if len(value) > 1 else SETITEM)

    def _encode_items(self, items, put):
        for begin in range(0, len(items), self.BATCH):
            if len(items) > 1:
                put(MARK)
            for item in items[begin : begin + self.BATCH]:
                self._encode(item, put)
            put(APPENDS if len(items) > 1 else APPEND)

    def _encode_stack(self, stack, put):
        """After its first time a stack is a fixed row of references: the bulk of a file."""
        put(EMPTY_LIST + self._memoize())
        if stack in self._frame_references:
            put(self._frame_references[stack])
            return
        self._encode_items(stack.frames, put)
        again = []
        self._encode_items(stack.frames, again.append)
        self._frame_references[stack] = b"".join(again)


def encode_text(text):
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < 256:
        return SHORT_TEXT + bytes([len(data)]) + data
    return TEXT + UINT32.pack(len(data)) + data


def encode_long(value):
    size = (value.bit_length() >> 3) + 1
    data = value.to_bytes(size, "little", signed=True)
    if value < 0 and size > 1 and data[-1] == 0xFF and data[-2] & 0x80:
        data = data[:-1]
    return LONG1 + bytes([len(data)]) + data


class CppPickle:
    """The bytes of PyTorch's C++ pickler.

    Strings are memoized by value and containers when they are complete, if something else refers
    to them; a list is one batch of any size. (A frame that occurs once is memoized here all the
    same: that it will not occur again is not known yet.)
    """

    def __init__(self, file):
        self._file = file
        self._memo_size = 0
        self._texts = {}
        self._frame_references = {}
        file.write(PROTO + b"\x02")

    def open_dict(self):
        self._file.write(EMPTY_DICT + MARK)

    def key(self, text):
        self.value(text)

    def close_dict(self):
        self._file.write(SETITEMS)

    def open_list(self, length):
        self._file.write(EMPTY_LIST + MARK)

    def close_list(self):
        self._file.write(APPENDS)

    def add(self, value):
        pieces = []
        self._encode(value, pieces.append)
        self._file.write(b"".join(pieces))

    value = add

    def end(self):
        self._file.write(STOP)

    def _encode(self, value, put):
        kind = type(value)
        if kind is int:
            put(encode_small_int(value) or LONG1 + b"\x08" + INT64.pack(value))
        elif kind is str:
            self._encode_text(value, put)
        elif kind is Fresh:
            self._encode_text(value.text, put)
        elif kind is Traceback or kind is Node:
            if value.reference is not None:
                put(value.reference)
            else:
                self._encode(value.value, put)
                value.reference = self._put_memo(put)
        elif kind is dict:
            self._encode_dict(value, put)
        elif kind is Stack:
            self._encode_stack(value, put)
        elif kind is list:
            self._encode_items(value, put)
        elif kind is tuple:
            for item in value:
                self._encode(item, put)
            put(TUPLES[len(value)])
        elif kind is bool:
            put(TRUE if value else FALSE)
        else:
            put(FLOAT + DOUBLE.pack(value))

    def _put_memo(self, put):
        """Memoizes what was just written and returns the opcode that gets it."""
        put(encode_put(self._memo_size))
        self._memo_size += 1
        return encode_get(self._memo_size - 1)

    def _encode_text(self, text, put):
        known = self._texts.get(text)
        if known is not None:
            put(known)
            return
        data = text.encode("utf-8", "surrogatepass")
        put(TEXT + UINT32.pack(len(data)) + data)
        self._texts[text] = self._put_memo(put)

    def _encode_dict(self, value, put):
        put(EMPTY_DICT + MARK)
        for key, item in value.items():
            self._encode(key, put)
            self._encode(item, put)
        put(SETITEMS)
        if type(value.get("frames")) is Traceback:
            self._put_memo(put)  # a side table holds each dict that waits for its frames

    def _encode_stack(self, stack, put):
        if stack in self._frame_references:
            put(self._frame_references[stack])
            return
        self._encode_items(stack.frames, put)
        again = []
        self._encode_items(stack.frames, again.append)
        self._frame_references[stack] = b"".join(again)

    def _encode_items(self, items, put):
        put(EMPTY_LIST + MARK)
        for item in items:
            self._encode(item, put)
        put(APPENDS)


class ObjectPickle:
    """Collects the whole file as Python objects: any protocol, but small files only."""

    def __init__(self, file, protocol):
        self._file = file
        self._protocol = protocol
        self._open = []
        self._key = None
        self.root = None

    def open_dict(self):
        self._enter({})

    def key(self, text):
        self._key = to_objects(text)

    def open_list(self, length):
        self._enter([])

    def close_dict(self):
        self._open.pop()

    close_list = close_dict

    def add(self, value):
        self._place(to_objects(value))

    value = add

    def end(self):
        pickle.dump(self.root, self._file, self._protocol)

    def _enter(self, container):
        self._place(container)
        self._open.append(container)

    def _place(self, value):
        if not self._open:
            self.root = value
        elif type(self._open[-1]) is dict:
            self._open[-1][self._key] = value
        else:
            self._open[-1].append(value)
