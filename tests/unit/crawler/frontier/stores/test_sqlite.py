"""What only a file can go through: other processes, damage, a full disk."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import tracemalloc
from itertools import count
from pathlib import Path

import pytest

from crawler.data import FrontierEntry
from crawler.errors import FrontierError
from crawler.frontier.stores.sqlite import SqliteFrontier, digest_of

HOLDER = """
import sys, time
from crawler.frontier.stores.sqlite import SqliteFrontier
store = SqliteFrontier.open(sys.argv[1])
print("open", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "frontier.sqlite"


def entry(name: object, score: float = 0.5, payload: bytes = b"") -> FrontierEntry:
    return FrontierEntry(f"https://a.is/{name}", "a.is", score, 1, payload)


def fill(path: Path, urls: int = 5000) -> None:
    store = SqliteFrontier.open(path)
    store.push([entry(i, i % 97 / 97, b"x" * 80) for i in range(urls)])
    store.close()


def use_all(path: Path) -> int:
    store = SqliteFrontier.open(path)
    known = sum(1 for _ in store.scan("a.is"))
    while found := store.pop():
        store.release(found.url, done=True)
    store.close()
    return known


# -------------------------------------------------------------- its memory


def test_everything_is_there_again(path):
    store = SqliteFrontier.open(path)
    store.push([entry("x", 0.9, b"x"), entry("y", 0.8), entry("z", 0.7)])
    store.release(store.pop().url, done=True, payload=b"page")
    store.pop()  # y: leased
    store.save("learned", b"\x00\xff")
    store.close()

    store = SqliteFrontier.open(path)
    assert store.counts() == {"pending": 2, "leased": 0, "done": 1}
    assert store.load("learned") == b"\x00\xff"
    assert [(k.entry, k.state) for k in store.scan("a.is")] == [
        (entry("x", 0.9, b"page"), "done"),
        (entry("y", 0.8), "pending"),
        (entry("z", 0.7), "pending"),
    ]
    assert store.push([entry("x", 1.0)]).ignored == 1
    assert [store.pop(), store.pop(), store.pop()] == (
        [entry("y", 0.8), entry("z", 0.7), None]
    )
    store.close()


def test_ties_are_broken_as_before(path):
    names = [f"n{i * 7919 % 101}" for i in range(101)]
    store = SqliteFrontier.open(path)
    store.push([entry(name) for name in names])
    first = [store.pop().url for _ in range(3)]
    store.close()
    store = SqliteFrontier.open(path)
    store.push([entry("later")])
    again = [store.pop().url for _ in range(102)]
    store.close()
    assert again == [entry(name).url for name in [*names, "later"]]
    assert again[:3] == first


def test_what_is_postponed_takes_no_memory_and_comes_back(path):
    store = SqliteFrontier.open(path)
    store.push([entry(f"x{n}", n / 1000) for n in range(1000)])
    store.postpone(store.pop().url)
    tracemalloc.start()
    for _ in range(900):
        store.postpone(store.pop().url)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 90_000  # bytes: a URL alone takes a hundred
    store.commit()
    store.close(commit=False)
    again = SqliteFrontier.open(path)
    assert dict(again.counts()) == {"pending": 1000, "leased": 0, "done": 0}
    assert again.pop().url.endswith("x999")
    again.close()


def test_two_urls_of_one_digest_are_two_urls(path):
    one, two = entry(33954030, 0.2), entry(37423887, 0.1)
    assert digest_of(one.url) == digest_of(two.url)
    store = SqliteFrontier.open(path)
    assert store.push([one]).added == 1
    assert store.push([two]).added == 1
    assert store.push([one, two]).ignored == 2
    assert store.push([entry(37423887, 0.3)]).raised == 1
    assert [store.pop().score, store.pop().score] == [0.3, 0.2]
    store.close()


def test_closing_twice_is_once(path):
    store = SqliteFrontier.open(path)
    store.close()
    store.close()
    with pytest.raises(FrontierError, match="is closed"):
        store.pop()


# --------------------------------------------------------- other processes


def test_a_second_opener_is_told_so_and_the_first_goes_on(path):
    store = SqliteFrontier.open(path)
    with pytest.raises(FrontierError, match=r"frontier\.sqlite: .*locked.*stop that"):
        SqliteFrontier.open(path)
    assert store.push([entry("x")]).added == 1
    store.close()
    SqliteFrontier.open(path).close()


def test_a_killed_process_leaves_the_file_free(path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "open\n"
    with pytest.raises(FrontierError, match="another process has it open"):
        SqliteFrontier.open(path)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    SqliteFrontier.open(path).close()


# --------------------------------------------------------- bad files, bad disks


def test_a_file_of_another_kind_is_refused_and_left_alone(path):
    text = "https://a.is/\n" * 200
    path.write_text(text)
    with pytest.raises(FrontierError, match=r"not a database \(name a frontier"):
        SqliteFrontier.open(path)
    assert path.read_text() == text


def test_another_programs_database_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE url (seq, site)")
    other.close()
    with pytest.raises(FrontierError, match="of another program or version"):
        SqliteFrontier.open(path)
    with sqlite3.connect(path) as other:
        tables = other.execute("SELECT name FROM sqlite_master").fetchall()
    other.close()
    assert tables == [("url",)]


def test_a_frontier_of_another_version_is_refused(path):
    fill(path, 1)
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(FrontierError, match="of another program or version"):
        SqliteFrontier.open(path)


def test_an_empty_file_becomes_a_frontier(path):
    path.touch()
    fill(path, 3)
    assert use_all(path) == 3


def test_a_directory_is_not_taken_for_a_file(tmp_path):
    with pytest.raises(FrontierError, match="unable to open"):
        SqliteFrontier.open(tmp_path)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_damaged(path, kept):
    fill(path)
    os.truncate(path, int(path.stat().st_size * kept))
    with pytest.raises(FrontierError, match=r"malformed \(restore a copy"):
        use_all(path)


def test_pages_of_zeros_are_damage(path):
    fill(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 4)
        file.write(bytes(size // 2))
    with pytest.raises(FrontierError, match=r"\(restore a copy, or move it away"):
        use_all(path)


@pytest.fixture
def as_nobody():
    """Root may write everywhere; give that up for a while."""
    root = os.getuid() == 0
    if root:
        os.setresuid(65534, 65534, 0)
    yield
    if root:
        os.setresuid(0, 0, 0)


@pytest.fixture
def locked_folder():
    folder = Path(tempfile.mkdtemp())
    fill(folder / "there.sqlite", 10)
    (folder / "there.sqlite").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["new.sqlite", "there.sqlite"])
def test_a_read_only_directory_is_refused(locked_folder, as_nobody, name):
    with pytest.raises(FrontierError, match=r"(unable to open|read-only).*writable\)"):
        SqliteFrontier.open(locked_folder / name)


@pytest.fixture
def disk_of_one_mb():
    """The system refuses to write beyond a file's first megabyte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def push_for_ever(store: SqliteFrontier, size: int, committed: list[int] | None = None):
    """Push batch after batch; with a list, commit each and note its size."""
    for start in count(0, size):
        store.push([entry(start + i, payload=b"x" * 5000) for i in range(size)])
        if committed is not None:
            store.commit()
            committed.append(size)


def test_a_full_disk_loses_nothing_that_was_committed(path, disk_of_one_mb):
    store = SqliteFrontier.open(path)
    committed: list[int] = []
    with pytest.raises(FrontierError, match="what was committed is safe"):
        push_for_ever(store, 40, committed)
    with pytest.raises(FrontierError, match="what was committed is safe"):
        store.pop()  # it stays closed, and says why
    store.close()
    assert use_all(path) == sum(committed) > 0


def test_an_error_undoes_the_whole_batch(path, disk_of_one_mb):
    store = SqliteFrontier.open(path)
    store.push([entry("committed")])
    store.commit()
    with pytest.raises(FrontierError, match="what was committed is safe"):
        # More than the page cache holds: written, and refused, in the middle.
        push_for_ever(store, 2000)
    store.close()
    assert use_all(path) == 1
