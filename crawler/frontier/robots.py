"""What robots.txt says, by RFC 9309: one set of rules per origin.

Fetching is the caller's: the crawl fetches robots.txt like any page, through the site
gate, before the first page of an origin, so that politeness and the WARC know of it.

Protego copies each rule of a group for each user agent of it, which is the square of a
hostile file's size; so the file is cut into groups here, and Protego gets only the
rules that are meant for us.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from protego import Protego

from crawler.urls import MAX_URL_LENGTH, canonicalize

# RFC 9309, section 2.5: a crawler must parse at least the first 500 KiB.
MAX_ROBOTS_BYTES = 512_000
MAX_SITEMAPS = 1000  # that one file may name; 50 of a site are read (SITEMAPS_MAX)
# Three characters for each byte of the longest URL. A longer rule is cut: it forbids
# more then, or allows more of what a file of that kind forbids.
_MAX_LINE = 3 * MAX_URL_LENGTH

_FIELD = re.compile(r"([a-z][a-z -]{0,19}?)(?:\s*+:|\s)(.*)", re.IGNORECASE | re.DOTALL)
_AGENT = frozenset(("user-agent", "useragent", "user agent"))
_SITEMAP = frozenset(("sitemap", "sitemaps", "site-map"))
_SITE_WIDE = _SITEMAP | {"host"}  # of no group


@dataclass(frozen=True, slots=True)
class Group:
    """Rules, and whom they are for."""

    agents: tuple[str, ...]  # lower case; `*` is everybody
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin; without groups, everything is allowed or nothing is."""

    groups: tuple[Group, ...] = ()
    allow_all: bool = True
    sitemaps: tuple[str, ...] = ()
    size: int = 0  # bytes that were read
    _parsers: dict[str, Protego] = field(default_factory=dict, repr=False)

    def allows(self, url: str, user_agent: str) -> bool:
        """May this user agent fetch the URL?"""
        if not self.groups:
            return self.allow_all
        return bool(self._parser(user_agent).can_fetch(url, user_agent))

    def crawl_delay(self, user_agent: str) -> float:
        """Seconds between two requests that the site asks for; 0.0 if it does not."""
        if not self.groups:
            return 0.0
        parser = self._parser(user_agent)
        delay = parser.crawl_delay(user_agent)
        rate = parser.request_rate(user_agent)
        try:
            pause = rate.seconds / rate.requests if rate else 0.0
        except OverflowError:  # an age between two requests
            pause = math.inf
        return max(0.0, float(max(delay or 0.0, pause)))

    def _parser(self, user_agent: str) -> Protego:
        """The rules for a user agent, parsed once."""
        if user_agent not in self._parsers:
            name = _best(user_agent.lower(), self.groups)
            lines = (
                x for group in self.groups if name in group.agents for x in group.lines
            )
            self._parsers[user_agent] = Protego.parse(
                "\n".join(("User-agent: *", *lines))
            )
        return self._parsers[user_agent]


ALLOW_ALL = RobotsRules(allow_all=True)
REFUSE_ALL = RobotsRules(allow_all=False)


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL.

    >>> origin_of("https://example.org:8080/a?b"), origin_of("http://example.org")
    ('https://example.org:8080', 'http://example.org')
    """
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


def rules_of(status: int, body: bytes) -> RobotsRules:
    """The rules that an answer to /robots.txt means.

    RFC 9309, section 2.3.1: 4xx, or a redirect too many, means that there are none; a
    server error means that nobody may come (until it is asked again).
    """
    if 200 <= status < 300:
        text = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").lstrip("\ufeff")
        lines = text.replace("\x00", "").splitlines()
        rules: dict[tuple[str, ...], list[str]] = {}
        for agents, theirs in _groups(lines):
            rules.setdefault(agents, []).extend(theirs)
        return RobotsRules(
            tuple(Group(agents, tuple(theirs)) for agents, theirs in rules.items()),
            sitemaps=tuple(_sitemaps(lines)),
            size=min(len(body), MAX_ROBOTS_BYTES),
        )
    return ALLOW_ALL if 300 <= status < 500 else REFUSE_ALL


def _fields(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """(field, value, the line without its comment) of each line that has a field."""
    for line in lines:
        bare = line[:_MAX_LINE].partition("#")[0].strip()
        if found := _FIELD.fullmatch(bare):
            yield found[1].lower(), found[2].strip(), bare


def _groups(lines: list[str]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    agents: dict[str, None] = {}  # in their order
    rules: list[str] = []
    for name, value, line in _fields(lines):
        if name in _AGENT:
            if rules:
                yield tuple(agents), rules
                agents, rules = {}, []
            # wildcards mean nothing in a name but by itself
            agents[
                value.lower() if value == "*" else value.lower().replace("*", "")
            ] = None
        elif agents and name not in _SITE_WIDE:
            rules.append(line)
    if agents:
        yield tuple(agents), rules


def _sitemaps(lines: list[str]) -> Iterator[str]:
    found = (value for name, value, _ in _fields(lines) if name in _SITEMAP)
    return islice(filter(None, map(canonicalize, found)), MAX_SITEMAPS)


def _best(user_agent: str, groups: tuple[Group, ...]) -> str:
    """The longest name of a group that begins a word of the user agent's; else `*`."""
    names = {name for group in groups for name in group.agents if name in user_agent}
    fitting = [
        n for n in names if n and re.search(rf"(?<![\w-]){re.escape(n)}", user_agent)
    ]
    return max(fitting, key=len, default="*")
