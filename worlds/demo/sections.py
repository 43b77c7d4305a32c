"""The sections of the demo world, and the two values that everything is made of.

Each section writes its addresses, and says where a page's translations are, in its own
way: that is what a crawler has to cope with. SECTIONS is the summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WWW = "https://www.skarfey.example"
IS = "https://is.skarfey.example"

HTML = "text/html; charset=utf-8"
XHTML = "application/xhtml+xml; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says at one address."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the site that one template and one naming habit made."""

    address: Mapping[str, str]  # language → the beginning of its pages' addresses
    switcher: str  # how a page names its translations, see _switcher


SECTIONS = {
    "institute": Section(
        {lang: f"{WWW}/{lang}/" for lang in ("en", "is", "es", "da", "de")}, "hreflang"
    ),
    "research": Section(
        {
            "en": f"{WWW}/en/research/",
            "is": f"{WWW}/is/rannsoknir/",
            "es": f"{WWW}/es/investigacion/",
        },
        "names",
    ),
    "fisheries": Section(
        {"en": f"{WWW}/fisheries/", "is": f"{WWW}/fiskveidar/", "es": f"{WWW}/pesca/"},
        "nothing",
    ),
    "museum": Section(dict.fromkeys(("en", "is", "es"), f"{WWW}/museum/"), "codes"),
    "visit": Section(dict.fromkeys(("en", "is", "es"), f"{WWW}/visit/"), "options"),
    # its alternates stand in the sitemap only
    "guide": Section(
        {"en": f"{WWW}/guide/", "is": f"{IS}/guide/", "es": f"{WWW}/es/guide/"},
        "nothing",
    ),
    "bulletins": Section(
        dict.fromkeys(("en", "is", "es"), f"{WWW}/bulletins/"), "nothing"
    ),
    "tales": Section(dict.fromkeys(("en", "is", "es"), f"{WWW}/sogur/"), "nothing"),
    "news": Section(
        {
            "en": f"{WWW}/en/news/",
            "is": f"{WWW}/is/news/",
            "es": f"{WWW}/es/noticias/",
        },
        "homes",
    ),
    "other": Section(dict.fromkeys(("en", "is", "es"), f"{WWW}/"), "nothing"),
}


def ok(
    url: str, html: str, content_type: str = HTML, encoding: str = "utf-8"
) -> Answer:
    """An answer with a page."""
    return answer(url, 200, html, content_type, encoding=encoding)


def answer(
    url: str,
    status: int,
    text: str = "",
    content_type: str = HTML,
    *headers: tuple[str, str],
    encoding: str = "utf-8",
) -> Answer:
    """An answer of any status."""
    return Answer(
        url,
        status,
        (("Content-Type", content_type), *headers),
        text.encode(encoding),
    )
