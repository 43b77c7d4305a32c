from __future__ import annotations

import gzip
from collections import Counter

from training.data.splits import read_splits, split_of


def test_a_fixed_split_is_kept():
    assert split_of("gov.is", {"gov.is": "test"}) == "test"


def test_new_sites_are_shared_out_by_their_name():
    counts = Counter(split_of(f"site{i}.org") for i in range(5000))
    assert 0.77 < counts["train"] / 5000 < 0.83
    assert 0.08 < counts["dev"] / 5000 < 0.12


def test_a_site_never_moves():
    assert [split_of("a.org"), split_of("b.org")] == [
        split_of("a.org", {"c.org": "dev"}),
        split_of("b.org"),
    ]


def test_splits_are_read_gzipped_or_not(tmp_path):
    text = "registered_domain\tsplit\ngov.is\ttest\n"
    assert read_splits(tmp_path) == {}
    (tmp_path / "splits.tsv").write_text(text)
    assert read_splits(tmp_path) == {"gov.is": "test"}
    (tmp_path / "splits.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert read_splits(tmp_path) == {"gov.is": "test"}
