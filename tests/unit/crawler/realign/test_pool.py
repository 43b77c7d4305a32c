from __future__ import annotations

import os

import pytest

from crawler.errors import RunError
from crawler.realign.pool import Pool


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_is_done_once(jobs):
    with Pool(jobs) as pool:
        results = list(pool.run(pow, [(n, 2) for n in range(7)]))
    assert sorted(results) == [n * n for n in range(7)]


def test_a_worker_that_is_killed_is_one_clear_error():
    with pytest.raises(RunError, match="memory ran out"), Pool(2) as pool:
        list(pool.run(os._exit, [(9,)] * 3))


def test_the_task_of_a_worker_that_is_killed_is_done_again(tmp_path):
    killed = tmp_path / "killed"
    code = (
        "import os, pathlib\n"
        f"killed = pathlib.Path({str(killed)!r})\n"
        "if not killed.exists():\n"
        "    killed.touch()\n"
        "    os._exit(9)"
    )
    with Pool(2) as pool:
        assert list(pool.run(exec, [(code,), ("pass",), ("pass",)])) == [None] * 3


def test_an_error_in_a_worker_comes_out():
    with pytest.raises(ZeroDivisionError), Pool(2) as pool:
        list(pool.run(divmod, [(1, 0)] * 3))
