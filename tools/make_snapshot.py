#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a snapshot as a CUDA caching allocator would write it: see --help."""

import sys

from snapshot_maker.command_line import main

if __name__ == "__main__":
    sys.exit(main())
