from __future__ import annotations

import pytest

from crawler.errors import ReplayError
from crawler.reports.curves import best_order
from crawler.reports.oracle import reachable
from tests.worlds import build_site, write_warc


@pytest.fixture
def site(tmp_path):
    made = build_site(concepts=12, others=("fr",))
    write_warc(tmp_path / "site.warc.gz", made.pages())
    return made, [tmp_path / "site.warc.gz"]


def test_exactly_the_linked_pages_are_reached(site):
    made, recording = site
    found = reachable(recording, made.seeds, "site")
    assert set(found) == set(made.lang_by_url())
    assert [found[seed] for seed in made.seeds] == [None] * len(made.seeds)
    assert all(before in found for before in found.values() if before)


def test_the_best_order_has_every_true_pair_sooner_than_any_crawl_could(site):
    made, recording = site
    found = reachable(recording, made.seeds, "site")
    pairs = [((src,), (trg,)) for src, trg in made.gold("en", "is")]
    counts = best_order(found, pairs, len(found))
    assert counts[-1] == len(pairs)
    assert all(n <= at // 2 for at, n in enumerate(counts))
    assert best_order(found, pairs, 5) == counts[:6]


def test_another_site_is_an_error(site):
    with pytest.raises(ReplayError, match="holds no seed of the run"):
        reachable(site[1], ["https://elsewhere.example/"], "site")
