from __future__ import annotations

import random
from collections import Counter

import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pa = pytest.importorskip("pyarrow", reason="extra `train` is not installed")

from pyarrow import parquet  # noqa: E402

from crawler.errors import UsageError  # noqa: E402
from training import feed  # noqa: E402
from training.feed import ListRows, Plan, TableRows, batches, count_batches  # noqa: E402

pytestmark = pytest.mark.models


def encode(rows):
    return {"rows": list(rows)}


def fed(rows, plan, **options):
    return [
        (n, batch["rows"])
        for n, batch in batches(ListRows(rows), encode, plan, **options)
    ]


@pytest.fixture
def texts():
    rng = random.Random(1)
    return [f"{i:05}" + "x" * rng.randint(0, 90) for i in range(2500)]


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(feed, "WINDOW", 4)


def plan(epoch=1, **changes):
    return Plan(changes.pop("batch_size", 32), seed=7, epoch=epoch, **changes)


def test_every_row_comes_once_in_an_epoch(texts, small_windows):
    found = fed(texts, plan(), length=len)
    assert Counter(t for _, rows in found for t in rows) == Counter(texts)
    assert len(found) == count_batches(len(texts), plan()) == 79
    assert {n for n, _ in found} == {32, 4}


def test_batches_are_of_like_length_and_come_in_any_order(texts):
    found = [rows for _, rows in fed(texts, plan(), length=len)]
    spread = [max(map(len, rows)) - min(map(len, rows)) for rows in found]
    assert sum(spread) / len(spread) < 20  # of up to 90
    first = [len(rows[0]) for rows in found]
    assert first != sorted(first)


def test_epochs_differ_and_each_is_the_same_again(texts, small_windows):
    once, again = (fed(texts, plan(), length=len) for _ in range(2))
    assert once == again
    assert fed(texts, plan(epoch=2), length=len) != once


def test_without_a_length_rows_keep_their_order(texts):
    found = fed(texts, plan())
    assert [t for _, rows in found for t in rows] == texts


@pytest.mark.parametrize("start", [1, 4, 5, 78, 79])
def test_an_epoch_goes_on_from_any_batch(texts, small_windows, start):
    whole = fed(texts, plan(), length=len)
    assert fed(texts, plan(), length=len, start=start) == whole[start:]


def test_workers_give_the_same_batches(texts, small_windows):
    alone = fed(texts, plan(), length=len)
    assert fed(texts, plan(workers=2), length=len, start=3) == alone[3:]


def test_processes_share_each_batch(texts, small_windows):
    whole = fed(texts, plan(), length=len)
    parts = [fed(texts, plan(rank=rank, processes=3), length=len) for rank in range(3)]
    for (n, rows), *shares in zip(whole, *parts):
        assert {number for number, _ in shares} == {n}
        assert sorted(t for _, share in shares for t in share) == sorted(rows)


def write(path, rows, group):
    table = pa.table({"url": rows, "n": list(range(len(rows)))})
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=group)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=group)
    return path


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_rows_of_a_table_are_read_by_range(tmp_path, name, texts):
    rows = TableRows(write(tmp_path / name, texts, 700), ("n", "url"))
    assert len(rows) == 2500
    assert rows.read(690, 1405) == list(enumerate(texts))[690:1405]
    assert rows.read(2490, 9999) == list(enumerate(texts))[2490:]
    first = TableRows(tmp_path / name, ("url",), limit=10)
    assert [row for (row,) in first.read(0, 99)] == texts[:10]


def test_a_table_is_streamed_by_workers(tmp_path, small_windows, texts):
    rows = TableRows(write(tmp_path / "a.parquet", texts, 300), ("url",))
    found = batches(rows, encode, plan(workers=1), length=lambda row: len(row[0]))
    assert sorted(t for _, b in found for (t,) in b["rows"]) == sorted(texts)


def test_a_file_that_is_not_a_table_is_one_clear_error(tmp_path, texts):
    (tmp_path / "a.parquet").write_bytes(b"no table")
    with pytest.raises(UsageError, match="expected a Parquet or Arrow"):
        len(TableRows(tmp_path / "a.parquet", ("url",)))
    with pytest.raises(UsageError, match="'lang' is missing"):
        len(TableRows(write(tmp_path / "b.parquet", texts, 99), ("url", "lang")))
