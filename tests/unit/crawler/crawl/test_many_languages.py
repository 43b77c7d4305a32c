"""One crawl for several pairs of languages: the site once, and all the pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.corpus.sources import sources
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.crawl.summary import Summary
from crawler.data import LangPair
from crawler.errors import RunDirError
from crawler.replay.world import ReplayWorld
from crawler.rundir import RunDir
from crawler.sinks.growing import read_lines
from crawler.sinks.pairs import read_pairs
from crawler.visits import read_visits
from tests.worlds import build_site, write_warc

TOWN = build_site(
    "town.example", langs=("en", "is", "es"), concepts=6, words=80, hreflang=True
)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> ReplayWorld:
    path = tmp_path_factory.mktemp("world") / "town.warc.gz"
    return ReplayWorld.open(write_warc(path, TOWN.pages()))


def crawl(
    world: ReplayWorld,
    path: Path,
    langs: str,
    profile: str = "adaptive",
    **more: object,
) -> Summary:
    settings = load_profile_settings(f"settings.{profile}", RUN_DIR=str(path), **more)
    return replay(TOWN.home, langs, settings, world)


def pairs_of(run: RunDir) -> set[tuple[str, str]]:
    return {(pair.src_url, pair.trg_url) for pair in read_pairs(run.pairs)}


@pytest.mark.parametrize("profile", ["adaptive", "focused"])
def test_every_pair_of_languages_has_its_true_pairs(world, tmp_path, profile):
    summary = crawl(world, tmp_path / "run", "en,is,es", profile)
    assert summary.error is None
    run = RunDir(tmp_path / "run")
    assert [each.path.name for each in run.by_pair()] == ["en-is", "en-es", "is-es"]
    for each in run.by_pair():
        assert pairs_of(each) == TOWN.gold(*each.langs())
        assert each.sentences.exists()
        assert each.warc.resolve() == run.warc.resolve()
        count = summary.stats[f"pairs/{each.path.name}"]
        assert count == len(pairs_of(each)) > 0
    assert summary.stats["pairs"] == sum(len(pairs_of(each)) for each in run.by_pair())
    articles = [line.split("\t")[:3] for line in read_lines(run.clusters)]
    assert articles[0] == ["en", "is", "es"]
    found = {(en, spanish) for en, _, spanish in articles[1:] if en and spanish}
    assert found == TOWN.gold("en", "es")
    urls = [visit.url for visit in read_visits(run.crawl_log)]
    assert len(urls) == len(set(urls))  # each page once, for all pairs


def test_a_crawl_goes_on_where_it_stopped(world, tmp_path):
    crawl(world, tmp_path, "en:is,es", RUN_MAX_PAGES=9)
    assert crawl(world, tmp_path, "en:is,es").error is None
    for each in RunDir(tmp_path).by_pair():
        assert pairs_of(each) == TOWN.gold(*each.langs())
    with pytest.raises(RunDirError, match="not for en,is,es"):
        crawl(world, tmp_path, "en,is,es")
    visits = [v.url for v in read_visits(RunDir(tmp_path).crawl_log)]
    assert len(visits) == len(set(visits))


def test_what_comes_after_a_crawl_takes_all_its_pairs_or_asks_for_one(world, tmp_path):
    crawl(world, tmp_path, "es:en,is", RUN_MAX_PAGES=12)
    found = sources([tmp_path])
    assert found == {
        LangPair("es", "en"): [tmp_path / "es-en"],
        LangPair("es", "is"): [tmp_path / "es-is"],
    }
    with pytest.raises(RunDirError, match=r"several pairs of languages.*es-en"):
        RunDir(tmp_path).langs()


def test_the_score_is_the_sum_of_what_a_url_is_worth_to_each_pair(world, tmp_path):
    crawl(world, tmp_path, "en,is,es", PAIR_WEIGHTS="is-es=0")
    visits = [v for v in read_visits(RunDir(tmp_path).crawl_log) if v.evidence]
    assert any(set(v.evidence) == {"en-is", "en-es", "is-es"} for v in visits)
    for visit in visits:
        assert visit.score <= sum(visit.evidence.values()) + 1e-3
        assert not visit.evidence.get("is-es")
