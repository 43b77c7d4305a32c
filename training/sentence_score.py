"""The weights of the score of sentence pairs, fitted on true and on damaged pairs.

    python -m training.sentence_score SOURCES --langs de es

SOURCES: as in `sentence_costs`, and languages that judge nothing. Good pairs
are the sentences of messages that have equally many in both languages. Bad ones are
made of them: with a neighbour's translation, with half of the translation, and with the
next sentence at its end.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from crawler.aligner.sentences.quality import FEATURES, QualityModel, usual_ratio
from crawler.aligner.sentences.split import side_of
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from training.data.gettext_pages import TruePage, document_of, gold_of, read_pages
from training.sentence_costs import lexicon_of


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
    for name, weight in zip(FEATURES, fit.coef_[0]):
        print(f"{name:10} {weight:7.3f}")
    print(tuple(round(float(weight), 3) for weight in fit.coef_[0]))
    scores = fit.predict_proba(features)[:, 1]
    for threshold in (0.1, 0.2, 0.3, 0.5, 0.7):
        kept = scores >= threshold
        print(
            f"score ≥ {threshold}: precision {truth[kept].mean():.3f},"
            f" recall {kept[truth].mean():.3f}"
        )


if __name__ == "__main__":
    main()
