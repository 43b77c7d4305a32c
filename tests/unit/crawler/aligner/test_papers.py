"""The profiles that are the systems of the papers: what decides in them, on a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.config import load_profile
from crawler.data import Document, LangPair, PairScore
from crawler.extract.document import read_page
from crawler.reports.quality import judge_pairs, read_gold
from crawler.warc.reader import iter_pages

ROOT = Path(__file__).parents[4]
DEMO = ROOT / "worlds" / "demo"
LANGS = LangPair("en", "is")


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """The pages of the demo world."""
    pages = iter_pages([DEMO / "demo.warc.gz"])
    found = (read_page(page).document for page in pages)
    return [document for document in found if document]


@pytest.fixture(scope="module")
def lexicon(documents: list[Document]) -> Lexicon:
    """What the default learns of them: the papers' systems are given one."""
    with Aligner(LANGS) as aligner:
        for document in documents:
            aligner.add(document)
        aligner.finish()
        assert aligner.lexicon is not None
        return aligner.lexicon


def pairs_of(
    name: str, documents: list[Document], lexicon: Lexicon | None
) -> list[PairScore]:
    profile = load_profile(AlignProfile, ROOT / "settings" / "align" / f"{name}.toml")
    with Aligner(LANGS, profile, known=lexicon) as aligner:
        for document in documents:
            aligner.put(document)
        return aligner.finish()


@pytest.mark.parametrize("name", ["uszkoreit2010", "yandex2016", "ture2011"])
def test_the_cosine_of_the_search_alone_decides(
    name: str, documents: list[Document], lexicon: Lexicon
):
    found = pairs_of(name, documents, lexicon)
    assert found
    for pair in found:
        assert pair.found_by == {"lexicon"}
        assert pair.score == pytest.approx(pair.features["nearest.cosine"])
        assert not any(n.startswith(("strand", "tsim", "avsim")) for n in pair.features)


def test_uszkoreit_gives_a_page_the_best_partner_that_takes_it_for_its_best(
    documents: list[Document], lexicon: Lexicon
):
    found = pairs_of("uszkoreit2010", documents, lexicon)
    assert min(pair.score for pair in found) >= 0.1
    for side in ("src_url", "trg_url"):
        urls = [getattr(pair, side) for pair in found]
        assert len(urls) == len(set(urls))


def test_yandex_names_ten_candidates_of_a_page_at_most_best_first(
    documents: list[Document], lexicon: Lexicon
):
    found = pairs_of("yandex2016", documents, lexicon)
    lists = [pair.src_n_best for pair in found] + [pair.trg_n_best for pair in found]
    assert max(map(len, lists)) > 1
    for ranking in lists:
        scores = [score for _, score in ranking]
        assert len(scores) <= 10
        assert scores == sorted(scores, reverse=True)


def test_ture_gives_every_pair_above_the_threshold_a_page_in_as_many_as_it_has(
    documents: list[Document], lexicon: Lexicon
):
    found = pairs_of("ture2011", documents, lexicon)
    sources = [pair.src_url for pair in found]
    assert len(sources) > len(set(sources))
    assert min(pair.score for pair in found) >= 0.3


@pytest.mark.parametrize("name", ["strand2003", "strand2003_tree"])
def test_strand_compares_only_what_urls_and_links_name(
    name: str, documents: list[Document]
):
    found = pairs_of(name, documents, None)
    assert found
    for pair in found:
        assert pair.found_by <= {"links", "substrings"}
        assert "nearest.cosine" in pair.features  # of no search: 0
        assert pair.features["nearest.cosine"] == 0
        assert "tsim.score" not in pair.features


def test_with_a_lexicon_strand_looks_at_tsim_as_well(
    documents: list[Document], lexicon: Lexicon
):
    without = pairs_of("strand2003", documents, None)
    found = pairs_of("strand2003", documents, lexicon)
    assert {(p.src_url, p.trg_url) for p in without} <= {
        (p.src_url, p.trg_url) for p in found
    }
    assert all("tsim.score" in pair.features for pair in found)


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("uszkoreit2010", 0.9, 0.4),
        ("yandex2016", 0.5, 0.8),
        ("strand2003", 0.5, 0.5),
    ],
)
def test_each_finds_most_of_a_small_site(
    name: str,
    precision: float,
    recall: float,
    documents: list[Document],
    lexicon: Lexicon,
):
    gold = read_gold(DEMO / "gold.tsv", LANGS)
    judged = judge_pairs(pairs_of(name, documents, lexicon), gold)
    assert judged.precision >= precision
    assert judged.recall >= recall
