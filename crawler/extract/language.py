"""The language of a text, by CLD2 as in García-Romero (2024), section 4."""

from __future__ import annotations

import re

import pycld2

from crawler.data import Lang
from crawler.languages import from_cld2
from crawler.protocols import Detection

# CLD2 refuses a whole page ("invalid UTF-8") for these code points, which are legal in
# Python strings: C0 and C1 controls except tab, line feed, form feed and carriage
# return, the non-characters, and lone surrogates.
_REFUSED = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
    + "]"
)
# 0.25 ms for 2,000 words; more words do not change the answer.
_MAX_CHARACTERS = 20_000
_NONE = Detection(None, 0.0, reliable=False)


class Cld2Detector:
    """Compact Language Detector 2: 165 languages, 14,000 pages/s.

    `min_characters`: CLD2 guesses wildly on less text than a short sentence.
    """

    def __init__(self, min_characters: int = 30) -> None:
        self.min_characters = min_characters

    def detect(self, text: str, *, hint: Lang | None = None) -> Detection:
        """Detect the language of most of the text.

        The hint only settles what CLD2 itself calls unreliable: pages lie about their
        language more often than CLD2 does.

        >>> Cld2Detector().detect("Veðrið er gott í dag og sólin skín á fjöllin.").lang
        'is'
        """
        if len(text) > _MAX_CHARACTERS:
            text = text[:_MAX_CHARACTERS]
        text = _REFUSED.sub("", text)
        if len(text) < self.min_characters:
            return _NONE
        try:
            reliable, _, details = pycld2.detect(text, isPlainText=True)
        except pycld2.error:
            return _NONE
        _, code, percent, _ = details[0]
        lang = from_cld2(code)
        if not reliable and hint is not None:
            declared = [d for d in details if from_cld2(d[1]) == hint]
            if declared:
                return Detection(hint, declared[0][2] / 100, reliable=False)
        return Detection(lang, percent / 100 if lang else 0.0, reliable=bool(reliable))
