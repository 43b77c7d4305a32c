from __future__ import annotations

import pytest

from crawler.aligner.features import Featurizer
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.scorers.overlap import OverlapScorer
from crawler.data import CandidatePair, LangPair
from tests.documents import make_document

LANGS = LangPair("en", "is")
FEATURIZER = Featurizer(LANGS)


def page(lang: str, name: str, *images: str):
    return FEATURIZER.featurize(
        make_document(
            url=f"https://x.is/{lang}/{name}",
            site="x.is",
            lang=lang,
            tokens=("<p", "", "</p"),
            chunks=("A text.",),
            digest=f"{lang}{name}",
            images=images,
        )
    )


PAGES = [
    page(lang, name, "logo.png", *own)
    for name, own in {"a": ["a.png"], "b": ["b1.png", "b2.png"], "c": []}.items()
    for lang in LANGS
]
FREQUENCIES = Frequencies(LANGS)
for counted in PAGES:
    FREQUENCIES.add(counted)


def images_in_common(src, trg) -> float:
    (features,) = OverlapScorer(FREQUENCIES).score(
        [CandidatePair(src, trg, frozenset())]
    )
    return features["overlap.images"]


def test_pages_with_the_same_images_have_them_all_in_common():
    assert images_in_common(PAGES[0], PAGES[1]) == 1


def test_an_image_of_every_page_says_nothing():
    assert images_in_common(PAGES[0], PAGES[3]) == 0
    assert images_in_common(PAGES[4], PAGES[5]) == 0


def test_an_image_counts_by_its_rarity():
    half = page("is", "b", "logo.png", "b1.png")
    assert images_in_common(PAGES[2], half) == pytest.approx(1 / 2)


def test_without_images_nothing_is_in_common():
    assert images_in_common(page("en", "d"), page("is", "d")) == 0
