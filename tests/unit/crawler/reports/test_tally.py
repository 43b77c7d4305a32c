from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from crawler.data import PairScore
from crawler.reports.tally import ALONE, COPY, PAIRED, REASONS, failed_sites, tally
from crawler.visits import Visit

ROOT = Path(__file__).resolve().parents[4]


def visit(url: str, **given: object) -> Visit:
    usual = {"site": "a.example", "size": 10, "lang": "en", "kept": True}
    time = datetime(2026, 1, 1, tzinfo=UTC)
    return Visit(url=url, time=time, status=200, **{"score": 0.5, **usual, **given})


VISITS = [
    visit("https://a.example/en"),
    visit("https://a.example/is", lang="is", score=10.0),
    visit("https://a.example/alone", score=0.01),
    visit("https://a.example/es", lang="es", kept=False, reason="language"),
    visit(
        "https://b.example/",
        site="b.example",
        lang=None,
        kept=False,
        reason="status/404",
    ),
]
PAIR = PairScore("https://a.example/en", "https://a.example/is", 0.99)


def test_every_download_has_one_outcome():
    counted = tally(VISITS, [PAIR])
    assert counted.outcomes == {PAIRED: 2, ALONE: 1, "language": 1, "status/404": 1}
    assert counted.outcomes.total() == len(VISITS)
    assert counted.sites["a.example"].pairs == 1
    assert counted.sites["b.example"].downloads == 1
    assert counted.languages == {"en": 2, "is": 1, "es": 1}


def test_scores_of_pairs_and_of_urls_that_were_judged():
    counted = tally(VISITS, [PAIR])
    assert counted.pair_scores[-1] == 1
    assert sum(counted.url_scores) == 4  # not the seed
    assert sum(counted.url_scores_paired) == 1


def test_another_address_of_a_page_in_a_pair_is_a_copy():
    copy = visit("https://a.example/en?print=1", score=0.6)
    pair = PairScore(PAIR.src_url, PAIR.trg_url, 0.99, src_twins=(copy.url,))
    counted = tally([*VISITS, copy], [pair])
    assert counted.outcomes[PAIRED] == 2
    assert counted.outcomes[COPY] == 1
    assert sum(counted.url_scores_paired) == sum(counted.url_scores_copies) == 1


def test_a_site_that_failed_is_named_with_its_cause():
    counted = tally(VISITS, [PAIR])
    seeds = ["https://a.example/", "https://c.example/"]
    assert list(failed_sites(counted, seeds, {"robots/failed/timeout": 2})) == [
        (
            *("c.example", 0, 0),
            "no_answer/timeout (raise DOWNLOAD_TIMEOUT, or try another day)",
        ),
        ("b.example", 1, 1, "status/404 (missing pages: are the seeds old?)"),
    ]
    ((_, _, _, cause), _) = failed_sites(counted, seeds, {})
    assert cause == "not asked yet"


def test_every_reason_of_the_log_is_explained():
    text = (ROOT / "docs" / "formats.md").read_text("utf-8")
    table = text.partition("| `reason` | meaning |")[2].partition("\n\n")[0]
    reasons = [name.partition("/")[0] for name in re.findall(r"\| `([^`]+)` \|", table)]
    assert reasons
    assert set(reasons) <= set(REASONS)
