"""No shape of input takes a reader more than 200 MB, or anything but its own errors.

What twice the input costs is measured by benchmarks/linear.py.
"""

from __future__ import annotations

import json
import subprocess
import sys

from tests.commands import PATIENCE, ROOT, environment

# Bytes. More of it takes the bounds of benchmarks/linear.py, in half an hour.
SIZES = {"page": 150_000, "encoded_page": 100_000, "robots": 256_000}
USUAL = 600_000
MEMORY = 200 * 2**20  # of address space, beside what the imports took

READ = """
import json, logging, resource, sys
from tests.fuzz.targets import TARGETS
from tests.hostile.shapes import SHAPES

sizes, usual, memory = json.loads(sys.argv[1])
logging.disable()
for reader, shapes in SHAPES.items():
    TARGETS[reader](b"")
    TARGETS[reader](shapes[next(iter(shapes))](1000))
    for name, make in shapes.items():
        data = make(sizes.get(reader, usual))
        print(reader, name, flush=True)
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        TARGETS[reader](data)
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print("all")
"""


def test_every_shape_is_read_within_the_bound_of_memory():
    done = subprocess.run(
        [sys.executable, "-c", READ, json.dumps([SIZES, USUAL, MEMORY])],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    reached = done.stdout.splitlines()[-1:]
    assert reached == ["all"], (reached, done.stderr[-2000:])
