from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.data import LangPair, Link, PageFacts
from crawler.errors import RunDirError
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.adaptive import AdaptiveScorer
from crawler.frontier.stores.open import open_frontier
from crawler.reports.explain import explain
from crawler.rundir import RunDir
from models.rules import UrlLanguageRules, UrlPairRules

HOME = "https://www.example.is/en/"


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    run_dir = RunDir(tmp_path)
    scorer = AdaptiveScorer(LangPair("en", "is"), UrlLanguageRules(), UrlPairRules())
    store = open_frontier(f"sqlite:{run_dir.frontier}")
    frontier = Frontier(store, scorer, Scope("site"))
    frontier.seed([HOME])
    lease = frontier.next()
    links = (Link("https://www.example.is/is/", HOME, depth=1),)
    home = PageFacts(
        url=HOME,
        site="example.is",
        lang="en",
        links=links,
    )
    frontier.fetched(lease, home)
    frontier.found(home, links)
    frontier.close()
    visit = {
        "url": HOME,
        "site": "example.is",
        "time": "2026-01-01T00:00:00+00:00",
        "score": 10.0,
        "evidence": {},
        "scored_at": 0,
        "source": None,
        "depth": 0,
        "status": 200,
        "lang": "en",
        "confidence": 0.99,
        "reason": None,
        "links": 1,
        "added": 1,
        "pairs": 0,
    }
    run_dir.crawl_log.write_text(json.dumps(visit) + "\n")
    return run_dir


def test_a_fetched_url_is_explained_with_its_outcome(run_dir):
    text = "\n".join(explain(run_dir, HOME))
    assert "URL 1 of the crawl" in text
    assert "in en (0.99), 1 links, 1 of them new" in text


def test_a_pending_url_is_explained_by_its_evidence(run_dir):
    text = "\n".join(explain(run_dir, "https://www.example.is/is/"))
    assert "not fetched" in text
    assert "given when 1 URLs were done" in text
    assert "missing half of a page that was fetched" in text
    assert f"found on {HOME}, 1 clicks" in text
    assert "example.is: about 0 pairs ahead, at most 3 (of the last 1 downloads" in text


def test_an_unknown_url_and_a_folder_without_a_run_are_errors(run_dir, tmp_path):
    with pytest.raises(RunDirError, match="does not know this URL"):
        list(explain(run_dir, "https://www.example.is/no"))
    with pytest.raises(RunDirError, match=r"is .* the run directory"):
        list(explain(RunDir(tmp_path / "other"), HOME))
