#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""The replay that a careful person writes in an afternoon: pickle.load, then dictionaries.

It is what memreplay is measured against, so it does the same work as `memreplay report`: the
allocated and the reserved curve with the carried-in memory, the peaks at a distance, and who holds
the memory at each of them, by the innermost frame of the user's code. Only for trusted files:
pickle.load runs what it finds.
"""
import argparse
import json
import pickle

INTERNAL_PATHS = ("/torch/", "/site-packages/", "/dist-packages/", "/lib/python", "<frozen ")
INTERNAL_NAMES = ("<module>", "_call_impl", "_wrapped_call_impl", "_run_code")


def site_of(frames):
    """The innermost frame of the user's own code; else the innermost frame."""
    for frame in frames or ():
        path = frame["filename"]
        if path.endswith(".py") and frame["name"] not in INTERNAL_NAMES \
                and not any(part in path for part in INTERNAL_PATHS):
            return path, frame["line"]
    return (frames[0]["filename"], frames[0]["line"]) if frames else ("<no frames>", 0)


class Replay:
    """One walk over a trace: both curves after each event, and the lifetimes behind them."""

    def __init__(self, trace, segments):
        self.lifetimes = []  # [birth, end, bytes, frames]; birth -1: older than the trace
        self.allocated, self.reserved = [], []
        self._live = {}  # address -> row of `lifetimes`
        in_use = [block for segment in segments for block in segment["blocks"]
                  if block["state"] == "active_allocated"]
        self._walk(trace)
        for block in in_use:
            if block["address"] not in self._live:
                self.lifetimes.append([-1, None, block["requested_size"], block["frames"]])
        # Curves count from the start of the trace; the segments tell where they end.
        end = sum(block["requested_size"] for block in in_use)
        self.start = end - (self.allocated[-1] if trace else 0)
        self.allocated = [self.start + level for level in self.allocated]
        reserved_end = sum(segment["total_size"] for segment in segments)
        reserved_start = reserved_end - (self.reserved[-1] if trace else 0)
        self.reserved = [reserved_start + level for level in self.reserved]

    def _walk(self, trace):
        live, lifetimes = self._live, self.lifetimes
        half_freed = set()  # requested, not completed
        allocated = reserved = 0
        for index, event in enumerate(trace):
            action = event["action"]
            if action == "alloc":
                live[event["addr"]] = len(lifetimes)
                lifetimes.append([index, None, event["size"], event.get("frames")])
                allocated += event["size"]
            elif action == "free_requested":
                half_freed.add(event["addr"])
                row = live.pop(event["addr"], None)
                if row is None:  # carried in
                    lifetimes.append([-1, index, event["size"], event.get("frames")])
                else:
                    lifetimes[row][1] = index
                allocated -= event["size"]
            elif action == "free_completed":
                if event["addr"] in half_freed:
                    half_freed.discard(event["addr"])
                elif event["addr"] in live:  # its request was not recorded
                    lifetimes[live.pop(event["addr"])][1] = index
                    allocated -= event["size"]
            elif action in ("segment_alloc", "segment_map"):
                reserved += event["size"]
            elif action in ("segment_free", "segment_unmap"):
                reserved -= event["size"]
            self.allocated.append(allocated)
            self.reserved.append(reserved)

    def peaks(self, count, distance_percent):
        """(bytes, last event of the plateau) of local maxima, none too close to a larger one."""
        found, rises, level = [], True, self.start
        for index, value in enumerate(self.allocated):
            if value < level and rises:
                found.append((level, index - 1))
            if value != level:
                rises = value > level
            level = value
        if rises:
            found.append((level, len(self.allocated) - 1))
        chosen = []
        for level, index in sorted(found, key=lambda peak: (-peak[0], peak[1])):
            if all(100 * (other - level) > distance_percent * other for other, _ in chosen):
                chosen.append((level, index))
            if len(chosen) == count:
                break
        return chosen

    def holders(self, moment):
        """(site, bytes, tensors) of what is live after this event, the largest first."""
        sites, known = {}, {}
        for birth, end, size, frames in self.lifetimes:
            if birth <= moment and (end is None or end > moment):
                # Many lifetimes share a list of frames: each list is looked at once.
                site = known.get(id(frames))
                if site is None:
                    site = known[id(frames)] = site_of(frames)
                total = sites.setdefault(site, [0, 0])
                total[0] += size
                total[1] += 1
        rows = [(*site, *total) for site, total in sites.items()]
        return sorted(rows, key=lambda row: (-row[2], row[:2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("snapshot")
    parser.add_argument("--top-n", type=int, default=6, metavar="N", help="peaks (6)")
    parser.add_argument("--top-contributors", type=int, default=15, metavar="N", help="rows (15)")
    parser.add_argument("--dedup-pct", type=float, default=3.0, metavar="P", help="distance (3)")
    parser.add_argument("--json", action="store_true", help="all rows, for programs")
    options = parser.parse_args()

    with open(options.snapshot, "rb") as file:
        snapshot = pickle.load(file)
    traces = snapshot["device_traces"]
    device = max(range(len(traces)), key=lambda row: len(traces[row]))
    segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
    replay = Replay(traces[device], segments)
    peak = max([replay.start, *replay.allocated])
    peaks = [(level, event, replay.holders(event))
             for level, event in replay.peaks(options.top_n, options.dedup_pct)]

    if options.json:
        print(json.dumps({
            "device": device, "events": len(traces[device]), "start_bytes": replay.start,
            "peak_bytes": peak, "reserved_peak_bytes": max(replay.reserved, default=0),
            "peaks": [{"bytes": level, "event": event,
                       "sites": [{"file": file, "line": line, "bytes": size, "tensors": tensors}
                                 for file, line, size, tensors in holders]}
                      for level, event, holders in peaks]}))
        return
    print(f"device {device}: {len(traces[device])} events, peak {peak / 2**30:.3f} GiB, "
          f"reserved {max(replay.reserved, default=0) / 2**30:.3f} GiB")
    for level, event, holders in peaks:
        print(f"\n{level / 2**30:.3f} GiB at event {event}")
        for file, line, size, tensors in holders[:options.top_contributors]:
            print(f"{size / 2**30:10.3f} GiB {100 * size / max(level, 1):5.1f}% {tensors:6} "
                  f"{file}:{line}")


if __name__ == "__main__":
    main()
