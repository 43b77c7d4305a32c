from __future__ import annotations

import gzip
import os
import resource
import signal
from contextlib import contextmanager, suppress

import pytest

from crawler.atomic import atomic_file, atomic_text
from crawler.errors import RunDirError


@contextmanager
def largest_file(size: int):
    """No file of this process grows beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_the_old_file_stays_until_the_new_one_is_complete(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"old")
    with atomic_text(path) as file:
        file.write("new")
        assert path.read_bytes() == b"old"
    data = path.read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_nothing_else(name, error, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"old")
    with suppress(error), atomic_text(path) as file:
        file.write("new" * 100_000)
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.bin", "a.bin.gz"])
def test_a_full_disk_is_one_clear_error_and_leaves_no_half_file(name, tmp_path):
    path = tmp_path / name
    raises = pytest.raises(RunDirError)
    with largest_file(2**16), raises as raised, atomic_file(path) as file:
        file.write(os.urandom(2**20))
    assert str(raised.value) == (
        f"{path}: cannot be written: File too large (check its folder,"
        " rights and free space; the same command writes it again)"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path):
    path = tmp_path / "none" / "a.txt"
    error = r"a\.txt: cannot be written: No such file"
    with pytest.raises(RunDirError, match=error), atomic_file(path):
        pass


def test_an_error_of_another_file_is_not_said_to_be_of_this_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), atomic_file(tmp_path / "a"):
        (tmp_path / "other").read_bytes()


def test_equal_contents_give_equal_bytes_wherever_they_are_written(tmp_path):
    for name, parts in (("a.gz", ["x" * 10**6]), ("b.gz", ["x" * 1000] * 1000)):
        with atomic_text(tmp_path / name) as file:
            file.writelines(parts)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_what_utf_8_cannot_hold_is_replaced_or_kept_as_asked(tmp_path):
    for errors, data in (("replace", b"a?"), ("surrogatepass", b"a\xed\xb3\xbf")):
        with atomic_text(tmp_path / "a", errors=errors) as file:
            file.write("a\udcff")
        assert (tmp_path / "a").read_bytes() == data
