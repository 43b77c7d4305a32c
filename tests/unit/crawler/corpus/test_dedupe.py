from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.corpus.dedupe import BestCopies, key_of
from crawler.data import Origin, SentencePair
from crawler.errors import RunDirError


def pair(src: str, trg: str, score: float, url: str = "https://a.is/") -> SentencePair:
    return SentencePair(url, url, src, trg, score, 0.9, (1, 1))


def deduped(folder: Path, pairs, which: str = "near"):
    copies = BestCopies.open(folder / "copies.sqlite", which)
    told = []
    ids = [
        copies.add(item, (Origin(item.src_url), Origin(item.trg_url))) for item in pairs
    ]
    found = list(copies.best(told.append))
    copies.close()
    assert not (folder / "copies.sqlite").exists()
    assert sorted(item.id for item in told) == sorted(ids)
    return found


def test_the_best_scored_copy_is_kept_wherever_it_comes(tmp_path):
    copies = [
        pair("Open daily.", "Opið daglega.", 0.5, "https://a.is/"),
        pair("OPEN DAILY", "opið, daglega", 0.9, "https://b.is/"),
        pair("Open daily.", "Opið daglega!", 0.7, "https://c.is/"),
        pair("Open daily.", "Lokað.", 0.2),
    ]
    first, second = sorted(deduped(tmp_path, copies), key=lambda c: -c.pair.score)
    assert (first.pair, first.copies) == (copies[1], 3)
    assert first.origins[0].url == "https://b.is/"
    assert (second.pair, second.copies) == (copies[3], 1)


def test_exact_copies_only(tmp_path):
    copies = [pair("A b.", "C.", 0.5), pair("a b", "c", 0.5), pair("A b.", "C.", 0.4)]
    found = deduped(tmp_path, copies, "exact")
    assert sorted(item.copies for item in found) == [1, 2]


def test_all_copies_can_be_kept(tmp_path):
    copies = [pair("A b.", "C.", 0.5, f"https://{name}.is/") for name in "abc"]
    assert [item.copies for item in deduped(tmp_path, copies, "keep")] == [1, 1, 1]


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)


@given(st.lists(st.tuples(TEXT, TEXT, st.floats(0, 1)), max_size=12), st.randoms())
def test_the_order_in_which_copies_come_does_not_matter(tmp_path_factory, rows, random):
    folder = tmp_path_factory.mktemp("dedupe")
    pairs = [pair(*row) for row in rows]
    once = deduped(folder, pairs)
    random.shuffle(pairs)
    assert deduped(folder, pairs) == once
    assert sum(item.copies for item in once) == len(pairs)
    keys = {key_of(p, "near") for p in pairs}
    assert len(once) == len(keys)


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(RunDirError, match="cannot be written"):
        BestCopies.open(tmp_path / "none" / "copies.sqlite")
