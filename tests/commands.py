"""Run Bifocal as a user does, as a process of its own, and read what it left behind."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.data import PairScore
from crawler.sinks.pairs import read_pairs

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "worlds" / "demo"
DEMO_SEEDS = ROOT / "seeds" / "demo.txt"
# What no run may take longer than, in seconds: these worlds are small.
PATIENCE = 120


def crawl_command(
    seeds: str | Path, langs: str, run_dir: Path, **settings: object
) -> list[str]:
    """The words of `scrapy crawl bilingual`; `-s` for each setting.

    Servers on loopback are ours, and must be named as such.
    """
    words = [sys.executable, "-W", "error::ResourceWarning", "-m", "scrapy", "crawl"]
    words += ["bilingual", "-a", f"seeds={seeds}", "-a", f"langs={langs}"]
    ours = {"RUN_DIR": run_dir, "ADDRESS_ALLOW": "127.0.0.0/8"}
    for name, value in {**ours, **settings}.items():
        words += ["-s", f"{name}={value}"]
    return words


def environment(
    profile: str = "adaptive", proxies: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Of a fresh shell, with the profile that a user would choose.

    The size of a terminal, which pytest-xdist sets, is not among it. `proxies`: what it
    says of them, by variable; without, that everything is to be reached past them.
    """
    # `make newest-scrapy` puts another Scrapy on the path
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    ours = {"SCRAPY_PROJECT": profile, "PYTHONPATH": path}
    # nor are the settings of a command that ran in this process
    left_out = ("COLUMNS", "LINES", "SCRAPY_SETTINGS_MODULE")
    theirs = {k: v for k, v in os.environ.items() if k not in left_out}
    if proxies is None:
        return theirs | ours | {"NO_PROXY": "*"}
    theirs = {k: v for k, v in theirs.items() if "proxy" not in k.lower()}
    return theirs | ours | dict(proxies)


def crawl(
    seeds: str | Path,
    langs: str,
    run_dir: Path,
    *,
    profile: str = "adaptive",
    proxies: Mapping[str, str] | None = None,
    stdin: str | None = None,
    patience: float = PATIENCE,
    **settings: object,
) -> subprocess.CompletedProcess[str]:
    """Crawl to the end, whatever the end is."""
    return subprocess.run(
        crawl_command(seeds, langs, run_dir, **settings),
        cwd=ROOT,
        env=environment(profile, proxies),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )


@contextmanager
def crawling(
    seeds: str | Path,
    langs: str,
    run_dir: Path,
    *,
    profile: str = "adaptive",
    **settings: object,
) -> Iterator[subprocess.Popen[str]]:
    """A crawl that goes on meanwhile; it is killed at the end of the block."""
    process = subprocess.Popen(
        crawl_command(seeds, langs, run_dir, **settings),
        cwd=ROOT,
        env=environment(profile),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def bifocal(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a verb of `bifocal`."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("bifocal")), *map(str, words)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def in_a_terminal(
    command: Sequence[str], columns: int, **variables: str
) -> tuple[str, int]:
    """What a command writes to a terminal of this width, and its exit status."""
    ours, theirs = pty.openpty()
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment() | variables,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65_536):
            written += piece
    except OSError:  # the end of a terminal
        pass
    finally:
        os.close(ours)
        status = process.wait(PATIENCE)
    return written.decode(), status


@dataclass(frozen=True, slots=True)
class Run:
    """What a run directory holds."""

    path: Path

    @property
    def pairs(self) -> list[PairScore]:
        return list(read_pairs(self.path / "pairs.tsv.gz"))

    @property
    def visits(self) -> list[dict[str, Any]]:
        """The lines of the crawl log, in the order of fetching."""
        text = (self.path / "crawl.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def stats(self) -> dict[str, Any]:
        return json.loads((self.path / "stats.json").read_text("utf-8"))

    @property
    def settings(self) -> dict[str, Any]:
        """run.json."""
        return json.loads((self.path / "run.json").read_text("utf-8"))

    @property
    def warcs(self) -> list[Path]:
        return sorted((self.path / "warc").glob("*.warc.gz"))


def pair_urls(run: Run) -> list[tuple[str, str]]:
    return [(pair.src_url, pair.trg_url) for pair in run.pairs]


def error_line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that says what was wrong; asserts that it is one."""
    assert done.returncode not in (0, None), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    lines = [
        line for line in done.stderr.splitlines() if line.startswith("bifocal: error: ")
    ]
    assert len(lines) == 1, done.stderr
    return lines[0].removeprefix("bifocal: error: ")
