from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.features import Featurizer
from crawler.aligner.plugins import make
from crawler.aligner.profile import AlignProfile
from crawler.aligner.scorers.bipartite import NULL_COUNT
from crawler.config import Plugin, load_profile
from crawler.data import CandidatePair, LangPair
from crawler.extract.document import build_document
from tests.documents import make_document
from tests.unit.crawler.aligner.scorers.test_tsim import (
    competitive,
    lexicon,
    table,
    words,
)
from tests.worlds import build_site

LANGS = LangPair("en", "fr")


def page(lang: str, text: str):
    url = f"http://a.example/{lang}"
    return Featurizer(LANGS).featurize(make_document(url, lang=lang, blocks=[text]))


def score(name: str, known: Lexicon, src: str, trg: str) -> float:
    pair = CandidatePair(page("en", src), page("fr", trg), frozenset())
    [found] = make("scorer", Plugin(name), lexicon=known).score([pair])
    return found["tsim.score"]


def ids(text: str) -> list[int]:
    return page("en", text).words.tolist()


def words_of_numbers(numbers: list[int], start: str) -> str:
    return " ".join(f"{start}{number}" for number in numbers)


def test_four_links_of_seven():
    # figure 3 and equation 4: four two-word links, three words linked to NULL
    (a, b, c, d), (w, x, y, z) = ids("aa bb cc dd"), ids("ww xx yy zz")
    known = lexicon((a, w, 1), (b, x, 1), (c, y, 1), (d, z, 1))
    found = score("tsim_cardinality", known, "aa bb cc dd ee", "ww xx yy zz qq rr")
    assert found == pytest.approx(4 / 7)


def test_the_best_matching_has_both_links_where_the_likeliest_first_has_one():
    (a, b), (x, y) = ids("aa bb"), ids("xx yy")
    links = (a, x, 9), (a, y, 1), (b, x, 1)
    greedy = competitive(table(*links), words(a, b), words(x, y))
    assert greedy == pytest.approx(1 / 3)
    for name in ("tsim_cardinality", "tsim_weighted"):
        assert score(name, lexicon(*links), "aa bb", "xx yy") == 1


def test_equation_2_weighs_links_by_their_log_probability():
    (a, b), (x, y) = ids("aa bb"), ids("xx yy")
    known = lexicon((a, x, 9), (b, y, 1))
    total = 9 + 1 + 2 * NULL_COUNT
    likely, null = -math.log(9 / total), -math.log(NULL_COUNT / total)
    found = score("tsim_weighted", known, "aa cc", "xx zz")
    assert found == pytest.approx(likely / (likely + 2 * null))


def test_empty_pages_have_no_links():
    for name in ("tsim_cardinality", "tsim_weighted"):
        assert score(name, lexicon((1, 2, 1)), "", "") == 0


few = st.lists(st.integers(0, 3), max_size=4)
counts = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(1, 9), max_size=8
)


@settings(max_examples=50)
@given(few, few, counts)
def test_no_other_matching_is_better(src, trg, links):
    first, second = words_of_numbers(src, "a"), words_of_numbers(trg, "b")
    named = {
        (ids(f"a{a}")[0], ids(f"b{b}")[0]): count for (a, b), count in links.items()
    }
    known = lexicon(*((*ends, count) for ends, count in named.items()))
    total = sum(links.values()) + 2 * NULL_COUNT
    null = -math.log(NULL_COUNT / total)
    edges = [
        (i, j, -math.log(named[a, b] / total))
        for i, a in enumerate(ids(first))
        for j, b in enumerate(ids(second))
        if (a, b) in named
    ]
    n = len(src) + len(trg)
    most, best = 0, (n * null, 0.0)
    for size in range(min(len(src), len(trg)) + 1):
        for chosen in combinations(edges, size):
            if len({e[0] for e in chosen}) == len({e[1] for e in chosen}) == size:
                linked = sum(e[2] for e in chosen)
                most = max(most, size)
                best = min(best, (linked + (n - 2 * size) * null, linked))
    expected = most / (n - most) if n else 0
    assert score("tsim_cardinality", known, first, second) == pytest.approx(expected)
    weighted = best[1] / best[0] if n else 0
    assert score("tsim_weighted", known, first, second) == pytest.approx(weighted)


@pytest.mark.parametrize("name", ["tsim_cardinality", "tsim_weighted"])
def test_a_profile_may_name_them(name, tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(f'[scorers]\nlexicon = ["{name}"]\n')
    site = build_site(style="slug", concepts=40, switcher="none", untranslated=0.0)
    profile = load_profile(AlignProfile, path)
    with Aligner(LangPair("en", "is"), profile) as aligner:
        for page in site.pages():
            aligner.add(build_document(page))
        found = {(p.src_url, p.trg_url) for p in aligner.finish()}
    gold = site.gold("en", "is")
    assert len(found & gold) >= 0.9 * len(gold)
