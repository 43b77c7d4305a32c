from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crawler.warc.reader import iter_pages
from crawler.warc.recovery import recover

# Writes exchanges for ever, saying after each which one is safe now.
WRITE = """
import sys, itertools, random
from datetime import UTC, datetime
from crawler.warc.exchange import Exchange
from crawler.warc.writer import WarcConfig, WarcWriter

warc = WarcWriter(sys.argv[1], WarcConfig(max_bytes=200_000))
for n in itertools.count():
    body = random.Random(n).randbytes(3000)
    warc.write_exchange(
        Exchange(f"https://example.org/{n}", 200, (), body, datetime.now(UTC))
    )
    print(n, flush=True)
"""


def write_until_killed(folder: Path, exchanges: int) -> int:
    """How many exchanges the writer had reported when it was killed."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(folder)], stdout=subprocess.PIPE, text=True
    )
    for _ in range(exchanges):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    rest = writer.communicate()[0]
    return exchanges + len(rest.splitlines())


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> tuple[Path, int]:
    while True:
        folder = tmp_path_factory.mktemp("killed")
        reported = write_until_killed(folder, 100)
        if list(folder.glob("*.warc.gz.open")):  # the kill may fall between two files
            return folder, reported


@pytest.fixture
def torn(killed, tmp_path) -> tuple[Path, int]:
    """A copy of what a killed writer left, to be damaged further."""
    folder, reported = killed
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path, reported


def test_nothing_that_was_reported_is_lost(torn):
    folder, reported = torn
    (recovered,) = recover(folder)
    assert list(folder.glob("*.open")) == []
    assert len(list(folder.glob("*.warc.gz"))) == len(list(folder.glob("*.cdxj"))) > 1
    counts: Counter[str] = Counter()
    urls = [page.url for page in iter_pages(folder, counts=counts)]
    assert urls[:reported] == [f"https://example.org/{n}" for n in range(reported)]
    assert not [name for name in counts if "damaged" in name]
    assert "completed" in str(recovered)
    assert recover(folder) == []


@pytest.mark.parametrize("cut", [1, 100, 2500, 3100])
def test_a_torn_tail_is_cut_off(torn, cut):
    folder, _ = torn
    (path,) = folder.glob("*.warc.gz.open")
    before = len(list(iter_pages(path)))
    os.truncate(path, path.stat().st_size - cut)
    (recovered,) = recover(folder)
    assert recovered.cut > 0
    counts: Counter[str] = Counter()
    assert len(list(iter_pages(recovered.file, counts=counts))) == before - 1
    assert not [name for name in counts if "damaged" in name]
    lines = recovered.file.with_name(recovered.file.name.removesuffix(".warc.gz"))
    assert len(Path(f"{lines}.cdxj").read_text().splitlines()) == before - 1


def test_a_tail_of_zeros_after_a_power_failure_is_cut_off(torn):
    folder, _ = torn
    (path,) = folder.glob("*.warc.gz.open")
    before = len(list(iter_pages(path)))
    with path.open("ab") as file:
        file.write(bytes(5000))
    (recovered,) = recover(folder)
    assert recovered.cut == 5000
    assert len(list(iter_pages(recovered.file))) == before


@pytest.mark.parametrize("left", [b"", b"\x1f\x8b", bytes(100)])
def test_a_file_without_one_record_is_removed(tmp_path, left):
    path = tmp_path / "a.warc.gz.open"
    path.write_bytes(left)
    (tmp_path / "a.cdxj.open").write_bytes(b"")
    (recovered,) = recover(tmp_path)
    assert "no complete record" in str(recovered)
    assert list(tmp_path.iterdir()) == []


def test_a_living_writers_file_is_let_alone(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        writer.stdout.readline()
        assert recover(tmp_path) == []
    finally:
        writer.kill()
        writer.communicate()
    (recovered,) = recover(tmp_path)
    assert recovered.records >= 3


def test_a_folder_that_is_not_there_needs_no_recovery(tmp_path):
    assert recover(tmp_path / "missing") == []
