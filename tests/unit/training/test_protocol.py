from __future__ import annotations

import gzip

import pytest

from training.negatives import Closure
from training.protocol import (
    CCTLD,
    CODE,
    UNMARKED,
    Collection,
    capped,
    digest,
    kind_of,
    language_rows,
    pair_rows,
    wmt16_candidates,
    wmt16_rows,
)


@pytest.fixture
def collection(tmp_path):
    def table(name, *rows):
        text = "".join("\t".join(row) + "\n" for row in rows)
        (tmp_path / f"{name}.tsv.gz").write_bytes(gzip.compress(text.encode()))

    table(
        "splits",
        ("registered_domain", "split"),
        ("a.org", "train"),
        ("b.org", "test"),
    )
    table(
        "url_lang",
        ("url", "lang"),
        *((f"https://b.org/page-{i}", "en") for i in range(150)),
        ("https://b.org/is/x", "is"),
        ("https://a.org/is/x", "is"),
    )
    table(
        "url_pairs",
        ("url_a", "lang_a", "url_b", "lang_b", "code_only"),
        *(
            (f"https://b.org/en/{i}", "en", f"https://b.org/fr/{i}", "fr", "1")
            for i in range(120)
        ),
    )
    table(
        "host_urls",
        ("url", "lang"),
        *((f"https://b.org/other-{i}", "") for i in range(30)),
    )
    (tmp_path / "wmt16_test_pairs.tsv").write_text(
        "url_en\turl_fr\nhttp://c.org/e1\thttp://c.org/f1\nhttp://c.org/e2\t"
        "http://c.org/f2\nhttp://d.org/e\thttp://d.org/f\n"
    )
    return Collection.read(tmp_path)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://example.org/is/x", CODE),
        ("https://fr.example.org/x", CODE),
        ("https://example.org/x?lang=de", CODE),
        ("https://example.is/x", CCTLD),
        ("https://example.io/x", UNMARKED),
        ("https://example.org/islands", UNMARKED),
    ],
)
def test_three_kinds_of_url(url, kind):
    assert kind_of(url) == kind


def test_sites_are_only_in_their_split(collection):
    assert {row.site for row in collection.urls["test"]} == {"b.org"}
    assert {row.site for row in collection.urls["train"]} == {"a.org"}


def test_at_most_a_hundred_rows_per_host_and_language(collection):
    rows = language_rows(collection, "test")
    assert sum(row.lang == "en" for row in rows) == 100
    assert sum(row.lang == "is" for row in rows) == 1


def test_thirteen_negatives_per_pair_and_none_that_may_be_true(collection):
    rows = pair_rows(collection, "test")
    assert sum(row.parallel for row in rows) == 100
    assert sum(not row.parallel for row in rows) == 1300
    closure = Closure.of(
        (f"https://b.org/en/{i}", f"https://b.org/fr/{i}") for i in [1]
    )
    assert not any(closure.related(r.url_a, r.url_b) for r in rows if not r.parallel)


def test_the_protocol_is_the_same_every_time(collection):
    assert digest(pair_rows(collection, "test")) == digest(
        pair_rows(collection, "test")
    )


def test_capping_keeps_the_order():
    assert capped([3, 1, 2, 9], lambda n: n < 5, 10) == [3, 1, 2, 9]
    kept = capped(range(100), lambda n: n % 2, 5)
    assert kept == sorted(kept)
    assert len(kept) == 10


def test_wmt16_candidates_are_all_pairs_of_a_host(collection, tmp_path):
    gold = wmt16_rows(tmp_path)
    assert len(gold) == 3
    assert len(wmt16_candidates(gold)) == 5
