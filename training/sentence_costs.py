"""The constants of the sentence aligner, fitted on beads that are known.

    python -m training.sentence_costs texts sources=SOURCES gold=SRC,TRG,BEADS
    python -m training.sentence_costs pages sources=SOURCES

SOURCES is a folder of unpacked Debian source packages whose documentation is translated
with gettext (apt, aptitude, aisleriot, evince, evolution, four-in-a-row, gnome-klotski,
installation-guide: `apt-get source`). French, Finnish and Japanese are left out: they
judge the aligner. `gold` is a text with true beads, German and French: the development
part of Text+Berg.

`texts`: what words and lengths say, and what beads of whole texts cost, on that text
and on texts made of documentation (`training.data.made_texts`), as they are and with a
fifth missing. `pages`: what beads of pages cost, on pages of documentation, as they
are, with blocks missing, and in another order.

One number after the other is moved, by a third, then by an eighth, as long as F1 gains
by it, from what the aligner has; what comes out differently is printed. The same data
give the same numbers. `texts` takes an hour on a core, `pages` half an hour.

See also: `sentence_score` (the weights of the score).
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import SentencesConfig, costs_of
from crawler.aligner.sentences.beads import Agreement, Bead, Pair
from crawler.aligner.sentences.dynamic import align
from crawler.aligner.sentences.path import Node
from crawler.aligner.sentences.split import Side, side_of
from crawler.aligner.sentences.texts import WHOLE
from crawler.config import load_profile
from crawler.data import Document, LangPair
from crawler.errors import UsageError
from training.command import run_script
from training.data.gettext_pages import (
    KINDS,
    TruePage,
    document_of,
    gold_of,
    noisy,
    pairs_in,
    read_pages,
)
from training.data.made_texts import TrueText, merged, sentence_pairs, with_gaps

_BEADS = ("two", "crossed", "three", "three_two", "four", "begin", "each", "character")
_LINKS = (
    *("number", "same", "cognate"),
    *("number_explains", "same_explains", "cognate_explains", "learned_explains"),
    *("max_explained", "prior", "share", "unknown", "trust", "left_out", "kept"),
    *("empty", "min_count", "min_probability"),
)
# The numbers of each fit, as SentencesConfig has them. What words and lengths say is
# fitted on texts, where there is nothing else, and holds for pages as well.
TEXTS = (
    *(f"path.{name}" for name in _BEADS),
    *("length.scale", "length.freedom", "length.weight"),
    *("lexicon.lesser", "lexicon.greater", "lexicon.first", "lexicon.floor"),
    *(f"lexicon.links.{name}" for name in _LINKS),
)
PAGES = (
    *(f"path.{name}" for name in (*_BEADS, "reordered")),
    *("lexicon.first", "lexicon.links.lexicon_explains"),
    *("markup.other_kind", "markup.start", "markup.end"),
)
_SHARES = (
    "number",
    "same",
    "cognate",
    "left_out",
    "kept",
    "max_explained",
    "_explains",
)
_STEPS = (1.33, 1.12)  # of the first sweep and of the others
_GAIN = 5e-5  # of F1 that a step has to bring: less is chance

Score = Callable[[SentencesConfig], float]


@dataclass(frozen=True, slots=True)
class FitConfig:
    """What is fitted on."""

    sources: str
    gold: tuple[str, ...] = ()  # SRC, TRG, BEADS
    gold_langs: str = "de,fr"
    langs: tuple[str, ...] = ("cs", "de", "es", "hu", "pl", "ru")
    pages: int = 30  # of each language
    sweeps: int = 3
    seed: int = 1


# ------------------------------------------------------------------- the search


def fit(
    start: SentencesConfig, keys: Sequence[str], score: Score, sweeps: int
) -> SentencesConfig:
    """Move one number after the other while the score rises."""
    best, reached = start, score(start)
    print(f"start {reached:.5f}", flush=True)
    for sweep in range(sweeps):
        before = reached
        for key in keys:
            for step in (_STEPS[min(sweep, 1)], 1 / _STEPS[min(sweep, 1)]):
                moved = False
                while (other := changed(best, key, step)) != best:
                    value = score(other)
                    if value < reached + _GAIN:
                        break
                    best, reached, moved = other, value, True
                    print(f"{key} {value_of(best, key)}: {reached:.5f}", flush=True)
                if moved:
                    break
        if reached == before:
            break
    return best


def value_of(config: SentencesConfig, key: str) -> float:
    """The number that a dotted name stands for."""
    value: Any = config
    for name in key.split("."):
        value = getattr(value, name)
    return float(value)


def changed(config: SentencesConfig, key: str, factor: float) -> SentencesConfig:
    """The same with one number multiplied, to three digits."""
    value = value_of(config, key) * factor
    if key.rpartition(".")[2].endswith(_SHARES):
        value = min(value, 0.98)
    moved: SentencesConfig = _replaced(config, key.split("."), float(f"{value:.3g}"))
    return moved


def _replaced(config: Any, names: Sequence[str], value: float) -> Any:
    first, *rest = names
    inner = _replaced(getattr(config, first), rest, value) if rest else value
    return dataclasses.replace(config, **{first: inner})


# ------------------------------------------------------------------- texts


@dataclass(frozen=True)
class Sample:
    """Two sides, and their true beads; `closed`: those of which only the ends count."""

    src: Side
    trg: Side
    gold: Sequence[Pair]
    closed: frozenset[Pair] = frozenset()
    walls: Sequence[Node] = ()


def text_sets(config: FitConfig) -> dict[str, list[Sample]]:
    """Texts by kind: each is judged as a whole, and all kinds count alike."""
    sets: dict[str, list[Sample]] = {}
    rng = random.Random(config.seed)
    if config.gold:
        text = _gold_text(config)
        langs = LangPair.parse(config.gold_langs)
        sets["gold"] = [_sample([text], langs)]
        sets["gold, gaps"] = [_sample([with_gaps(text, rng)], langs) for _ in range(3)]
    for lang in config.langs:
        langs = LangPair("en", lang)
        pages = _some_pages(config, lang)
        pairs = [
            pair
            for number, page in enumerate(pages)
            for pair in sentence_pairs(page, number, langs)
        ]
        # five texts: as often merged and split as by a free translator, or seldom
        size = len(pairs) // 5
        texts = [
            merged(pairs[k * size : (k + 1) * size], share, rng)
            for k, share in enumerate(((0.05, 0.05), (0.1, 0.1), (0.15, 0.2)) * 2)
        ][:5]
        gaps = [with_gaps(text, rng) for text in texts]
        sets[lang] = [_sample([text], langs) for text in texts]
        sets[f"{lang}, gaps"] = [_sample([text], langs) for text in gaps]
        sets[f"{lang}, gaps, together"] = [_sample(gaps, langs)]
    return sets


def _gold_text(config: FitConfig) -> TrueText:
    if len(config.gold) != 3:
        raise UsageError("gold: give three files, gold=SRC,TRG,BEADS")
    return TrueText.read(*map(Path, config.gold))


def _some_pages(config: FitConfig, lang: str) -> list[TruePage]:
    pages = read_pages(Path(config.sources), lang)
    if not pages:
        raise UsageError(
            f"{config.sources}: no documentation in {lang!r} (unpack more)"
        )
    count = min(config.pages, len(pages))
    return random.Random(f"{config.seed} {lang}").sample(pages, count)


def _sample(texts: Sequence[TrueText], langs: LangPair) -> Sample:
    """Texts that are aligned together."""
    walls, gold = [(0, 0)], []
    for text in texts:
        i, j = walls[-1]
        gold += [
            (tuple(n + i for n in src), tuple(n + j for n in trg))
            for src, trg in text.gold
        ]
        walls.append((i + len(text.src), j + len(text.trg)))
    return Sample(
        Side.of_sentences(langs.src, [line for text in texts for line in text.src]),
        Side.of_sentences(langs.trg, [line for text in texts for line in text.trg]),
        gold,
        walls=walls,
    )


def mean_f1(
    sets: Mapping[str, Sequence[Sample]],
    lexicons: Mapping[str, Lexicon | None],
    config: SentencesConfig,
) -> float:
    """The mean of strict and lax F1 over all sets."""
    values = []
    for name, samples in sets.items():
        costs = costs_of(lexicons.get(name), config)
        total = Agreement()
        for one in samples:
            beads = align(one.src, one.trg, costs, config.path, one.walls)
            total += Agreement.between(one.gold, _pairs(beads, one))
        figures = total.figures
        values.append((figures["strict_f1"] + figures["lax_f1"]) / 2)
    return float(np.mean(values))


def _pairs(beads: Sequence[Bead], one: Sample) -> set[Pair]:
    pairs = [bead.pair for bead in beads]
    return set(pairs) if one.walls else pairs_in(pairs, set(one.closed))


# ------------------------------------------------------------------- pages


def page_sets(
    config: FitConfig,
) -> tuple[dict[str, list[Sample]], dict[str, Lexicon | None]]:
    """Pages by language and kind, with the lexicon of a run and, some, without."""
    sets: dict[str, list[Sample]] = {}
    lexicons: dict[str, Lexicon | None] = {}
    for lang in config.langs:
        langs = LangPair("en", lang)
        for kind in KINDS:
            rng = random.Random(f"{config.seed} {lang} {kind}")
            name = f"{lang}, {kind}"
            pages, documents, lexicons[name] = noisy_pages(
                _some_pages(config, lang), langs, kind, rng
            )
            sets[name] = [
                _page_sample(page, side_of(src), side_of(trg))
                for page, (src, trg) in zip(pages, documents)
            ]
            sets[f"{name}, no lexicon"] = sets[name][::3]
    return sets, lexicons


def _page_sample(page: TruePage, src: Side, trg: Side) -> Sample:
    gold, closed = gold_of(page, src, trg)
    return Sample(src, trg, sorted(gold), frozenset(closed))


def noisy_pages(
    pages: Iterable[TruePage], langs: LangPair, kind: str, rng: random.Random
) -> tuple[list[TruePage], list[tuple[Document, Document]], Lexicon | None]:
    """Pages of a kind, as documents in both languages, and what they teach."""
    made = [noisy(page, kind, rng) for page in pages]
    documents = [
        (document_of(page.src, langs.src, n), document_of(page.trg, langs.trg, n))
        for n, page in enumerate(made)
    ]
    return made, documents, lexicon_of(langs, (d for both in documents for d in both))


def lexicon_of(langs: LangPair, documents: Iterable[Document]) -> Lexicon | None:
    """What the aligner learns from these pages, as in a run."""
    with Aligner(langs) as aligner:
        for document in documents:
            aligner.add(document)
        aligner.finish()
        return aligner.lexicon


# ------------------------------------------------------------------- the command


def fit_texts(config: FitConfig) -> None:
    """Print the numbers of whole texts."""
    _report(WHOLE, TEXTS, partial(mean_f1, text_sets(config), {}), config.sweeps)


def fit_pages(config: FitConfig) -> None:
    """Print the numbers of pages."""
    score = partial(mean_f1, *page_sets(config))
    _report(SentencesConfig(), PAGES, score, config.sweeps)


def _report(
    start: SentencesConfig, keys: Sequence[str], score: Score, sweeps: int
) -> None:
    found = fit(start, keys, score, sweeps)
    for key in keys:
        old, new = value_of(start, key), value_of(found, key)
        print(f"{key} = {new}" + ("" if new == old else f"  # the aligner has {old}"))


FITS = {"texts": fit_texts, "pages": fit_pages}


def main(words: Sequence[str]) -> None:
    """Fit what the first word names."""
    if not words or words[0] not in FITS:
        raise UsageError(f"what is to be fitted? (one of {', '.join(FITS)})")
    FITS[words[0]](load_profile(FitConfig, None, words[1:]))


if __name__ == "__main__":
    run_script(main)
