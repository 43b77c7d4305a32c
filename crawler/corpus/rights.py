"""The wishes of a page's owner about the use of its text.

Marks come from `<meta name=robots>` (and `bifocal`'s own name), from the header
X-Robots-Tag, and from the TDM Reservation Protocol (W3C community group report, 2024:
header or meta `tdm-reservation: 1`, the opt-out of article 4 of the European directive
2019/790). A setting says which of them are honoured. The licence that a page links to
is a hint for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from crawler.data import Document, Page, Site
from crawler.errors import ProfileError

# The marks that can be honoured.
MARKS = ("noindex", "nofollow", "noarchive", "noai", "tdm-reservation")
_META = re.compile(
    rb"<meta\s[^>]*name\s*=\s*[\"']?tdm-reservation[\"']?[^>]*>", re.IGNORECASE
)
_ONE = re.compile(rb"content\s*=\s*[\"']?\s*1\b", re.IGNORECASE)
_LICENCE = re.compile(
    r"https?://(?:creativecommons\.org/(?:licenses|publicdomain)/[\w./-]+"
    r"|(?:www\.)?gnu\.org/(?:licenses|copyleft)/[\w./-]+"
    r"|(?:www\.)?opensource\.org/licenses?/[\w./-]+"
    r"|(?:www\.)?apache\.org/licenses/[\w./-]+"
    r"|(?:www\.)?nationalarchives\.gov\.uk/doc/open-government-licence[\w./-]*)"
)
_HEAD = 50_000  # bytes: meta elements stand in the head


def marks_of(page: Page, robots: str) -> frozenset[str]:
    """The marks of a page; `robots` is the content of its robots meta elements.

    >>> from datetime import UTC, datetime
    >>> headers = (("X-Robots-Tag", "bifocal: noindex, max-snippet:5"),)
    >>> page = Page("https://a.is/", 200, headers, b"", datetime.now(UTC))
    >>> sorted(marks_of(page, "nofollow"))
    ['nofollow', 'noindex']
    """
    said = [robots]
    reserved = False
    for name, value in page.headers:
        if name.lower() == "x-robots-tag":
            said.append(_for_us(value))
        elif name.lower() == "tdm-reservation":
            reserved = reserved or value.strip() == "1"
    words = set(re.split(r"[\s,]+", " ".join(said).lower()))
    if "none" in words:
        words |= {"noindex", "nofollow"}
    meta = _META.search(page.body[:_HEAD])
    if reserved or (meta and _ONE.search(meta[0])):
        words.add("tdm-reservation")
    return frozenset(words.intersection(MARKS))


def _for_us(value: str) -> str:
    """The words of a header that are meant for all robots or for this one."""
    agent, colon, rest = value.partition(":")
    if not colon or "," in agent or agent.strip().lower().startswith("max-"):
        return value
    return rest if agent.strip().lower() in ("*", "bifocal") else ""


def licence_of(document: Document) -> str | None:
    """The first address of a well-known licence that a page links to."""
    named = (_LICENCE.match(link.url) for link in document.links)
    return next((match[0] for match in named if match), None)


@dataclass(frozen=True, slots=True)
class Removals:
    """Pages to leave out: sites, hosts and beginnings of addresses."""

    names: frozenset[str]
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, lines: Iterable[str]) -> Removals:
        """One a line, in the first column; `#` begins a comment.

        >>> removals = Removals.of(["example.org  # asked on 1 May", "https://a.is/x/"])
        >>> removals.match("https://www.example.org/", "example.org")
        True
        >>> removals.match("https://a.is/y", "a.is")
        False
        """
        cells = [line.partition("#")[0].split("\t")[0].strip() for line in lines]
        return cls(
            frozenset(cell.lower() for cell in cells if cell and "://" not in cell),
            tuple(cell for cell in cells if "://" in cell),
        )

    @classmethod
    def read(cls, path: Path) -> Removals:
        """Read a file; ProfileError if that fails."""
        try:
            return cls.of(path.read_text("utf-8").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise ProfileError(
                f"{path}: not a removal list: {error} (one site or address a line)"
            ) from error

    def match(self, url: str, site: Site) -> bool:
        """True if a page must be left out."""
        host = url.partition("://")[2].partition("/")[0].lower()
        return (
            site.lower() in self.names
            or host in self.names
            or url.startswith(self.prefixes)
        )
