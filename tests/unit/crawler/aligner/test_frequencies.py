from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.frequencies import BoilerplateConfig, Frequencies, RepeatedConfig
from crawler.data import PageFeatures
from crawler.extract.linearize import linearize
from tests.documents import make_document
from tests.lexicons import FEATURIZER, LANGS

NAV = "<nav>Home About Contact</nav>"


def page(html: str, lang: str = "en", url: str = "u") -> PageFeatures:
    found = linearize(f"<body>{html}</body>")
    return FEATURIZER.featurize(
        make_document(
            url, tokens=found.tokens, chunks=found.chunks, lang=lang, digest=url
        )
    )


def frequencies_of(*pages: PageFeatures, **options) -> Frequencies:
    frequencies = Frequencies(LANGS, BoilerplateConfig(**options))
    for each in pages:
        frequencies.add(each)
    return frequencies


def text(number: int) -> str:
    return " ".join(f"word{number}x{n}" for n in range(40))


def test_the_rarer_a_word_is_the_more_it_weighs():
    pages = [page(f"<p>common word{n}</p>") for n in range(8)]
    common, rare = pages[0].words
    weights = frequencies_of(*pages).idf(np.array([common, rare], np.uint32))
    assert weights.tolist() == pytest.approx([0, math.log(8)])


def test_a_word_that_is_nowhere_weighs_as_one_of_a_single_page():
    frequencies = frequencies_of(*(page(f"<p>word{n}</p>") for n in range(4)))
    unknown = page("<p>elsewhere</p>").words
    assert frequencies.idf(unknown).tolist() == pytest.approx([math.log(4)])
    assert Frequencies(LANGS).idf(unknown).tolist() == [0]


def test_a_word_counts_once_a_page_and_over_both_sides():
    english, icelandic = page("<p>skarfey skarfey</p>"), page("<p>skarfey</p>", "is")
    other = page("<p>else</p>")
    weights = frequencies_of(english, icelandic, other).idf(icelandic.words)
    assert weights.tolist() == pytest.approx([math.log(3 / 2)])


@given(st.lists(st.lists(st.integers(0, 20), max_size=6), min_size=1, max_size=12))
def test_weights_do_not_depend_on_the_order_of_pages(numbers):
    pages = [page("".join(f"<p>w{n}</p>" for n in found)) for found in numbers]
    words = np.unique(np.concatenate([p.words for p in pages] or [[]]))
    there, back = frequencies_of(*pages), frequencies_of(*reversed(pages))
    assert there.idf(words).tolist() == back.idf(words).tolist()
    assert (there.idf(words) >= 0).all()


def test_a_block_of_too_many_pages_is_boilerplate_and_its_words_go_with_it():
    banner = "<p>We use cookies on this site</p>"
    pages = [page(f"{banner}<p>{text(n)}</p>") for n in range(12)]
    frequencies = frequencies_of(*pages, min_pages=10)
    clean = frequencies.clean(pages[0])
    assert len(clean.blocks) == 1
    assert clean.words.tolist() == page(f"<p>{text(0)}</p>").words.tolist()
    assert clean.size < pages[0].size
    assert frequencies_of(*pages, min_pages=12).clean(pages[0]) is pages[0]


def test_a_block_counts_on_its_own_side_alone():
    shared = "<p>Hafnarfjörður and Reykjavík</p>"
    english = [page(f"{shared}<p>{text(n)}</p>") for n in range(12)]
    icelandic = page(f"{shared}<p>{text(99)}</p>", "is")
    frequencies = frequencies_of(*english, icelandic, min_pages=10)
    assert len(frequencies.clean(english[0]).blocks) == 1
    assert frequencies.clean(icelandic) is icelandic


def test_menus_go_unless_a_page_has_all_its_text_in_them():
    mixed, inside = page(f"{NAV}<p>{text(1)}</p>"), page(f"<nav>{text(2)}</nav>")
    frequencies = frequencies_of(mixed, inside)
    assert len(frequencies.clean(mixed).blocks) == 1
    assert frequencies.clean(inside) is inside


def test_cleaning_twice_is_cleaning_once():
    pages = [page(f"{NAV}<p>same</p><p>{text(n)}</p>") for n in range(30)]
    frequencies = frequencies_of(*pages)
    once = frequencies.clean(pages[3])
    twice = frequencies.clean(once)
    assert twice.words.tolist() == once.words.tolist()
    assert twice.blocks.tolist() == once.blocks.tolist()
    assert once.block_words.sum() == len(once.words)


def test_what_most_pages_have_is_not_a_page_s_own_text():
    pages = [page(f"<p>{text(0)}</p><p>{text(n)}</p>") for n in range(1, 9)]
    frequencies = frequencies_of(*pages)
    alone = frequencies.own_size(page(f"<p>{text(0)}</p>"))
    assert alone == 0
    assert frequencies.own_size(pages[0]) == pytest.approx(pages[0].size / 2, rel=0.1)


def test_code_and_menus_are_not_a_page_s_own_text():
    code = page(f"<pre>{text(1)}</pre><p>{text(2)}</p>")
    frequencies = frequencies_of(code)
    whole = page(f"<p>{text(2)}</p>").size
    assert frequencies.own_size(code) == pytest.approx(whole, abs=1)
    assert frequencies.own_size(page(f"<pre>{text(1)}</pre>")) == 0
    menu = page(f"{NAV}<p>{text(3)}</p>")
    assert frequencies.own_size(menu) == pytest.approx(page(f"<p>{text(3)}</p>").size)


@given(st.integers(0, 10**6))
def test_the_ceiling_grows_with_the_pages_and_never_falls_below_its_least(pages):
    config = RepeatedConfig(min_pages=10, min_share=0.02)
    assert config.ceiling(pages) == max(10, 0.02 * pages)
    assert replace(config, min_pages=0).ceiling(0) == 0
