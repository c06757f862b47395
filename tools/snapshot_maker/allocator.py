# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The caching allocator: pools, best fit, splitting, merging, deferred frees, expandable segments.

It follows the rules of PyTorch's device allocator, and reports what that one records:

    record(action, addr, size, stream, traceback, pool_id, block)

with requested bytes for alloc and frees, the bytes of the driver call for segments, and for `oom`
the free driver memory in the place of the address.
"""

from bisect import bisect_left, insort
from collections import deque, namedtuple

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

MIN_BLOCK = 512
SMALL_LIMIT = 1 * MIB  # requests up to here are served by the small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
LARGE_LIMIT = 10 * MIB  # from here on a segment fits its request
LARGE_ROUNDING = 2 * MIB
NON_SPLIT_ROUNDING = 20 * MIB
UNLIMITED = 1 << 62

DEFAULT_POOL = (0, 0)
FREE, ALLOCATED, PENDING = range(3)

FIRST_ADDRESS = 0x600000000000
ADDRESSES_PER_DEVICE = 1 << 42


class OutOfMemory(Exception):
    """What the program sees when an allocation failed. The size is the rounded one."""

    def __init__(self, size, stream, pool_id):
        super().__init__(size)
        self.size = size
        self.stream = stream
        self.pool_id = pool_id


Settings = namedtuple(
    "Settings", "capacity max_split_size roundup_power2_divisions expandable padding"
)


def round_up(value, step):
    return -(-value // step) * step


class Block:
    """A piece of a segment; the blocks of a segment are a doubly linked list."""

    __slots__ = (
        "addr", "size", "requested", "state", "mapped", "segment", "prev", "next",
        "traceback", "birth", "stream_uses", "history",
    )  # fmt: skip

    def __init__(self, segment, addr, size, mapped=True):
        self.addr = addr
        self.size = size
        self.requested = 0
        self.state = FREE
        self.mapped = mapped
        self.segment = segment
        self.prev = self.next = None
        self.traceback = None
        self.birth = None  # number of its recorded alloc event
        self.stream_uses = None
        self.history = ()


class Segment:
    """One allocation of the driver, or the address range of an expandable segment."""

    __slots__ = ("addr", "size", "pool", "stream", "first", "traceback", "expandable")

    def __init__(self, addr, size, pool, stream, expandable):
        self.addr = addr
        self.size = size
        self.pool = pool
        self.stream = stream
        self.expandable = expandable
        self.traceback = None
        self.first = Block(self, addr, size, mapped=not expandable)

    def blocks(self):
        block = self.first
        while block is not None:
            yield block
            block = block.next


class BlockSet:
    """Blocks ordered by (size, address) within their stream."""

    def __init__(self):
        self._by_stream = {}

    def of_stream(self, stream):
        return self._by_stream.setdefault(stream, [])

    def add(self, block):
        insort(self.of_stream(block.segment.stream), (block.size, block.addr, block))

    def remove(self, block):
        blocks = self.of_stream(block.segment.stream)
        del blocks[bisect_left(blocks, (block.size, block.addr))]

    def __iter__(self):
        for stream in sorted(self._by_stream):
            for _, _, block in list(self._by_stream[stream]):
                yield block


class Pool:
    """The free blocks of one size class of one memory pool."""

    def __init__(self, pool_id, is_small):
        self.pool_id = pool_id
        self.is_small = is_small
        self.page = SMALL_SEGMENT if is_small else LARGE_SEGMENT
        self.free = BlockSet()
        self.unmapped = BlockSet()  # address space of expandable segments without memory


class Driver:
    """cudaMalloc and cudaFree: a capacity, and addresses that come again."""

    def __init__(self, device, capacity):
        self.capacity = capacity
        self.used = 0
        self.outside = 0  # what other processes and libraries hold
        self._next_address = FIRST_ADDRESS + device * ADDRESSES_PER_DEVICE
        self._returned = {}

    @property
    def free(self):
        return self.capacity - self.used - self.outside

    def reserve_addresses(self, size):
        addr = self._next_address
        self._next_address += round_up(size, LARGE_ROUNDING)
        return addr

    def take(self, size):
        if not self.take_memory(size):
            return None
        returned = self._returned.get(size)
        return returned.pop() if returned else self.reserve_addresses(size)

    def give_back(self, addr, size):
        self.used -= size
        self._returned.setdefault(size, []).append(addr)

    def take_memory(self, size):
        if size > self.free:
            return False
        self.used += size
        return True


class Allocator:
    """The caching allocator of one device."""

    def __init__(self, device, settings, record):
        self.device = device
        self.settings = settings
        self.record = record
        self.driver = Driver(device, settings.capacity)
        self.memory_limit = UNLIMITED  # of all that this process may reserve
        self.segments = {}  # by address
        self.live = {}  # blocks the program owns, by address
        self.pending = {}  # blocks between the two events of their free, by address
        self.keeps_history = False  # the chains of past owners that PyTorch 2.0 shows
        self.allocated_bytes = self.active_bytes = 0
        self.max_allocated_bytes = self.max_reserved_bytes = 0
        self._pools = {}
        self._deferred = deque()  # (malloc call that will find it finished, block)
        self._mallocs = 0

    # What the program calls

    def malloc(self, requested, stream=0, traceback=None, pool_id=DEFAULT_POOL):
        self._mallocs += 1
        self._complete_finished_frees(traceback)
        size = self.round_size(requested)
        pool = self._pool(pool_id, size)
        block = self._find_memory(pool, size, stream, traceback)
        if block is None:
            self.record("oom", self.driver.free, size, stream, traceback, pool_id, None)
            raise OutOfMemory(size, stream, pool_id)
        self._split(block, size)
        block.state = ALLOCATED
        block.requested = requested
        block.traceback = traceback
        block.birth = None  # until the recorder says otherwise
        if self.keeps_history and traceback is not None:
            block.history = ((block.addr, requested, traceback),) + block.history[:3]
        self.record("alloc", block.addr, requested, stream, traceback, pool_id, block)
        self.live[block.addr] = block
        self.allocated_bytes += block.size
        self.active_bytes += block.size
        if self.allocated_bytes > self.max_allocated_bytes:
            self.max_allocated_bytes = self.allocated_bytes
        return block

    def free(self, block, traceback=None):
        self._record_free("free_requested", block, traceback)
        self.pending[block.addr] = self.live.pop(block.addr)
        self.allocated_bytes -= block.size
        block.state = PENDING
        if block.stream_uses:
            # Other streams finish at their own pace: 1 to 61 mallocs later, a fixed function.
            finished_at = self._mallocs + 1 + (block.addr // MIN_BLOCK) % 61
            self._deferred.append((finished_at, block))
        else:
            self._complete_free(block, traceback)

    def record_stream(self, block, stream):
        """The block is used on another stream, so its free has to wait for that stream."""
        if stream != block.segment.stream:
            block.stream_uses = (block.stream_uses or frozenset()) | {stream}

    def empty_cache(self, traceback=None):
        self._release_cached(traceback)

    # What the program may ask

    @property
    def available(self):
        """What the driver would still give to this process."""
        return min(self.driver.free, self.memory_limit - self.driver.used)

    def releasable(self):
        """The bytes that an empty_cache would give back, but for deferred frees."""
        total = 0
        for block in self._blocks_to_release():
            begin, end = whole_pages(block) if block.segment.expandable else (0, block.size)
            total += max(0, end - begin)
        return total

    def holes(self, stream, is_small=False, pool_id=DEFAULT_POOL):
        """The sizes of the free blocks there, the largest last."""
        pool = self._pools.get((pool_id, is_small))
        return [size for size, _, _ in pool.free.of_stream(stream)] if pool else []

    def round_size(self, requested):
        size = requested + self.settings.padding
        if size < MIN_BLOCK:
            return MIN_BLOCK
        divisions = self.settings.roundup_power2_divisions
        if divisions > 1 and size > MIN_BLOCK * divisions:
            floor = 1 << (size.bit_length() - 1)
            return round_up(size, floor // divisions)
        return round_up(size, MIN_BLOCK)

    def most_events(self, requested, stream, pool_id):
        """An upper bound of the events that this malloc records."""
        size = self.round_size(requested)
        pool = self._pool(pool_id, size)
        if self._find_cached(pool, size, stream) is not None:
            return 1 + len(self._deferred)
        if segment_size(size) + pool.page <= self.available:
            return 4 + len(self._deferred)
        return 4 + self.most_events_to_release()

    def most_events_to_release(self):
        whole = sum(
            block.segment.expandable or (block.prev is None and block.next is None)
            for pool in self._pools.values()
            for block in pool.free
        )
        return whole + 2 * len(self._deferred)

    def tracebacks(self):
        """All that the segments and their blocks refer to."""
        for segment in self.segments.values():
            for owner in (segment, *segment.blocks()):
                if owner.traceback is not None:
                    yield owner.traceback
            for block in segment.blocks():
                for _, _, traceback in block.history:
                    yield traceback

    def mapped_ranges(self):
        """(segment, its blocks) for each contiguous range that has memory, by address."""
        for addr in sorted(self.segments):
            segment = self.segments[addr]
            blocks = []
            for block in segment.blocks():
                if block.mapped:
                    blocks.append(block)
                elif blocks:
                    yield segment, blocks
                    blocks = []
            if blocks:
                yield segment, blocks

    # Finding memory

    def _pool(self, pool_id, size):
        key = (pool_id, size <= SMALL_LIMIT)
        if key not in self._pools:
            self._pools[key] = Pool(*key)
        return self._pools[key]

    def _find_memory(self, pool, size, stream, traceback):
        request = (pool, size, stream, traceback)
        block = self._take_cached(pool, size, stream) or self._take_from_driver(*request)
        if block is None and self._release_oversize(*request):
            block = self._take_from_driver(*request)
        if block is None:
            self._release_cached(traceback)
            block = self._take_from_driver(*request)
        return block

    def _find_cached(self, pool, size, stream):
        blocks = pool.free.of_stream(stream)
        index = bisect_left(blocks, (size,))
        if index == len(blocks):
            return None
        block = blocks[index][2]
        if self.settings.expandable:
            # A block that could still grow is kept back for a larger request.
            while index + 1 < len(blocks) and room_of(blocks[index + 1][2]) < room_of(block):
                index += 1
                block = blocks[index][2]
        limit = self.settings.max_split_size
        if size < limit <= block.size:
            return None  # an oversize block is not for a small request
        if size >= limit and block.size >= size + NON_SPLIT_ROUNDING:
            return None
        return block

    def _take_cached(self, pool, size, stream):
        block = self._find_cached(pool, size, stream)
        if block is not None:
            pool.free.remove(block)
        return block

    def _take_from_driver(self, pool, size, stream, traceback):
        bytes_needed = segment_size(size)
        if self.driver.used + bytes_needed > self.memory_limit:
            return None
        if self.settings.expandable:
            return self._take_expandable(pool, size, stream, traceback)
        addr = self.driver.take(bytes_needed)
        if addr is None:
            return None
        segment = self.segments[addr] = Segment(addr, bytes_needed, pool, stream, False)
        segment.traceback = traceback
        self._note_reserved()
        self.record("segment_alloc", addr, bytes_needed, stream, traceback, pool.pool_id, None)
        return segment.first

    def _note_reserved(self):
        if self.driver.used > self.max_reserved_bytes:
            self.max_reserved_bytes = self.driver.used

    # Cutting and joining: the low block always survives, so a segment's first block stays.

    def _split(self, block, size):
        rest = block.size - size
        if block.segment.pool.is_small or self.settings.expandable:
            worth_it = rest >= MIN_BLOCK
        else:
            worth_it = size < self.settings.max_split_size and rest > SMALL_LIMIT
        if worth_it:
            block.segment.pool.free.add(self._cut(block, size))

    @staticmethod
    def _cut(block, size):
        """Shortens the block to `size` and returns the rest behind it."""
        rest = Block(block.segment, block.addr + size, block.size - size, block.mapped)
        rest.prev, rest.next = block, block.next
        rest.requested = block.requested  # stale on free blocks, as in the real allocator
        if block.next is not None:
            block.next.prev = rest
        block.next = rest
        block.size = size
        return rest

    def _join_neighbours(self, block, block_set):
        if can_join(block.prev, block):
            block_set.remove(block.prev)
            block = self._join(block.prev, block)
        if can_join(block.next, block):
            block_set.remove(block.next)
            block = self._join(block, block.next)
        return block

    @staticmethod
    def _join(low, high):
        low.size += high.size
        low.next = high.next
        if high.next is not None:
            high.next.prev = low
        return low

    # Frees

    def _record_free(self, action, block, traceback):
        segment = block.segment
        self.record(
            action, block.addr, block.requested, segment.stream, traceback or block.traceback,
            segment.pool.pool_id, block,
        )  # fmt: skip

    def _complete_free(self, block, traceback):
        self._record_free("free_completed", block, traceback)
        del self.pending[block.addr]
        self.active_bytes -= block.size
        block.state = FREE
        block.traceback = block.stream_uses = None
        free = block.segment.pool.free
        free.add(self._join_neighbours(block, free))

    def _complete_finished_frees(self, traceback):
        while self._deferred and self._deferred[0][0] <= self._mallocs:
            self._complete_free(self._deferred.popleft()[1], traceback)

    # Giving memory back to the driver. Private pools keep theirs.

    def _release_cached(self, traceback):
        while self._deferred:
            self._complete_free(self._deferred.popleft()[1], traceback)
        for block in self._blocks_to_release():
            if block.segment.expandable:
                self._unmap(block, traceback)
            else:
                self._release_segment(block, traceback)

    def _blocks_to_release(self):
        for is_small in (False, True):
            pool = self._pools.get((DEFAULT_POOL, is_small))
            for block in pool.free if pool else ():
                if block.segment.expandable or (block.prev is None and block.next is None):
                    yield block

    def _release_segment(self, block, traceback):
        segment = block.segment
        segment.pool.free.remove(block)
        self._record_segment("segment_free", segment.addr, segment.size, segment, traceback)
        del self.segments[segment.addr]
        self.driver.give_back(segment.addr, segment.size)

    def _release_oversize(self, pool, size, stream, traceback):
        """Frees the oversize cached blocks that make room for this request, largest first."""
        limit = self.settings.max_split_size
        if limit == UNLIMITED or self.settings.expandable:
            return False
        wanted = max(size, limit)
        whole = [
            block
            for _, _, block in pool.free.of_stream(stream)
            if block.size >= limit and block.prev is None and block.next is None
        ]
        large_enough = [block for block in whole if block.size >= wanted]
        for block in large_enough[:1] or reversed(whole):
            self._release_segment(block, traceback)
            wanted -= block.size
            if wanted <= 0:
                return True
        return False

    def _record_segment(self, action, addr, size, segment, traceback):
        self.record(
            action, addr, size, segment.stream, traceback or segment.traceback,
            segment.pool.pool_id, None,
        )  # fmt: skip

    # Expandable segments: address space is reserved once, memory is mapped by whole pages.

    def _take_expandable(self, pool, size, stream, traceback):
        block = self._find_address_space(pool, size, stream)
        if not block.mapped:
            block = self._map(block, min(size, block.size), traceback)
        while block is not None and block.size < size:
            behind = block.next
            block = self._map(behind, min(size - block.size, behind.size), traceback)
        if block is not None:
            pool.free.remove(block)
        return block

    def _find_address_space(self, pool, size, stream):
        for _, _, block in pool.unmapped.of_stream(stream):
            before = block.prev
            start = before if before is not None and before.state == FREE else block
            room, block = 0, start
            while block is not None and block.state == FREE and room < size:
                room += block.size
                block = block.next
            if room >= size:
                return start
        range_size = round_up(self.driver.capacity * 9 // 8, pool.page)
        addr = self.driver.reserve_addresses(range_size)
        segment = self.segments[addr] = Segment(addr, range_size, pool, stream, True)
        pool.unmapped.add(segment.first)
        return segment.first

    def _map(self, block, size, traceback):
        """Gives memory to the start of an unmapped block; None if the driver has too little."""
        segment, pool = block.segment, block.segment.pool
        mapped_bytes = round_up(size, pool.page)
        if not self.driver.take_memory(mapped_bytes):
            return None
        pool.unmapped.remove(block)
        if mapped_bytes < block.size:
            pool.unmapped.add(self._cut(block, mapped_bytes))
        addr = block.addr
        block.mapped = True
        if segment.traceback is None and block.prev is None:
            segment.traceback = traceback
        block = self._join_neighbours(block, pool.free)
        pool.free.add(block)
        self._note_reserved()
        self._record_segment("segment_map", addr, mapped_bytes, segment, traceback)
        return block

    def _unmap(self, block, traceback):
        """Takes the memory of the whole pages that lie inside a free block."""
        segment, pool = block.segment, block.segment.pool
        begin, end = whole_pages(block)
        if begin >= end:
            return
        pool.free.remove(block)
        if begin > block.addr:
            block, before = self._cut(block, begin - block.addr), block
            pool.free.add(before)
        if end < block.addr + block.size:
            pool.free.add(self._cut(block, end - block.addr))
        block.mapped = False
        pool.unmapped.add(self._join_neighbours(block, pool.unmapped))
        self.driver.used -= end - begin
        self._record_segment("segment_unmap", begin, end - begin, segment, traceback)


def can_join(neighbour, block):
    return (
        neighbour is not None and neighbour.state == FREE and neighbour.mapped == block.mapped
    )


def whole_pages(block):
    """Begin and end of the pages that lie inside a block of an expandable segment."""
    start, page = block.segment.addr, block.segment.pool.page
    begin = start + round_up(block.addr - start, page)
    return begin, start + (block.addr + block.size - start) // page * page


def room_of(block):
    """The size a free block can grow to in an expandable segment."""
    behind = block.next
    return block.size + (behind.size if behind is not None and not behind.mapped else 0)


def segment_size(size):
    if size <= SMALL_LIMIT:
        return SMALL_SEGMENT
    if size < LARGE_LIMIT:
        return LARGE_SEGMENT
    return round_up(size, LARGE_ROUNDING)
