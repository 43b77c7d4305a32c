"""One crawl for several pairs of languages: the site once, and all the pairs."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path

import pytest

from crawler.aligner.profile import AlignProfile
from crawler.corpus.build import CorpusRequest
from crawler.corpus.multiway import build_corpora
from crawler.corpus.sources import sources
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.crawl.summary import Summary
from crawler.data import LangPair
from crawler.errors import RunDirError
from crawler.realign.local import align_collection
from crawler.realign.request import AlignRequest
from crawler.replay.world import ReplayWorld
from crawler.rundir import RunDir
from crawler.sinks.growing import read_lines
from crawler.sinks.pairs import read_pairs
from crawler.sinks.tsv import read_sentences
from crawler.visits import read_visits
from tests.worlds import build_site, declaring_a_chain, write_warc

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


def pairs_of(run: RunDir) -> frozenset[tuple[str, str]]:
    return frozenset({(pair.src_url, pair.trg_url) for pair in read_pairs(run.pairs)})


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
    (heading, *rows) = [line.split("\t") for line in read_lines(run.pairs)]
    assert heading[-2:] == ["src_lang", "trg_lang"]
    found_by_langs = {("-".join(row[-2:]), row[0], row[1]) for row in rows}
    for each in run.by_pair():
        own = {
            (src, trg) for pair, src, trg in found_by_langs if pair == each.path.name
        }
        assert own == pairs_of(each)
    assert len(pairs_of(run)) == len(rows)
    sentences = [row["trg_lang"] for row in read_sentences(run.sentences)]
    assert sentences.count("is") == len([*read_sentences(run.by_pair()[0].sentences)])
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


def test_a_crawl_for_any_language_has_the_pairs_that_the_site_shows(world, tmp_path):
    summary = crawl(world, tmp_path, "any", ANY_LANGUAGES="de,en,es,fi,fr,is")
    assert summary.error is None
    run = RunDir(tmp_path)
    assert [each.path.name for each in run.by_pair()] == ["en-es", "en-is", "es-is"]
    for each in run.by_pair():
        assert pairs_of(each) == TOWN.gold(*each.langs())
    assert (
        crawl(world, tmp_path, "any", ANY_LANGUAGES="de,en,es,fi,fr,is").error is None
    )
    with pytest.raises(RunDirError, match="not for en"):
        crawl(world, tmp_path, "en,*")


CHAIN = build_site(
    "town.example",
    langs=("en", "is", "es"),
    concepts=6,
    words=12,
    style="slug",
    hreflang=True,
    switcher="none",
)


def test_pages_aligned_again_give_the_articles_of_the_crawl(tmp_path):
    path = write_warc(tmp_path / "chain.warc.gz", declaring_a_chain(CHAIN))
    settings = load_profile_settings("settings.adaptive", RUN_DIR=str(tmp_path / "run"))
    world = ReplayWorld.open(path)
    crawled = replay(CHAIN.seeds, "en,is,es", settings, world)
    again = AlignRequest(
        (str(tmp_path / "run" / "warc"),),
        ("en", "is", "es"),
        tmp_path / "again",
        AlignProfile(),
    )
    counted = align_collection(again)
    assert counted["align/transitive"] == crawled.stats["align/transitive"] == 1
    runs = RunDir(tmp_path / "run"), RunDir(again.out)
    assert runs[0].wanted() == runs[1].wanted()
    for name in ("clusters.tsv.gz", "pairs.tsv.gz"):
        one, two = (list(read_lines(run.path / name)) for run in runs)
        assert one == two


def test_a_pair_with_few_pages_starts_with_words_over_a_third_language(tmp_path):
    towns = (
        build_site("one.example", langs=("en", "is"), concepts=30, seed=1),
        build_site("two.example", langs=("is", "es"), concepts=30, seed=2),
        build_site("three.example", langs=("en", "es"), concepts=6, seed=3),
    )
    pages = [page for town in towns for page in town.pages()]
    warc = write_warc(tmp_path / "towns.warc.gz", pages)
    run, again = RunDir(tmp_path / "run"), RunDir(tmp_path / "again")
    settings = load_profile_settings("settings.adaptive", RUN_DIR=str(run.path))
    with closing(ReplayWorld.open(warc)) as towns_world:
        replay([town.home for town in towns], "en,is,es", settings, towns_world)
    align_collection(
        AlignRequest((str(warc),), ("en", "is", "es"), again.path, AlignProfile())
    )
    runs = [each.by_pair()[1] for each in (run, again)]
    assert {pairs_of(each) for each in runs} == {frozenset(towns[2].gold("en", "es"))}
    assert runs[0].lexicon.read_bytes() == runs[1].lexicon.read_bytes()


def test_corpora_of_several_pairs_are_joined_through_sentences_they_share(
    world, tmp_path
):
    crawl(world, tmp_path / "run", "en,is,es", JOINT_FILES=False)
    assert not RunDir(tmp_path / "run").pairs.exists()
    out = tmp_path / "corpus"
    about = build_corpora(
        [
            CorpusRequest(tuple(paths), langs, out / "-".join(langs))
            for langs, paths in sources([tmp_path / "run"]).items()
        ],
        out,
    )
    with gzip.open(out / "multiway.jsonl.gz", "rt", encoding="utf-8") as file:
        units = [json.loads(line) for line in file]
    whole = [unit for unit in units if len(unit["translation"]) == 3]
    assert len(whole) == about["units"]["3"] > 20
    said = {
        src: trg for concept in range(6) for src, trg in TOWN.beads(concept, "en", "es")
    }
    with gzip.open(out / "multiway.tmx.gz", "rt", encoding="utf-8") as file:
        assert file.read().count("<tuv ") == sum(len(u["translation"]) for u in units)
    count = about["pairs"]["en-is"]["corpus/sentence_pairs"]
    assert f"|en||{count:,}|" in (out / "README.md").read_text("utf-8")
    known = [u["translation"] for u in whole if u["translation"]["en"] in said]
    assert len(known) > 20
    assert all(said[texts["en"]] == texts["es"] for texts in known)
