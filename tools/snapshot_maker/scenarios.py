# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The programs that can run, by name."""

from . import healthy_scenarios, leak_scenarios, oom_scenarios
from .workload import TrainingLoop

PROGRAMS = {
    "training": TrainingLoop,
    "oom-capacity": oom_scenarios.Capacity,
    "oom-fragmentation": oom_scenarios.Fragmentation,
    "oom-other-stream": oom_scenarios.OtherStream,
    "oom-private-pool": oom_scenarios.PrivatePool,
    "oom-outside": oom_scenarios.Outside,
    "oom-huge-request": oom_scenarios.HugeRequest,
    "oom-memory-limit": oom_scenarios.MemoryLimit,
    "healthy-steady": healthy_scenarios.Steady,
    "healthy-fragmented": healthy_scenarios.HealthyFragmented,
    "healthy-near-full": healthy_scenarios.NearFull,
    "healthy-streams": healthy_scenarios.Streams,
    "healthy-pool": healthy_scenarios.GraphPool,
    "leak": leak_scenarios.Leak,
    "steady": leak_scenarios.NoLeak,
}
