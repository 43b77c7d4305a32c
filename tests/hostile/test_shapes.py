"""No shape of input takes a reader more than 300 MB, or anything but its own errors.

What twice the input costs is measured by benchmarks/linear.py.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.commands import PATIENCE, ROOT, environment
from tests.hostile.shapes import SHAPES

# Bytes. More of it takes the bounds of benchmarks/linear.py, in half an hour.
SIZES = {"page": 300_000, "encoded_page": 100_000, "robots": 512_000}
USUAL = 2_000_000
MEMORY = 300 * 2**20  # of address space, beside what the imports took

READ = """
import faulthandler, logging, resource, sys
from tests.fuzz.targets import TARGETS
from tests.hostile.shapes import SHAPES

reader, size, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
logging.disable()
TARGETS[reader](b"")
TARGETS[reader](SHAPES[reader][next(iter(SHAPES[reader]))](1000))
for name, make in SHAPES[reader].items():
    data = make(size)
    print(name, flush=True)
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    TARGETS[reader](data)
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print("all")
"""


@pytest.mark.parametrize("reader", SHAPES)
def test_every_shape_is_read_within_the_bound_of_memory(reader):
    size = SIZES.get(reader, USUAL)
    done = subprocess.run(
        [sys.executable, "-c", READ, reader, str(size), str(MEMORY)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert done.stdout.split()[-1] == "all", done.stderr[-2000:]
