"""A fastText model for language identification, from a file: OpenLID, GlotLID, lid.176.

Joulin et al. (2017), "Bag of tricks for efficient text classification"; the models are
those of Burchell et al. (2023), 201 languages, and Kargaran et al. (2023), 2,000. Their
labels are ISO 639 codes, with a script behind them or not. Extra `fasttext`.
"""

from __future__ import annotations

import re
from typing import Any, Self

import fasttext

from crawler.data import Lang
from crawler.extract.detectors.members import lang_of
from crawler.extract.detectors.pieces import by_pieces
from crawler.protocols import Detection

_LABEL = re.compile(r"__label__([a-z]{2,3})(?:[_-]\w+)?")
_SURE = 0.5  # below, the model sees several languages, or none that it knows


class FastTextDetector:
    """Names the language of each piece of a text by a model of fasttext-predict."""

    def __init__(self, model: Any) -> None:  # the library has no types
        self._model = model

    @classmethod
    def load(cls, path: str) -> Self:
        """Read a model from its file. Raises ValueError for what is not one."""
        return cls(fasttext.load_model(path))

    def detect(self, text: str, *, hint: Lang | None = None) -> Detection:
        """Detect the language of most of the text; the hint is not needed."""
        return by_pieces(text, self._language)

    def _language(self, piece: str) -> Lang | None:
        labels, _ = self._model.predict(piece.replace("\n", " "), 1, _SURE)
        label = _LABEL.fullmatch(labels[0]) if labels else None
        return lang_of(label[1], piece) if label else None
