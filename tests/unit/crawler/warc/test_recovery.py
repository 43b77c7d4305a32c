from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crawler.warc.found import MAX_RECORD
from crawler.warc.reader import iter_pages
from crawler.warc.record import compress, layout
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


@pytest.mark.parametrize("left", [b"", bytes(100), bytes(3_000_000)])
def test_a_file_that_holds_nothing_is_removed(tmp_path, left):
    path = tmp_path / "a.warc.gz.open"
    path.write_bytes(left)
    (tmp_path / "a.cdxj.open").write_bytes(b"")
    (recovered,) = recover(tmp_path)
    assert recovered.aside is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "left", [b"\x1f\x8b", b"no WARC" * 99, bytes(99) + b"x", b"WARC/1.0\r\n\r\n"]
)
def test_a_file_without_one_record_is_put_aside(tmp_path, left):
    for _ in range(2):  # the second does not replace the first
        (tmp_path / "a.warc.gz.open").write_bytes(left)
        (tmp_path / "a.cdxj.open").write_bytes(b"")
        (recovered,) = recover(tmp_path)
        assert recovered.aside.read_bytes() == left
        assert str(recovered.aside) in str(recovered)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.warc.gz.damaged", "a.warc.gz.2.damaged"}


def test_what_is_behind_the_last_record_is_put_aside(torn):
    folder, _ = torn
    (path,) = folder.glob("*.warc.gz.open")
    with path.open("ab") as file:
        file.write(b"\x1f\x8b\x08 the beginning of a record")
    (recovered,) = recover(folder)
    assert recovered.aside.read_bytes().endswith(b"the beginning of a record")
    assert recovered.aside.name == recovered.file.name + ".damaged"
    assert len(list(iter_pages(folder))) == len(list(iter_pages(recovered.file.parent)))


def test_a_record_that_is_too_large_to_read_is_not_cut_off(torn):
    folder, _ = torn
    (path,) = folder.glob("*.warc.gz.open")
    headers = [("WARC-Type", "response"), ("WARC-Target-URI", "http://a.example/")]
    large = compress(layout(headers, bytes(MAX_RECORD + 1)), 1)
    with path.open("ab") as file:
        file.write(large)
    size = path.stat().st_size
    (recovered,) = recover(folder)
    assert recovered.cut == 0
    assert recovered.file.stat().st_size == size


def test_damage_in_the_middle_costs_that_record_alone(torn):
    folder, _ = torn
    (path,) = folder.glob("*.warc.gz.open")
    before = len(list(iter_pages(path)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    (recovered,) = recover(folder)
    assert len(list(iter_pages(recovered.file))) >= before - 1
    assert recovered.file.stat().st_size == len(data)


def test_an_index_that_a_kill_left_beside_a_complete_file_is_taken_away(torn):
    folder, _ = torn
    (recovered,) = recover(folder)
    notes = recovered.file.with_name(recovered.file.name.replace(".warc.gz", ".cdxj"))
    notes.with_name(notes.name + ".open").write_bytes(b"")
    assert recover(folder) == []
    assert list(folder.glob("*.open")) == []


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
