"""The weights of the score of sentence pairs, fitted on true and on damaged pairs.

    python -m training.sentence_score SOURCES --langs de es

SOURCES: as in `sentence_costs`, and languages that judge nothing. Good pairs
are the sentences of messages that have equally many in both languages. Bad ones are
made of them: with a neighbour's translation, with half of the translation, and with the
next sentence at its end.

That says which pair is better. How often a pair is right is learned from beads that the
aligner finds on pages of those languages, as they are, with blocks missing, and in
another order: the log-odds are stretched and shifted to fit them (Platt 1999), and the
weights that are printed have both in them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from crawler.aligner.sentences.aligner import SentencesConfig, costs_of
from crawler.aligner.sentences.dynamic import align
from crawler.aligner.sentences.quality import FEATURES, QualityModel, usual_ratio
from crawler.aligner.sentences.split import side_of
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from training.data.gettext_pages import (
    KINDS,
    TruePage,
    document_of,
    gold_of,
    judged_beads,
    read_pages,
)
from training.sentence_costs import lexicon_of, noisy_pages


def examples(
    page: TruePage, number: int, langs: LangPair, rng: random.Random
) -> tuple[list[tuple[str, str]], list[bool], float]:
    """Pairs of a page, whether each is good, and how long translations are."""
    src = side_of(document_of(page.src, langs.src, number))
    trg = side_of(document_of(page.trg, langs.trg, number))
    gold, closed = gold_of(page, src, trg)
    pairs = sorted((a[0], b[0]) for a, b in gold - closed)
    texts: list[tuple[str, str]] = []
    good: list[bool] = []
    for i, j in pairs:
        texts.append((src.texts[i], trg.texts[j]))
        good.append(True)
        for text in _bad(trg.texts, j, rng):
            if text != trg.texts[j]:
                texts.append((src.texts[i], text))
                good.append(False)
    return texts, good, usual_ratio(float(src.sizes.sum()), float(trg.sizes.sum()))


def _bad(texts: tuple[str, ...], j: int, rng: random.Random) -> Iterator[str]:
    other = j + rng.choice((-3, -2, -1, 1, 2, 3))
    if 0 <= other < len(texts):
        yield texts[other]
    kind = rng.random()
    words = texts[j].split() if " " in texts[j] else list(texts[j])
    if kind < 0.3 and len(words) > 7:
        half = len(words) // 2
        kept = words[:half] if kind < 0.15 else words[half:]
        yield (" " if " " in texts[j] else "").join(kept)
    elif kind < 0.6 and j + 1 < len(texts) and len(texts[j + 1]) > 0.5 * len(texts[j]):
        yield f"{texts[j]} {texts[j + 1]}"


def found(
    pages: list[TruePage], langs: LangPair, kind: str
) -> Iterator[tuple[list[tuple[str, str]], list[float], QualityModel, float]]:
    """Of each page of a kind the pairs that the aligner finds, and how right each is.

    Beside them the model that judges them, every fourth page without a lexicon, and how
    long translations are.
    """
    rng = random.Random(f"{langs} {kind}")
    pages, sides, learned = noisy_pages(pages, langs, kind, rng)
    config = SentencesConfig()
    ways = [
        (QualityModel(WordIds(), lexicon), costs_of(lexicon, config))
        for lexicon in (learned, None)
    ]
    for n, (page, both) in enumerate(zip(pages, sides)):
        model, costs = ways[n % 4 == 3]
        src, trg = map(side_of, both)
        beads = align(src, trg, costs, config.path)
        judged = judged_beads(beads, *gold_of(page, src, trg))
        texts = [
            (src.join(bead.src, bead.size[0]), trg.join(bead.trg, bead.size[1]))
            for bead, _ in judged
        ]
        usual = usual_ratio(float(src.sizes.sum()), float(trg.sizes.sum()))
        yield texts, [right for _, right in judged], model, usual


def calibrated(
    weights: NDArray[np.float64], features: NDArray[np.float64], right: Sequence[float]
) -> NDArray[np.float64]:
    """The weights, stretched and shifted so that scores are shares of right pairs."""
    odds = (features @ weights)[:, None]
    share = np.array(right)
    fit = LogisticRegression(C=1e6, max_iter=1000).fit(
        np.concatenate([odds, odds]),
        np.repeat([1, 0], len(odds)),
        np.concatenate([share, 1 - share]),
    )
    print(f"stretched by {fit.coef_[0][0]:.3f}, shifted by {fit.intercept_[0]:.3f}")
    changed: NDArray[np.float64] = weights * fit.coef_[0][0]
    changed[0] += fit.intercept_[0]
    return changed


def main() -> None:
    """Fit, and print the weights and what thresholds would keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path)
    parser.add_argument("--langs", nargs="+", default=["de", "es"])
    args = parser.parse_args()
    rows, labels = [], []
    for lang in args.langs:
        langs, rng = LangPair("en", lang), random.Random(lang)
        pages = read_pages(args.sources, lang)
        lexicon = lexicon_of(
            langs,
            (
                document_of(side, code, n)
                for n, page in enumerate(pages)
                for side, code in ((page.src, "en"), (page.trg, lang))
            ),
        )
        # every other page without a lexicon: a crawl begins without one
        models = [QualityModel(WordIds(), lexicon), QualityModel(WordIds())]
        for n, page in enumerate(pages):
            model = models[n % 4 == 3]
            texts, good, usual = examples(page, n, langs, rng)
            ratios = model.lexical_ratios(texts)
            rows.append(model.features(texts, ratios, usual))
            labels += good
    features, truth = np.concatenate(rows), np.array(labels)
    fit = LogisticRegression(fit_intercept=False, C=10.0, max_iter=1000)
    fit.fit(features, truth)
    beads, right = [], []
    for lang in args.langs:
        langs = LangPair("en", lang)
        for kind in KINDS:
            every = found(read_pages(args.sources, lang), langs, kind)
            for texts, shares, model, usual in every:
                ratios = model.lexical_ratios(texts)
                beads.append(model.features(texts, ratios, usual))
                right += shares
    weights = calibrated(fit.coef_[0], np.concatenate(beads), right)
    for name, weight in zip(FEATURES, weights):
        print(f"{name:10} {weight:7.3f}")
    print(tuple(round(float(weight), 3) for weight in weights))
    scores = 1 / (1 + np.exp(-features @ weights))
    for threshold in (0.1, 0.2, 0.3, 0.5, 0.7, 0.9):
        kept = scores >= threshold
        print(
            f"score ≥ {threshold}: precision {truth[kept].mean():.3f},"
            f" recall {kept[truth].mean():.3f}"
        )


if __name__ == "__main__":
    main()
