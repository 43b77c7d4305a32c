"""Which parts of a site's URLs change nothing: session ids, facets, calendars.

A page whose text the site has shown before is a *copy*: it cost a download and can
give no new pair. What of a URL made the copy is learned from its *siblings*, the URLs
that differ from it in one part alone: a query parameter, or a path segment that holds
a number. Where siblings turn out to show one text, the part that tells them apart is
irrelevant, and the next sibling of a page in hand is expected to be a copy too.

So the traps that a crawler knows only by name (calendars, facets, session ids) are
found by what they do, and a parameter named `id` or a year in an archive is left alone.
The idea is DUST's (Bar-Yossef, Keidar & Schonfeld, WWW 2007: different URLs, similar
text), with one part at a time for its substitution rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import xxhash

from crawler.data import PageFacts, Site
from crawler.frontier.scorers.beliefs import Rates
from crawler.handles import handle_of
from crawler.urls import split

# Numbers, and what is as long as a session id.
_NUMBER = re.compile(r"[0-9a-f]{16,}|\d+")
# Of a longer URL no part is looked at: scope.trap() refuses most of them.
_MAX_PARTS = 8


def text_key(page: PageFacts, site: Site) -> int:
    """A number that pages of a site have in common if they show the same text.

    Menus, dates and counters do not count: two months of a calendar, or a list in two
    layouts, are the same. A page of few words is told by everything that it shows.
    """
    return _hash(f"{site} {page.prose or page.digest}")


class Part(NamedTuple):
    """A part of a URL that may change nothing."""

    kind: str  # parameter or number
    names: tuple[str, ...]  # where it stands, coarse to fine: what is counted
    rest: int  # the URL without it: what its siblings have in common


def parts_of(url: str) -> tuple[Part, ...]:
    """The parameters of a URL, and its path segments that hold a number.

    A parameter that names a language is none: thirty untranslated versions of a page
    say nothing of the next one.

    >>> [part.names[0] for part in parts_of("https://a.example/2026/x?day=3&sid=f")]
    ['a.example/#', '?day a.example', '?sid a.example']
    """
    if "?" not in url and not _NUMBER.search(url):
        return ()
    host, path, query = (parts := split(url)).host, parts.path, parts.query
    found = []
    segments = path.split("/")
    masked = [_NUMBER.sub("#", segment) for segment in segments]
    shape = f"{host}{'/'.join(masked)}"
    for place, (segment, mask) in enumerate(zip(segments, masked)):
        if segment != mask:
            rest = "/".join([*segments[:place], mask, *segments[place + 1 :]])
            name = f"{host}{'/'.join(masked[: place + 1])}"
            found.append(_part("number", name, shape, f"{host}{rest}?{query}"))
    parameters = query.split("&") if query else []
    languages = handle_of(url).markers if parameters else ()
    named = {marker.token for marker in languages if marker.place == "query"}
    for place, parameter in enumerate(parameters):
        if parameter.partition("=")[2].lower() in named:
            continue
        rest = "&".join(parameters[:place] + parameters[place + 1 :])
        name = f"?{parameter.partition('=')[0]} {host}"
        found.append(_part("parameter", name, path, f"{host}{path}?{rest}"))
    return tuple(found[:_MAX_PARTS])


def _part(kind: str, name: str, where: str, rest: str) -> Part:
    return Part(kind, _names(name, where), _hash(rest))


@lru_cache(maxsize=4096)  # shared by the URLs of one shape: a fifth of their memory
def _names(name: str, where: str) -> tuple[str, ...]:
    return name, f"{name} {where}"


def _hash(text: str) -> int:
    """63 bits, so that it fits everywhere."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) >> 1


class Copies:
    """The texts that a crawl has seen, and which parts of URLs led to them again."""

    def __init__(self, strength: float, p_irrelevant: float) -> None:
        """`p_irrelevant`: of a part that is untried; `strength` as for Rates."""
        self.p_irrelevant = p_irrelevant
        self._irrelevant = Rates(strength)
        self._texts: dict[int, None] = {}  # a set that knows its oldest
        # Rest of a URL → the text last seen there; 0: known, not fetched.
        self._shown: dict[int, int] = {}

    def is_copy(self, text: int) -> bool:
        """Has a page with this text been fetched before? It has from now on."""
        known = text in self._texts
        self._texts[text] = None
        return known

    def leads_on(self, page: Sequence[Part], links: Iterable[Sequence[Part]]) -> bool:
        """Do new links of a page lead to new pages? Known to the crawl from now on.

        If the page's own parts change nothing, links that differ from known URLs in
        the same parts lead nowhere new.
        """
        shown = self._shown
        own = {part.names[0] for part in page}
        found = False
        for link in links:
            found = found or not any(
                part.names[0] in own and part.rest in shown for part in link
            )
            for part in link:
                shown.setdefault(part.rest, 0)
        return found

    def add(self, url: str, text: int, *, leads_on: bool) -> None:
        """Count a page: does it show what its siblings do?

        One that leads to new pages does not, whatever it shows: the next page of a
        list has the same frame around other links.
        """
        shown = self._shown
        for part in parts_of(url):
            if before := shown.get(part.rest):
                self._irrelevant.add(part.names, float(before == text and not leads_on))
            shown[part.rest] = text
        parts = split(url)
        shown[_hash(f"{parts.host}{parts.path}?{parts.query}")] = text

    def forget(self, most: int) -> None:
        """Keep so many texts and so many rests of URLs, the newest."""
        self._irrelevant.forget(most)
        for known in (self._texts, self._shown):
            for key in list(islice(known, max(0, len(known) - most))):
                del known[key]

    def expected(self, parts: tuple[Part, ...]) -> tuple[float, str]:
        """P(a URL with these parts is a copy), and the kind of part that makes it."""
        most, kind = 0.0, ""
        for part in parts:
            if self._shown.get(part.rest):
                p = self._irrelevant.rate(part.names, self.p_irrelevant)
                if p > most:
                    most, kind = p, part.kind
        return most, kind

    def state(self) -> dict[str, Mapping[Any, Any]]:
        """What was counted until now, as tables of plain data."""
        return {
            "irrelevant": self._irrelevant.state(),
            "texts": self._texts.copy(),
            "shown": {rest: text for rest, text in self._shown.items() if text},
        }

    def restore(self, state: Mapping[str, Mapping[Any, Any]]) -> None:
        """Take what `state()` gave."""
        self._irrelevant.restore(state["irrelevant"])
        self._texts = dict.fromkeys(map(int, state["texts"]))
        self._shown = {int(rest): int(text) for rest, text in state["shown"].items()}
