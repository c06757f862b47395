# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Makes snapshots that a CUDA caching allocator would really write, by simulating one.

A workload (workload.py) drives one allocator per device (allocator.py) through a process that
records its events (process.py). Rows of the file are described once (layout.py), as values whose
sharing is explicit (document.py), and written by one of three writers (pickle_writer.py). Stacks
come from stacks.py; the known answers about a file from truth.py.
"""
