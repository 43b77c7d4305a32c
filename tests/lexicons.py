"""Small English and Icelandic lexicons and pages, for tests of the bridges."""

from __future__ import annotations

import numpy as np

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.features import Featurizer
from crawler.data import LangPair
from tests.documents import make_document

LANGS = LangPair("en", "is")
FEATURIZER = Featurizer(LANGS)


def word(text: str) -> int:
    return int(FEATURIZER.word_ids.encode(text)[0])


def features(text: str, lang: str):
    return FEATURIZER.featurize(
        make_document(
            url="u",
            site="s",
            lang=lang,
            tokens=("<p", "", "</p"),
            chunks=(text,),
        )
    )


def lexicon(*links: tuple[str, str, float]) -> Lexicon:
    rows = sorted((word(src), word(trg), count) for src, trg, count in links)
    src, trg, count = zip(*rows)
    return Lexicon(
        LANGS,
        np.array(src, np.uint32),
        np.array(trg, np.uint32),
        np.array(count, np.float32),
    )
