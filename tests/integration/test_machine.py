"""What the machine below does to a crawl: few file handles, a clock that goes back.

Full and read-only disks are in test_bad_input.py.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.commands import (
    PATIENCE,
    ROOT,
    Run,
    crawl_command,
    environment,
    error_line,
)
from tests.webserver import Server, answer, serving, silence
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=2, words=60, hreflang=True)
QUICK = {"DOWNLOAD_DELAY": 0, "RETRY_WAIT": 0.1}


def under(
    words: list[str],
    seeds: str | Path,
    run_dir: Path,
    env: Mapping[str, str] = {},
    **settings: object,
) -> subprocess.CompletedProcess[str]:
    """A crawl that another program starts, which changes what it gets."""
    return subprocess.run(
        [*words, *crawl_command(seeds, "en,is", run_dir, **settings)],
        cwd=ROOT,
        env={**environment(), **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def with_files(number: int) -> list[str]:
    return ["sh", "-c", f'ulimit -n {number}; exec "$@"', "sh"]


# ------------------------------------------------------------------ the clock

BACK = 3600  # seconds
_PATCH = f"""
import os, time
now = time.time
time.time = lambda: now() - {BACK} * os.path.exists(os.environ["IT_IS_TIME"])
"""
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def clocks(way: str, folder: Path, jump: Path) -> dict[str, str]:
    """The environment of a process whose clock goes back when `jump` is written."""
    if way == "python":  # what Python programs ask for, with no library of the system
        (folder / "sitecustomize.py").write_text(_PATCH)
        return {"PYTHONPATH": f"{folder}:{ROOT}", "IT_IS_TIME": str(jump)}
    if LIBRARY is None:
        pytest.skip("needs libfaketime (apt install libfaketime)")
    return {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(jump),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


@pytest.mark.parametrize("way", ["python", "libfaketime"])
def test_a_clock_that_goes_back_holds_nothing_up(way, tmp_path):
    """An hour, in the middle of a crawl, while a server is silent: all clocks of ours,
    Twisted's timeouts among them, go on.
    """
    jump = tmp_path / "jump"

    def silent(connection: socket.socket) -> None:
        jump.write_text(f"-{BACK}")
        silence(connection)

    with Server() as server:
        server.add(TOWN)
        home = server.routes["/en/"].partition(b"\r\n\r\n")[2]
        server.routes["/en/"] = answer(home + b'<a href="/silent">more</a>')
        server.routes["/silent"] = silent
        done = under(
            *([], server.url("/en/"), tmp_path / "run"),
            env=clocks(way, tmp_path, jump),
            DOWNLOAD_DELAY=0.2,
            RETRY_WAIT=0.2,
            DOWNLOAD_TIMEOUT=2,
        )
    assert done.returncode == 0, done.stderr
    run = Run(tmp_path / "run")
    assert len(run.pairs) == len(TOWN.gold("en", "is"))
    assert run.stats["fetch/failed/timeout"] == 3


# ------------------------------------------------------------------ file handles


def test_too_few_file_handles_are_told_before_anything_is_written(tmp_path):
    done = under(with_files(64), "https://example.org/", tmp_path / "run")
    line = error_line(done)
    assert "may open 64 files, and CONCURRENT_REQUESTS=32 needs 132" in line
    assert "ulimit -n" in line
    assert not (tmp_path / "run").exists()


def test_more_sites_than_file_handles_cost_nothing(tmp_path):
    """Every site keeps its connection open, as servers do; not all of them may stay."""
    with serving([TOWN] * 150, "127.0.4") as servers:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("\n".join(server.url("/en/") for server in servers))
        done = under(with_files(140), seeds, tmp_path / "run", **QUICK)
    assert done.returncode == 0, done.stderr
    run = Run(tmp_path / "run")
    assert not [name for name in run.stats if "failed" in name]
    assert len(run.pairs) == len(servers) * len(TOWN.gold("en", "is"))
