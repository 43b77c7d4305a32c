from __future__ import annotations

import gzip

import pytest

from crawler.errors import UsageError
from training.pair_data import PairDataConfig, labelled_pairs
from training.protocol import Collection


@pytest.fixture
def linked_folder(data_folder):
    collection = Collection.read(data_folder)
    pairs = [
        (row.url_a, row.url_b) for rows in collection.pairs.values() for row in rows
    ]
    lines = ["url_a\turl_b", "https://a.org/\tno url"]
    lines += (f"{a}\t{b}" for a, _ in pairs for _, b in pairs[:40])
    text = "\n".join(lines) + "\n"
    (data_folder / "negatives.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return data_folder


def test_a_pair_has_at_most_thirteen_linked_negatives(linked_folder):
    collection = Collection.read(linked_folder)
    assert collection.counts["bad/not an http url"] == 1
    rows = labelled_pairs(collection, PairDataConfig(negatives="linked"), seed=1)
    positives = sum(row.parallel for row in rows)
    assert positives == 80
    assert len(rows) - positives == 13 * positives
    related = collection.closure.related
    assert not any(related(r.url_a, r.url_b) for r in rows if not r.parallel)


@pytest.mark.parametrize("kind", ["linked", "chance"])
def test_negatives_that_are_not_there_are_one_clear_error(data_folder, kind):
    with pytest.raises(UsageError, match="negatives"):
        labelled_pairs(Collection.read(data_folder), PairDataConfig(negatives=kind), 1)


def test_a_share_of_the_sites(data_folder):
    collection = Collection.read(data_folder)
    half = labelled_pairs(collection, PairDataConfig(share=0.5), seed=1)
    assert len({row.site for row in half}) == 2
