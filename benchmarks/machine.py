"""What a benchmark says of the machine that it ran on, and of its own process."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any


def machine(*packages: str) -> dict[str, Any]:
    """The processor, the versions that matter, and how busy the machine is already."""
    cpu = next(
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gb": round(
            os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
        ),
        "python": platform.python_version(),
        "load_at_start": round(os.getloadavg()[0], 2),
    } | {name: version(name) for name in packages}


def status_mb(field: str, process: str = "self") -> float:
    """A size of a process in MB: VmRSS, or VmHWM, which is its peak."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field):
            return round(int(line.split()[1]) / 1024, 1)
    raise LookupError(field)


def spread(values: Sequence[float], digits: int = 1) -> dict[str, float]:
    """Least, median and most of a few repeats: what a shared machine lets one say."""
    return {
        "min": round(min(values), digits),
        "median": round(statistics.median(values), digits),
        "max": round(max(values), digits),
    }
