"""A language that no detector knows, learned from a text in it.

Each language with a sample has a model of its characters: the probability of each after
up to four before it, with stupid backoff (Brants et al. 2007, "Large language models in
machine translation", section 4). A text is in the language if it is no stranger to the
model than the language's own text, a part of the sample that the model has not seen;
between several, the one that it is least strange to. All others are for another
detector to tell. A close neighbour needs a sample of its own: `report` says which.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Self

from crawler.data import Lang
from crawler.errors import UsageError
from crawler.extract.detectors.pieces import PIECE, by_pieces
from crawler.protocols import Detection, LanguageDetector

_ORDER = 5  # characters of the longest n-gram: a short word
_BACKOFF = math.log(0.4)  # as in the paper
_UNSEEN = -12.0  # log probability of a character that the sample does not have
_MIN_SAMPLE = 5_000  # characters; with less a quarter of the n-grams of a page are new
_MAX_SAMPLE = 1_000_000  # characters; a novel
_FOLDS = 5
_SPREAD = 3.0  # standard deviations: one text in a thousand is stranger


class CharacterModel:
    """Probabilities of the characters of a language."""

    def __init__(self, counts: Counter[str], total: int) -> None:
        """`counts`: of the n-grams of a text; `total`: its characters."""
        self._counts = counts
        self._total = total

    @classmethod
    def of(cls, text: str) -> Self:
        """The model of a text."""
        counts = Counter(
            text[at : at + size]
            for size in range(1, _ORDER + 1)
            for at in range(len(text) - size + 1)
        )
        return cls(counts, len(text))

    def strangeness(self, text: str) -> float:
        """Nats a character, the mean over a text; small: it is like the sample."""
        counts = self._counts
        total = 0.0
        for end in range(1, len(text) + 1):
            penalty = 0.0
            for start in range(max(0, end - _ORDER), end):
                if count := counts.get(text[start:end]):
                    before = counts[text[start : end - 1]] if end - start > 1 else 0
                    total += penalty + math.log(count / (before or self._total))
                    break
                penalty += _BACKOFF
            else:
                total += _UNSEEN
        return -total / max(1, len(text))


class SampleDetector:
    """Tells the languages of samples, and leaves the others to another detector."""

    def __init__(self, base: LanguageDetector) -> None:
        self._base = base
        self._pieces: dict[Lang, list[str]] = {}
        self._models: dict[Lang, CharacterModel] = {}
        self._limits: dict[Lang, float] = {}

    @classmethod
    def learn(cls, base: LanguageDetector, samples: Mapping[Lang, str]) -> Self:
        """Learn the samples; UsageError for one that is too short."""
        detector = cls(base)
        for lang, text in samples.items():
            detector._pieces[lang] = pieces = _pieces_of(lang, text)
            detector._models[lang] = CharacterModel.of("\n".join(pieces))
            unseen = list(_unseen(pieces))
            spread = _SPREAD * statistics.pstdev(unseen)
            detector._limits[lang] = statistics.fmean(unseen) + spread
        return detector

    def detect(self, text: str, *, hint: Lang | None = None) -> Detection:
        """Detect the language of most of the text."""
        found = by_pieces(text, self._of_sample)
        if found.lang is not None and 2 * found.confidence > 1:
            return found
        return self._base.detect(text, hint=hint)

    def report(self) -> Iterator[str]:
        """How well each language is told from its neighbours, a line each.

        Of pieces of 200 characters of the sample, each with a model of the others.
        """
        for lang, pieces in self._pieces.items():
            right = Counter(self._held_out(lang, pieces))
            called = Counter(self._base.detect(piece).lang for piece in pieces)
            near, count = called.most_common(1)[0]
            line = (
                f"{lang}: {right[lang] / len(pieces):.1%} of its sample is recognised"
            )
            if near not in (None, lang):
                share = count / len(pieces)
                line += f"; the detector beside it calls {share:.0%} of it {near}"
                if near not in self._pieces:
                    line += f" (LANGUAGE_SAMPLES with {near}=FILE tells the two apart)"
            yield line

    def _of_sample(self, piece: str) -> Lang | None:
        piece = _plain(piece)
        found = {lang: model.strangeness(piece) for lang, model in self._models.items()}
        # a short piece varies more than those that the limits are of
        slack = max(1.0, math.sqrt(PIECE / max(1, len(piece))) / 1.5)
        known = [lang for lang in found if found[lang] <= self._limits[lang] * slack]
        return min(known, key=found.__getitem__, default=None)

    def _held_out(self, lang: Lang, pieces: list[str]) -> Iterator[Lang | None]:
        for piece, own in zip(pieces, _unseen(pieces)):
            found = {
                other: model.strangeness(piece)
                for other, model in self._models.items()
                if other != lang
            }
            known = {o: s for o, s in found.items() if s <= self._limits[o]}
            if own <= self._limits[lang]:
                known[lang] = own
            yield min(known, key=known.__getitem__, default=None)


def _pieces_of(lang: Lang, text: str) -> list[str]:
    text = _plain(text[:_MAX_SAMPLE])
    if len(text) < _MIN_SAMPLE:
        raise UsageError(
            f"LANGUAGE_SAMPLES: the text in {lang} has {len(text)} characters (give"
            f" at least {_MIN_SAMPLE}, a few pages)"
        )
    return [text[at : at + PIECE] for at in range(0, len(text) - PIECE // 2, PIECE)]


def _plain(text: str) -> str:
    """Lower case and single blanks; numbers are alike in all languages."""
    return " ".join("".join(c for c in text.lower() if not c.isdigit()).split())


def _unseen(pieces: list[str]) -> Iterator[float]:
    """The strangeness of each piece to a model of those in other folds."""
    models = [
        CharacterModel.of(
            "\n".join(p for at, p in enumerate(pieces) if at % _FOLDS != f)
        )
        for f in range(_FOLDS)
    ]
    for at, piece in enumerate(pieces):
        yield models[at % _FOLDS].strangeness(piece)
