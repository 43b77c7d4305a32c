"""Floors: a change that makes the crawl's own pairs worse than this does not land.

Reachable pairs are those of which a full crawl fetched both pages.
"""

from __future__ import annotations

import pytest

from benchmarks.worlds import load_sites
from crawler.data import LangPair
from crawler.reports.quality import Judgement, judge_pairs, read_gold
from tests.commands import DEMO, DEMO_SEEDS, Run, crawl


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "run")


def judged(run: Run, gold) -> Judgement:
    fetched = {visit["url"] for visit in run.visits if visit["status"] == 200}
    return judge_pairs(run.pairs, gold.within(fetched))


# tests/integration/test_demo_crawl.py has en,is, in all profiles.
@pytest.mark.parametrize("langs", ["en,es", "Icelandic,spa"])
def test_demo(run, langs):
    pair = LangPair.parse(langs)
    done = crawl(DEMO_SEEDS, langs, run.path, REPLAY_WARCS=DEMO / "demo.warc.gz")
    assert done.returncode == 0, done.stderr
    assert run.settings["langs"] == list(pair)
    gold = read_gold(DEMO / "gold.tsv", pair, DEMO / "aliases.tsv")
    judgement = judged(run, gold)  # the first language is the first column
    assert judgement.gold >= 35  # all of them can be reached
    assert judgement.precision >= 0.97, judgement.wrong
    assert judgement.recall >= 0.95, judgement.missed


# Sites that take seconds; benchmarks/crawl_curve.py has all of them.
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "langs", "pairs"),
    [("irhpcwiki.hi.is", "en,is", 34), ("vuejs.org", "en,ja", 54)],
)
def test_recorded_site(run, shared, name, langs, pairs):
    pair = LangPair.parse(langs)
    (site,) = load_sites(shared / "worlds", names=[name])
    seeds = ",".join(site.seeds(pair))
    done = crawl(seeds, langs, run.path, REPLAY_WARCS=site.warc)
    assert done.returncode == 0, done.stderr
    judgement = judged(run, read_gold(site.truth, pair))
    assert judgement.gold >= 0.95 * pairs
    assert judgement.precision >= 0.95, judgement.wrong
    assert judgement.recall >= 0.9, judgement.missed
