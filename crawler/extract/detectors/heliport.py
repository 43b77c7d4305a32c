"""HeLI-OTS by heliport: 220 languages, Northern Sámi and Tetun among them.

Jauhiainen et al. (2022), "HeLI-OTS, off-the-shelf language identifier for text". Its
models take 0.9 GB of memory and 3 s to load; extra `languages`.
"""

from __future__ import annotations

from heliport import Identifier

from crawler.data import Lang
from crawler.extract.detectors.pieces import by_pieces
from crawler.languages import language_of
from crawler.protocols import Detection

# Its names of the members of macrolanguages that are one language here.
_MEMBERS = {
    "ayr": "ay",
    "cmn": "zh",
    "gaz": "om",
    "kmr": "ku",
    "knc": "kr",
    "kpv": "kv",
    "nob": "no",
    "pbt": "ps",
    "pes": "fa",
    "twi": "ak",
    "uzn": "uz",
}
_CYRILLIC = range(0x400, 0x530)


class HeliportDetector:
    """Names the language of each piece of a text."""

    def __init__(self) -> None:
        self._identifier = Identifier()

    def detect(self, text: str, *, hint: Lang | None = None) -> Detection:
        """Detect the language of most of the text; the hint is not needed."""
        return by_pieces(text, self._language)

    def _language(self, piece: str) -> Lang | None:
        found = self._identifier.identify(piece.replace("\n", " "))
        if found == "hbs":  # Serbo-Croatian: one language for it
            cyrillic = sum(ord(char) in _CYRILLIC for char in piece)
            return "sr" if 2 * cyrillic > len(piece) else "hr"
        if found == "und":
            return None
        return language_of(_MEMBERS.get(found, found)).code
