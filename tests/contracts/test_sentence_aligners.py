"""What every SentenceAligner promises of two documents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crawler.aligner.sentences.aligner import DynamicAligner, SentencesConfig
from crawler.aligner.sentences.split import side_of
from crawler.data import LangPair, PairScore
from crawler.errors import ProfileError
from crawler.extract.document import build_document
from tests.unit.crawler.aligner.sentences.test_dynamic import learned
from tests.worlds import build_site

LANGS = LangPair("en", "is")
SITE = build_site(concepts=4, words=200)


def encode(texts):
    """Sentence vectors that say nothing but how long a text is."""
    return np.array([[len(text), 1.0] for text in texts])


ALIGNERS = {
    "without lexicon": lambda: DynamicAligner(LANGS),
    "lexicon": lambda: DynamicAligner(LANGS, learned()),
    "vectors": lambda: DynamicAligner(
        LANGS, config=SentencesConfig(encode=f"{__name__}.encode")
    ),
}


def documents(concept: int, other: int | None = None):
    pages = (
        SITE.page(concept, "en"),
        SITE.page(concept if other is None else other, "is"),
    )
    src, trg = map(build_document, pages)
    assert src is not None
    assert trg is not None
    return src, trg


@pytest.fixture(params=ALIGNERS)
def aligner(request, monkeypatch):
    import sys

    monkeypatch.setitem(
        sys.modules, __name__, sys.modules.get(__name__, request.module)
    )
    return ALIGNERS[request.param]()


@pytest.mark.parametrize("other", [None, 3])
def test_every_sentence_comes_out_once_with_its_place_and_a_score(aligner, other):
    src, trg = documents(1, other)
    pair = PairScore(src.url, trg.url, 0.9)
    beads = list(aligner.align(pair, src, trg))
    for axis, document in enumerate((src, trg)):
        side = side_of(document)
        places = [
            range(bead.places[axis], bead.places[axis] + bead.bead[axis])
            for bead in beads
        ]
        assert sorted(itertools.chain(*places)) == list(range(len(side)))
        for bead, run in zip(beads, places, strict=True):
            text = (bead.src_text, bead.trg_text)[axis]
            assert text == " ".join(side.texts[k] for k in run)
    assert all(0 <= bead.score <= 1 for bead in beads)
    assert {(b.src_url, b.trg_url, b.pair_score) for b in beads} == {
        (src.url, trg.url, 0.9)
    }
    assert beads == list(aligner.align(pair, src, trg))


def test_translations_are_found_and_an_empty_page_has_none(aligner):
    src, trg = documents(1)
    pair = PairScore(src.url, trg.url, 0.9)
    found = {
        (bead.src_text, bead.trg_text)
        for bead in aligner.align(pair, src, trg)
        if all(bead.bead)
    }
    true = set(zip(SITE.sentences(1, "en"), SITE.sentences(1, "is"), strict=True))
    assert len(found & true) > 0.9 * len(true)
    from dataclasses import replace

    empty = replace(trg, tokens=(), chunks=())
    assert not any(all(bead.bead) for bead in aligner.align(pair, src, empty))


def test_a_callable_that_is_not_there_is_one_clear_error():
    with pytest.raises(ProfileError, match="nowhere"):
        DynamicAligner(LANGS, config=SentencesConfig(encode="nowhere.encode"))
