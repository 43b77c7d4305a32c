"""Personal data in a text: e-mail addresses, telephone numbers, account numbers.

They are found by patterns; an IBAN must pass its checksum (ISO 13616, mod 97). A
telephone number is international, or has the punctuation of one: a plain row of digits
does not count, since most of these are something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from crawler.errors import ProfileError

Action = Literal["keep", "mask", "drop"]
ACTIONS = ("keep", "mask", "drop")

_EMAIL = re.compile(
    r"[\w.+-]+(?:@|\s?[\[(]at[\])]\s?)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}", re.IGNORECASE
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b")
_PHONE = re.compile(
    r"(?<![\w.,/-])(?:"
    r"(?:\+|00)[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}"  # +354 555 1234
    r"|\(0?\d{2,5}\)[ ./-]?\d{2,4}(?:[ ./-]?\d{2,4}){1,3}"  # (02) 555 12 34
    r"|0\d{1,4}[ /-]\d{2,4}(?:[ .-]\d{2,4}){1,3}"  # 09-555 12 34
    r"|\d{3}[ -]\d{3}-\d{4}"  # 555-123-4567
    r")(?![\w/-]|[.,]\d)"
)
_DIGIT = re.compile(r"\d")
_MIN_DIGITS, _MAX_DIGITS = 7, 15  # of a telephone number, ITU-T E.164


@dataclass(frozen=True, slots=True)
class PrivacyConfig:
    """For each kind of personal data: `keep`, `mask`, or `drop` the text."""

    email: str = "keep"
    phone: str = "keep"
    iban: str = "keep"

    def __post_init__(self) -> None:
        """Refuse an unknown action."""
        for name in ("email", "phone", "iban"):
            if getattr(self, name) not in ACTIONS:
                raise ProfileError(
                    f"privacy.{name}: {getattr(self, name)!r} is not valid (known:"
                    f" {', '.join(ACTIONS)})"
                )


_KEEP = PrivacyConfig()


def find_personal(text: str) -> dict[str, list[tuple[int, int]]]:
    """The places of personal data in a text, by kind.

    >>> find_personal("Write to a@b.is or call +354 555 1234.")
    {'email': [(9, 15)], 'phone': [(24, 37)]}
    """
    found: dict[str, list[tuple[int, int]]] = {}
    if "@" in text or "at]" in text or "at)" in text:
        found["email"] = [match.span() for match in _EMAIL.finditer(text)]
    if _DIGIT.search(text):
        found["iban"] = [m.span() for m in _IBAN.finditer(text) if is_iban(m[0])]
        found["phone"] = [
            match.span()
            for match in _PHONE.finditer(text)
            if _MIN_DIGITS <= sum(map(str.isdigit, match[0])) <= _MAX_DIGITS
        ]
    return {kind: spans for kind, spans in found.items() if spans}


def is_iban(text: str) -> bool:
    """True if the check digits of an account number are right.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    plain = re.sub("[ -]", "", text)
    if not 15 <= len(plain) <= 34:
        return False
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def redacted(text: str, config: PrivacyConfig) -> str | None:
    """The text with its personal data masked; None if it must be dropped.

    >>> redacted("Write to a@b.is now.", PrivacyConfig(email="mask"))
    'Write to [email] now.'
    """
    if config == _KEEP:
        return text
    found = find_personal(text)
    actions = {kind: getattr(config, kind) for kind in found}
    if "drop" in actions.values():
        return None
    spans = [
        (*span, kind)
        for kind, places in found.items()
        if actions[kind] == "mask"
        for span in places
    ]
    end = len(text)
    for start, stop, kind in sorted(spans, reverse=True):
        if stop <= end:  # an IBAN may look like a telephone number inside
            text = f"{text[:start]}[{kind}]{text[stop:]}"
            end = start
    return text
