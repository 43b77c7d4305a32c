"""HeLI-OTS by heliport: 220 languages, Northern Sámi and Tetun among them.

Jauhiainen et al. (2022), "HeLI-OTS, off-the-shelf language identifier for text". Its
models take 0.9 GB of memory and 3 s to load; extra `languages`.
"""

from __future__ import annotations

from heliport import Identifier

from crawler.data import Lang
from crawler.extract.detectors.members import lang_of
from crawler.extract.detectors.pieces import by_pieces
from crawler.protocols import Detection


class HeliportDetector:
    """Names the language of each piece of a text."""

    def __init__(self) -> None:
        self._identifier = Identifier()

    def detect(self, text: str, *, hint: Lang | None = None) -> Detection:
        """Detect the language of most of the text; the hint is not needed."""
        return by_pieces(text, self._language)

    def _language(self, piece: str) -> Lang | None:
        return lang_of(self._identifier.identify(piece.replace("\n", " ")), piece)
