"""What every scorer, bridge and model of the aligner promises."""

from __future__ import annotations

import numpy as np
import pytest

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.word_clusters import WordClusters
from crawler.aligner.bridges.word_for_word import WordForWord
from crawler.aligner.features import Featurizer
from crawler.aligner.frequencies import Frequencies
from crawler.aligner.plugins import SHORT_NAMES, make
from crawler.aligner.scorers.avsim import AvsimScorer
from crawler.aligner.scorers.lengths import LengthScorer
from crawler.aligner.scorers.ngrams import NgramScorer
from crawler.aligner.scorers.overlap import OverlapScorer
from crawler.aligner.scorers.strand import StrandScorer
from crawler.aligner.scorers.tsim import TsimScorer
from crawler.config import Plugin
from crawler.data import CandidatePair, LangPair
from crawler.extract.document import build_document
from tests.worlds import build_site

LANGS = LangPair("en", "is")
SITE = build_site(concepts=8)
PAGES = [
    Featurizer(LANGS).featurize(document)
    for page in SITE.pages()
    if (document := build_document(page)) and document.lang in LANGS
]
SRC, TRG = ([s for s in PAGES if s.lang == lang] for lang in LANGS)
PAIRS = [CandidatePair(src, trg, frozenset()) for src in SRC for trg in TRG]
WORDS = np.unique(SRC[0].words)[:5]
LEXICON = Lexicon(LANGS, WORDS, np.unique(TRG[0].words)[:5], np.ones(5, np.float32))
FREQUENCIES = Frequencies(LANGS)
for page in PAGES:
    FREQUENCIES.add(page)

SCORERS = [
    AvsimScorer(LEXICON),
    LengthScorer(FREQUENCIES),
    NgramScorer(FREQUENCIES),
    OverlapScorer(FREQUENCIES),
    StrandScorer(),
    TsimScorer(LEXICON),
]
BRIDGES = [WordClusters(LEXICON), WordForWord(LEXICON)]


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_a_scorer_gives_finite_features_and_judges_each_pair_for_itself(scorer):
    scores = scorer.score(PAIRS)
    assert len(scores) == len(PAIRS)
    assert all(np.isfinite(list(features.values())).all() for features in scores)
    assert all("." in name for features in scores for name in features)
    assert scores == [scorer.score([pair])[0] for pair in PAIRS]
    assert scorer.score([]) == []


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: type(bridge).__name__)
def test_a_bridge_keeps_every_word_in_its_place(bridge):
    for page in PAGES:
        terms = bridge.encode(page)
        assert len(terms) == len(page.words)
        assert terms.dtype == np.uint64
    src, trg = bridge.encode(SRC[0]), bridge.encode(TRG[0])
    assert len(np.intersect1d(src, trg)) >= len(
        np.intersect1d(SRC[0].words, TRG[0].words)
    )


@pytest.mark.parametrize("kind", SHORT_NAMES["model"])
@pytest.mark.parametrize("name", ["words", "lexicon"])
def test_a_model_gives_probabilities_and_never_more_than_it_promised(kind, name):
    model = make("model", Plugin(kind), content=name)
    for pair in PAIRS:
        known = {}
        for scorer in SCORERS:
            if scorer.name != "strand":
                known.update(scorer.score([pair])[0])
        known |= {"margin.src": 0.1, "margin.trg": -0.1, "nearest.cosine": 0.2}
        everything = known | StrandScorer().score([pair])[0]
        assert 0 <= model.probability(everything) <= 1
        assert model.probability(everything) <= model.best_case(known) + 1e-9
