# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark scripts share: the machine they ran on, and tables."""
import datetime
import os
import pathlib
import platform
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent


def first_line(*command):
    """The first line a program prints; empty when it cannot run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0]


def kernel_facts(path):
    """`key: value` lines of a file of /proc; the first of equal keys."""
    facts = {}
    try:
        with open(path) as file:
            for line in file:
                key, _, value = line.partition(":")
                facts.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    return facts


def memory_bytes(key):
    """A row of /proc/meminfo; None where there is no such file."""
    value = kernel_facts("/proc/meminfo").get(key)
    return int(value.split()[0]) * 1024 if value else None


def cmake_cache(build):
    """The variables of a build folder."""
    cache = {}
    for line in (pathlib.Path(build) / "CMakeCache.txt").read_text().splitlines():
        name, is_set, value = line.partition("=")
        if is_set and not line.startswith(("#", "//")):
            cache[name.partition(":")[0]] = value
    return cache


def machine_facts(build):
    """Where and with what: numbers of two machines or two compilers are not to be compared."""
    cache = cmake_cache(build)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": kernel_facts("/proc/cpuinfo").get("model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory_bytes("MemTotal"),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        "compiler": first_line(cache["CMAKE_CXX_COMPILER"], "--version"),
        "build_type": cache.get("CMAKE_BUILD_TYPE", ""),
        "sanitizers": cache.get("MEMREPLAY_SANITIZE", ""),
        "cuda": cache.get("MEMREPLAY_CUDA_MODE", ""),
        "version": first_line(os.path.join(build, "memreplay"), "--version"),
        "revision": first_line("git", "-C", str(root), "describe", "--always", "--dirty"),
    }


def machine_line(facts):
    memory = facts["memory_bytes"]
    return ", ".join(filter(None, (
        facts["date"][:10], f"{facts['cores']} cores of {facts['cpu']}",
        f"{memory / 1e9:.0f} GB of memory" if memory else "", facts["system"], facts["compiler"],
        f"Python {facts['python']}", f"{facts['version']} ({facts['revision']})")))


def table(header, rows):
    """A markdown table that also reads well as text: first column left, the others right."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(cells):
        padded = [cell.ljust(width) if column == 0 else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(cells, widths))]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * width if column == 0 else "-" * (width - 1) + ":"
            for column, width in enumerate(widths)]
    return "\n".join([line(header), line(rule), *(line(row) for row in rows)]) + "\n"
